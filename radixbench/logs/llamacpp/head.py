"""What stands before a llama.cpp message: a router's child, an uptime, a level; or a JSON or ``key=value`` line.

Printed forms: plain text (2023, and from 2024-10), an object per line (2024-03), a message with ``key=value``
behind it (2024-06, still in ik_llama), plain text with uptime and level (2026). A router
prefixes the lines of its children with ``[pid]``. The clock is minutes.seconds.ms.us since the start.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from radixbench.logs.timeline import Timeline
from radixbench.logs.wrapper.unwrap import unwrap

_HEAD = re.compile(r"\s*(?:\[(\d{1,10})\] ?)?(?:(\d{1,7}\.\d\d\.\d{3}\.\d{3}) )?(?:[DITWE] )?", re.ASCII)
_SLOT = re.compile(r"(?<![^\s|\]:])slot\s+[\w()~]{1,40}: id\s+-?\d{1,10} \| task -?\d{1,10} \|", re.ASCII)
_MET = re.compile(
    r"(?:\[\d{1,10}\] ?)?(?:\d{1,7}\.\d\d\.\d{3}\.\d{3} )?(?:[DITWE] )?slot\s+[\w()~]{1,40}: id\s+-?\d{1,10} \| task ",
    re.ASCII,
)
_TAGGED = re.compile(r"[A-Z]{4,8}\s+\[\s*[\w~]{1,60}\]\s*([^|]*?)\s*\|(.*)", re.ASCII | re.DOTALL)
_TAG = re.compile(r'(\w{1,60})=("[^"]*"|\S+)', re.ASCII)
_TAG_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d\d)?", re.ASCII)
_FARTHEST = 200


class Line(NamedTuple):
    """A message and what its head says of it; ``fields`` are those of a JSON or ``key=value`` line."""

    message: str
    pid: int | None = None
    uptime: str | None = None
    source: str = ""
    timestamp: str | None = None
    fields: Mapping[str, Any] | None = None

    @property
    def epoch(self) -> int | None:
        """Seconds since 1970, where the line prints them."""
        epoch = None if self.fields is None else self.fields.get("timestamp")
        return epoch if isinstance(epoch, int) and not isinstance(epoch, bool) else None

    @property
    def server(self) -> tuple[str, int | None]:
        """Whose line it is: lines of two servers in one stream don't belong together."""
        return self.source, self.pid


def bare_line(text: str) -> Line:
    """``text`` as llama.cpp prints it, if nothing wraps it."""
    match = _HEAD.match(text)
    assert match is not None  # every part of the pattern is optional
    pid, uptime = match.groups()
    message = text[match.end() :]
    line = Line(message, None if pid is None else int(pid), uptime)
    if message.startswith("{"):
        return _object_line(line)
    tagged = _TAGGED.match(message) if message[:1].isupper() and "[" in message[:9] else None
    if tagged is None:
        return line
    return line._replace(message=tagged[1], fields={name: _tag(raw) for name, raw in _TAG.findall(tagged[2])})


def met_lines(text: str) -> list[str]:
    """The statements of a line in which several met: each begins with its head."""
    starts = [match.start() for match in _MET.finditer(text)][1:]
    return [text[start:end] for start, end in itertools.pairwise((0, *starts, len(text)))]


def wrapped_line(text: str) -> Line | None:
    """The line inside what wraps ``text``; ``None`` if nothing does."""
    inner = unwrap(text)
    line = bare_line(inner.text)
    slot = _SLOT.search(inner.text, 0, _FARTHEST)
    if (
        slot is not None
        and not line.message.startswith("slot")
        and not set(inner.text[: slot.start()]) & set("\"'`")
    ):
        line = line._replace(message=inner.text[slot.start() :])
    elif inner.text == text:
        return None
    return line._replace(source=inner.source, timestamp=inner.timestamp)


def _object_line(line: Line) -> Line:
    try:
        fields = json.loads(line.message)
    except (ValueError, RecursionError):
        return line
    if not isinstance(fields, dict) or not isinstance(fields.get("msg"), str):
        return line
    return line._replace(message=fields["msg"].strip(), fields=fields)


def _tag(raw: str) -> Any:
    if raw in ("true", "false"):
        return raw == "true"
    if _TAG_NUMBER.fullmatch(raw):
        return float(raw) if "." in raw or "e" in raw else int(raw)
    return raw.strip('"')


def moment(timeline: Timeline, line: Line) -> float | None:
    """Where a line stands on the log's axis; a collector's clock runs on where a restarted server's doesn't."""
    if line.timestamp is not None:
        return timeline.at(line.timestamp)
    if line.fields is not None and line.epoch is not None:
        return timeline.at(str(line.epoch))
    if line.uptime is None:
        return None
    return timeline.at(line.uptime, line.source if line.pid is None else f"{line.source} {line.pid}")
