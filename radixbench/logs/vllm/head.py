"""What stands before a vLLM message: process, level, time, file, engine; and whatever wrapped the line.

vLLM 0.2 to 0.7 prints ``INFO 07-10 08:20:51 metrics.py:334] ``, later versions ``[loggers.py:127] ``, with
``(APIServer_DP1 pid=12) `` in front since 0.10. Its own time is what counts: a collector in front may
live in another time zone. Without one, the time of the wrapper is taken.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from radixbench.logs.record import Rank
from radixbench.logs.timeline import Timeline
from radixbench.logs.wrapper.unwrap import Unwrapped, unwrap

_PROCESS = r"\(((?:A[Pp][Ii]Server|EngineCore|Worker|VllmWorker|DPCoordinator)[^()\s]{0,80})(?: [^()]{1,80})? pid=(\d{1,12})\) "
_ENGINE = r"(?:Engine (\d{1,6}): |(\d{1,6}) Engines Aggregated: )?"
_LEVEL = r"(?:INFO|DEBUG|WARNING|ERROR|CRITICAL)"
_OWN = rf"{_LEVEL} (\d\d-\d\d \d\d:\d\d:\d\d) \[?[^\s\]]{{1,200}}:\d{{1,6}}\]? "
_BARE = re.compile(rf"\s*(?:{_PROCESS})?(?:{_OWN})?{_ENGINE}", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PROCESS})?{_OWN}{_ENGINE}", re.ASCII)
_ANY_PROCESS = re.compile(
    r"\(([^()\s]{1,80})(?: [^()]{1,80})? pid=(\d{1,12})(?:, ip=[^()]{1,80})?\) ", re.ASCII
)
_ENGINE_TEXT = re.compile(rf"{_ENGINE}$", re.ASCII)
_DP = re.compile(r"_DP(\d{1,6})(?=_|$)", re.ASCII)
_STAMP = re.compile(
    r"(?<![\d.-])(?:(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?|(\d\d-\d\d \d\d:\d\d:\d\d))(?!\d)",
    re.ASCII,
)
_MET = re.compile(
    rf"(?:{_PROCESS})?{_OWN}{_ENGINE}(?:Avg prompt throughput)?|{_ENGINE}Avg prompt throughput", re.ASCII
)
_QUOTING = ("Received request", "prompt:")


class Line(NamedTuple):
    """A message and what its head says of it. ``own``: the head is vLLM's, so the message is too."""

    message: str
    own: bool
    head: dict[str, Any]
    engine: int | None
    aggregated: int | None
    source: str
    timestamp: str | None

    @property
    def rank(self) -> Rank:
        """The engine whose cache the line speaks of: the printed one, else the process's."""
        if self.engine is not None or self.aggregated is not None:
            return Rank(self.source, self.engine)
        return Rank(self.source, self.head.get("process_dp_rank"))


def met_lines(text: str) -> Iterator[str]:
    """The statements of a line in which several met: where a writer was cut off by another, each begins with its head."""
    starts = [match.start() for match in _MET.finditer(text)][1:]
    if any(word in text for word in _QUOTING):
        starts = []
    for start, end in itertools.pairwise((0, *starts, len(text))):
        yield text[start:end]


def bare_line(text: str) -> Line:
    """``text`` as vLLM prints it, if nothing wraps it."""
    match = _BARE.match(text)
    assert match is not None  # every part of the pattern is optional
    process, pid, stamp, engine, engines = match.groups()
    head: dict[str, Any] = {}
    if stamp is not None:
        head["timestamp"] = stamp
    if process is not None:
        _add_process(head, process, pid)
    return Line(
        text[match.end() :],
        stamp is not None or engine is not None or engines is not None,
        head,
        None if engine is None else int(engine),
        None if engines is None else int(engines),
        "",
        stamp,
    )


def wrapped_line(text: str, starts: tuple[str, ...]) -> Line | None:
    """The line inside what wraps ``text``; ``starts`` are the words a message may start with."""
    inner = unwrap(text)
    heads = list(_WHOLE.finditer(inner.text))
    if heads:
        at = heads[-1].start()  # the message's own: an interleaved line may have left its head before
        before, line = inner.text[:at], bare_line(inner.text[at:])
    else:
        found = _unled_message(inner.text, starts)
        if found is None:
            return None
        before, line = found
    if any(word in before for word in _QUOTING):
        return None
    return _with_wrapper(line, text, inner)


def _unled_message(text: str, starts: tuple[str, ...]) -> tuple[str, Line] | None:
    """A message whose head is another logger's: it follows a bracket or a colon."""
    at = min((place for place in map(text.find, starts) if place >= 0), default=-1)
    if at < 0:
        return None
    before = text[:at]
    engine = _ENGINE_TEXT.search(before)
    assert engine is not None  # the pattern is optional
    led = before[: engine.start()].rstrip()
    if led and led[-1] not in "]:)|}":
        return None
    return led, bare_line(text[engine.start() :])


def _with_wrapper(line: Line, text: str, inner: Unwrapped) -> Line:
    head = line.head
    if "pid" not in head:
        process = _ANY_PROCESS.search(text)
        if process is not None:
            _add_process(head, process[1], process[2])
    stamp = line.timestamp
    if stamp is None:
        printed = list(_STAMP.finditer(inner.text, 0, len(inner.text) - len(line.message)))
        stamp = _joined(printed[-1]) if printed else inner.timestamp
        if stamp is not None:
            head["timestamp"] = stamp
    return line._replace(source=inner.source, timestamp=stamp)


def _add_process(head: dict[str, Any], name: str, pid: str) -> None:
    dp = _DP.search(name)
    if dp is not None:
        head["process_dp_rank"] = int(dp[1])
        name = name[: dp.start()] + name[dp.end() :]
    head["process"] = name
    head["pid"] = int(pid)


def _joined(stamp: re.Match[str]) -> str:
    date, clock, fraction, short = stamp.groups()
    if date is None:
        return str(short)
    return f"{date} {clock}" + (f".{fraction}" if fraction else "")


class Moments:
    """Printed times to the log's axis; several lines share one."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._last: tuple[str, str] | None = None
        self._at: float | None = None

    def at(self, line: Line) -> float | None:
        """The moment of a line, in the order of the log."""
        if line.timestamp is None:
            return None
        key = (line.timestamp, line.source)
        if key != self._last:
            self._last = key
            self._at = self._timeline.at(*key)
        return self._at
