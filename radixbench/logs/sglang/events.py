"""Everything that matters in an SGLang or radixbench log beside the batch lines (0.1.26 to 0.5.23).

A line is an event only if the server itself says it: its words stand first after a prefix (``logs.speaker``).
What a request line quotes is never looked at: the whole of it is read as what it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from radixbench.logs.literals import Fields
from radixbench.logs.sglang import incidents, startup
from radixbench.logs.sglang.incidents import find_unknown_batch, read_unknown_batch
from radixbench.logs.sglang.requests import read_request, read_stats
from radixbench.logs.sglang.speaker import speaks
from radixbench.logs.sglang.words import Said

EVENT_MARKERS: tuple[str, ...] = (
    "etract",
    "flush",
    "Finish: obj=",
    "Receive",
    ", out={",
    '"request.',
    "Stats(rid=",
    "KV Cache",
    "KV sizing: ",
    "SWAKVPool",
    "liding window mem",
    "Mamba Cache is",
    "Memory pool end",
    "max_total_num_tokens=",
    "Capture ",
    "Load weight",
    "fired up",
    "Tree",
    "server_args=",
    "[canary]",
    " batch, #",
)
"""A line that holds none of these has no event."""

_WITHIN = 20_000
_MOST_TRIES = 5
_REQUEST_OBJECTS = ('{"timestamp": "', '{"event": "', '{"timestamp":"', '{"event":"')
_READERS: dict[str, Callable[[str], Said | None]] = {
    **dict.fromkeys(("Finish: obj=", "Receive: obj=", "Receive OpenAI: obj=", "in="), read_request),
    **dict.fromkeys(_REQUEST_OBJECTS, read_request),
    **dict.fromkeys(("ReqTimeStats(rid=", "Req Time Stats(rid="), read_stats),
    **incidents.READERS,
    **startup.READERS,
}
_UNENDING = frozenset(words for words, reader in _READERS.items() if reader is read_request) | {
    "server_args="
}
_BEGINNING = re.compile("|".join(map(re.escape, _READERS)))
_POOL_NAME = re.compile(
    r"(?<=\] )(?!DEBUG|INFO|WARN|ERROR|CRITICAL)[A-Z][\w.-]{0,40}(?: [\w.-]{1,40}){0,8} (?=KV Cache)"
)
_NEXT_SPEAKER = re.compile(r"\r|\[\d{4}-\d\d-\d\d[ |]\d\d:\d\d:\d\d|\[\d\d:\d\d:\d\d (?:DP|TP)")
_WRAPPED = frozenset({"log", "MESSAGE", "message", "msg"})
_CUT_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$")
_JSON_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)


class EventFacts(NamedTuple):
    """An event. ``start`` is where in the line the server's words begin; what stands before is its prefix.

    ``values`` holds the keys of the records' vocabulary, ``extra`` everything else that is printed.
    """

    start: int
    values: dict[str, Any]
    extra: dict[str, Any]


def parse_event(text: str) -> EventFacts | None:
    """The event a line states; ``None`` if it states none."""
    for marker in EVENT_MARKERS:
        if marker in text:
            return _recognise(text) or _in_json(text)
    return None


def _recognise(text: str) -> EventFacts | None:
    tries = islice(_BEGINNING.finditer(text, 0, _WITHIN), _MOST_TRIES)
    for found in tries:
        start = _start(text, found)
        if speaks(text[:start]):
            said = _READERS[found[0]](_message(text, start, unending=found[0] in _UNENDING))
            if said is not None:
                return _facts(text, start, said)
    unknown = find_unknown_batch(text, _WITHIN) if " batch, #" in text else None
    if unknown is None or not speaks(text[:unknown]):
        return None
    said = read_unknown_batch(_message(text, unknown, unending=False))
    return None if said is None else _facts(text, unknown, said)


def _facts(text: str, start: int, said: Said) -> EventFacts:
    if text[start] == "{" and not text[:start].strip():
        start = text.index('"event"', start)  # its time stands inside, before this
    return EventFacts(start, {"event": said.event, **said.values}, said.extra)


def _start(text: str, found: re.Match[str]) -> int:
    """A pool other than the main one has its name before the words that all have."""
    start = found.start()
    if found[0].startswith("KV Cache"):
        for name in _POOL_NAME.finditer(text, 0, found.end()):
            if name.end() == start:
                return name.start()
    return start


def _message(text: str, start: int, *, unending: bool) -> str:
    """From the first word to the end, or to where somebody else begins to speak."""
    other = None if unending else _NEXT_SPEAKER.search(text, start + 1)
    return (text[start:] if other is None else text[start : other.start()]).rstrip()


def _in_json(text: str) -> EventFacts | None:
    """The event inside a line that a container runtime, the journal or a JSON logger wrote as an object."""
    if not text.startswith("{"):
        return None
    for name, start, end, _ in Fields(text.rstrip(), 1):
        if name in _WRAPPED and text[start : start + 1] == '"':
            inner = _decoded(_CUT_ESCAPE.sub(r"\1", text[start:]) + '"' if end is None else text[start:end])
            facts = None if inner is None else _recognise(inner.rstrip("\n"))
            return None if facts is None else facts._replace(start=_outer(text, start + 1, facts.start))
    return None


def _decoded(token: str) -> str | None:
    try:
        inner = json.loads(token, strict=False)
    except ValueError:
        return None
    return inner if isinstance(inner, str) else None


def _outer(text: str, position: int, characters: int) -> int:
    """Where in a JSON string that begins at ``position`` so many of its characters are over."""
    for _ in range(characters):
        unit = _JSON_UNIT.match(text, position)
        position = position if unit is None else unit.end()
    return position
