"""What other programs put around a line of a server's log, taken off again: the server's words come out exact.

Runtimes, collectors and launchers wrap lines, and in each other (a ray actor in a container on Kubernetes), so
layers are taken off until none is left. A wrapper's time is kept beside the text, for lines that have none
of their own; most lines have no wrapper, and the first characters tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from radixbench.logs.wrapper.envelope import open_envelope
from radixbench.logs.wrapper.layer import Layer, dated

_MOST_LAYERS = 6

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])")
_SYSLOG_ANSI = re.compile(r"#033\[[0-?]*[ -/]*[@-~]")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?:Z|[+-]\d\d:?\d\d) ", re.ASCII)
_CRI = re.compile(r"std(?:out|err) ([FP])(?::\S{1,50})? ")
_LOGGED_BY = re.compile(r"(\S{1,255}) ([^\s\[\]:]{1,100})\[\d{1,10}\]: ", re.ASCII)
_JOURNAL = re.compile(
    r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) (\S{1,255}) ([^\s\[\]:]{1,100})(?:\[\d{1,10}\])?: ",
    re.ASCII,
)
_SYSLOG = re.compile(
    r"<\d{1,3}>1 (\S{1,40}) (\S{1,255}) (\S{1,48}) \S{1,128} \S{1,32} "
    r'(?:-|(?:\[(?:[^"\]\\]|\\.|"(?:[^"\\]|\\.)*+")*+\])++)(?: \ufeff?|$)'
)
_PRIORITY = re.compile(r"<\d{1,3}>(?=[A-Z])", re.ASCII)
_TASK = re.compile(r" {0,4}(\d{1,5}): ", re.ASCII)
_COMPOSE = re.compile(r"([\w.@/-]{1,100}) {1,60}\|(?: |$)", re.ASCII)
_STERN = re.compile(
    r"([a-z0-9][a-z0-9.-]{0,200}-[a-z0-9]{0,30}\d[a-z0-9]{0,30}) ([a-z0-9][a-z0-9-]{0,62}) (?=[\[({]|[A-Z]+ \d\d-\d\d |\d{4}-\d\d-\d\d)"
)
_POD = re.compile(r"\[pod/([\w.-]{1,253}/[\w.-]{1,253})\] ", re.ASCII)
_RAY = re.compile(r"\(([^()=]{1,200}(?:\([^()]{0,200}\))?) (pid=\d{1,10})(, ip=[^()\s]{1,80})?\) ", re.ASCII)
_RAY_REPEATED = re.compile(
    r" \[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs by default\.[^\n]*)?$"
)

_VLLM_PROCESSES = frozenset(("APIServer", "ApiServer", "EngineCore", "Worker", "DPCoordinator"))
_NO_SERVICES = frozenset(("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL"))


class Unwrapped(NamedTuple):
    """A line without its wrappers.

    ``source`` names the server in a merged stream as the wrappers do: a compose service, ``pod/container``, ``host unit``,
    ``task 0`` of a launcher, a ray actor ``SGLangEngine pid=36871``; empty where nothing does. ``timestamp`` is
    a wrapper's time, ``YYYY-MM-DD HH:MM:SS[.ffffff]``, or without the year where it prints none. ``partial``: the runtime
    cut a long line here, the same source's next line goes on with it.
    """

    text: str
    source: str = ""
    timestamp: str | None = None
    partial: bool = False


def strip_ansi(text: str) -> str:
    """The text without colours and other orders to a terminal."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def unwrap(text: str) -> Unwrapped:
    """The server's own line inside ``text``; one that nothing wraps comes back as it is, but for its colours."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if text[:1] == "[" and not text.startswith("[pod/"):
        return Unwrapped(text)
    layer = _outer(text)
    if layer is None:
        return Unwrapped(text)
    sources: list[str] = []
    stamps: list[str] = []
    partial = False
    for _ in range(_MOST_LAYERS):
        text = strip_ansi(layer.text)
        sources += [layer.source] if layer.source else []
        stamps += [layer.timestamp] if layer.timestamp else []
        partial = partial or layer.partial
        layer = _outer(text)
        if layer is None:
            break
    return Unwrapped(text, " ".join(sources), max(stamps, key=len, default=None), partial)


def _outer(text: str) -> Layer | None:
    """The outermost wrapper, told by the first character."""
    opener = _OPENERS.get(text[:1])
    if opener is not None:
        return opener(text)
    return _named(text) if text[:1].isalpha() else None


def _pod(text: str) -> Layer | None:
    """``kubectl logs --prefix``, ``stern`` with a template like it."""
    match = _POD.match(text)
    return None if match is None else Layer(text[match.end() :], match[1])


def _ray(text: str) -> Layer | None:
    """A ray actor's line. vLLM marks its own processes in the same way; that is part of its line."""
    match = _RAY.match(text)
    if match is None:
        return None
    name, pid, ip = match.groups(default="")
    if not ip and name.partition("_")[0] in _VLLM_PROCESSES:
        return None
    line = text[match.end() :]
    if "across cluster]" in line:
        line = _RAY_REPEATED.sub("", line)
    return Layer(line, f"{name} {pid}{ip}")


def _numbered(text: str) -> Layer | None:
    """A time in front (docker, Kubernetes, CRI, rsyslog), or the task's number (``srun --label``)."""
    match = _ISO.match(text)
    if match is None:
        task = _TASK.match(text)
        return None if task is None else Layer(text[task.end() :], f"task {task[1]}")
    stamp, end = dated(match[1]), match.end()
    cri = _CRI.match(text, end)
    if cri is not None:
        return Layer(text[cri.end() :], "", stamp, cri[1] == "P")
    logged = _LOGGED_BY.match(text, end)
    if logged is not None:
        return Layer(_unescaped(text[logged.end() :]), f"{logged[1]} {logged[2]}", stamp)
    return Layer(text[end:], "", stamp)


def _syslog(text: str) -> Layer | None:
    """RFC 5424, and the older form, which is a journal's behind a number."""
    match = _SYSLOG.match(text)
    if match is None:
        old = _PRIORITY.match(text)
        return None if old is None else _journal(text[old.end() :])
    source = " ".join(word for word in (match[2], match[3]) if word != "-")
    return Layer(_unescaped(text[match.end() :]), source, dated(match[1]))


def _named(text: str) -> Layer | None:
    """A journal's line, or a name in front: a compose service, a pod with its container."""
    if text[:3] in _MONTHS:
        return _journal(text)
    if " |" in text[:170]:
        service = _COMPOSE.match(text)
        if service is not None and service[1] not in _NO_SERVICES:
            return Layer(text[service.end() :], service[1])
    pod = _STERN.match(text)
    return None if pod is None else Layer(text[pod.end() :], f"{pod[1]}/{pod[2]}")


def _journal(text: str) -> Layer | None:
    """``journalctl`` and syslog files: no year, and no process number, for ranks of one server differ in it."""
    match = _JOURNAL.match(text)
    if match is None or match[1] not in _MONTHS:
        return None
    month, day, clock, host, unit = match.groups()
    stamp = f"{_MONTHS.index(month) + 1:02}-{day.replace(' ', '0')} {clock}"
    return Layer(_unescaped(text[match.end() :]), f"{host} {unit}", stamp)


def _unescaped(text: str) -> str:
    """Without colours whose escape character a syslog daemon wrote out."""
    return _SYSLOG_ANSI.sub("", text) if "#033[" in text else text


_OPENERS: dict[str, Callable[[str], Layer | None]] = {
    "{": open_envelope,
    "[": _pod,
    "(": _ray,
    "<": _syslog,
    **dict.fromkeys(" 0123456789", _numbered),
}
