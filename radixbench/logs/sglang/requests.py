"""What SGLang says about one request: received, finished, and how its time went (0.1.26 to 0.5.23), and our server.

``Finish:`` lines hold the whole request, up to a hundred thousand characters that a user chose. Its figures
are those of ``meta_info`` inside ``out``, found by nesting level from the front, so that a prompt which
looks like a log changes nothing. Texts and token lists are never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from radixbench.logs.literals import Field, Fields, read_literal
from radixbench.logs.sglang.words import Said, count, finite, mark

_LONGEST = 300
_LONGEST_REASON = _LONGEST_BODY = 4000
_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")
_OF_REQUEST = ("rid", "stream", "model")

_TEXT = re.compile(r"(?P<kind>Receive OpenAI|Receive|Finish): (?=obj=)|(?=in=[A-Z]\w{0,60}ReqInput\()")
_JSON = re.compile(r"\{.{0,80}?\"event\": ?\"request\.(?P<kind>finished|received\.openai|received)\"")
_OPENING = re.compile(r"[\w.]{0,100}[({]")

_LENGTHS = {
    "input len": "input_len",
    "input_len": "input_len",
    "cached_input_len": "cached_input_len",
    "output len": "output_len",
    "output_len": "output_len",
}
_ARGUMENT = re.compile(r", ([a-z_]{1,40}(?: len)?)=([^,)]{1,80})(?=[,)])")
_BOOTSTRAP_ROOM = ", bootstrap_room="
_BODY = re.compile(
    r"(?P<name>[A-Za-z_][\w-]{0,60})(?:=|: |\()"
    r"(?:(?P<number>-?\d{1,30}(?:\.\d{1,30})?) ?(?P<unit>ms|GB/s|MB)?(?![\w.])|(?P<word>[^\s,;()=]{1,200}))"
)
_UNITS = {"ms": "_ms", "GB/s": "_gb_s", "MB": "_mb"}
_HAS_UNIT = re.compile(r".*_duration|transfer_(?:speed|total)|alloc_wait|bootstrap|other")
_COMPLETE = re.compile(r"\b(?:entry_time|start_time|start)=(?:-?\d{1,30}\.\d{3}|0\.0\b)|Time Stats$")


def read_request(message: str) -> Said | None:
    """A line of ``--log-requests``, as text or JSON."""
    head = _JSON.match(message) if message[0] == "{" else _TEXT.match(message)
    if head is None:
        return None
    fields = Fields(message, 1 if message[0] == "{" else head.end())
    parts = {field.name: field for field in fields}
    whole = fields.closed if message[0] == "{" else fields.whole
    if (head["kind"] or "Finish").lower().startswith("finish"):
        return _finish(message, parts, whole)
    extra = _of_object(message, parts, _OF_REQUEST) | _values(message, parts.values(), ("rid", "headers"))
    if head["kind"].lower().endswith("openai"):
        extra["form"] = "openai"
    return Said("request_received", mark({}, whole), extra)


def _finish(message: str, parts: dict[str, Field], whole: bool) -> Said:
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    meta = _named(message, parts.get("out"), "meta_info")
    if meta is not None:
        inside = Fields(message, meta.start + 1)
        for field in inside:
            longest = _LONGEST_REASON if field.name == "finish_reason" else _LONGEST
            if field.end is not None and field.end - field.start <= longest:
                _take(field.name, finite(read_literal(message[field.start : field.end])), values, extra)
        whole = whole and inside.closed
    rid = extra.pop("id", None)
    given = _values(message, parts.values(), ("rid", "headers"))
    given |= _of_object(message, parts, ("rid",)) if rid is None else {"rid": rid}
    return Said("request_finish", mark(values, whole and meta is not None), {**given, **extra})


def _take(name: str, value: Any, values: dict[str, Any], extra: dict[str, Any]) -> None:
    if name in _TOKENS:
        values[name] = count(value)
    elif name == "finish_reason" and isinstance(value, dict):
        extra["finish_reason"] = value.pop("type", None)
        extra.update(
            {f"finish_{key}": detail for key, detail in value.items() if len(str(detail)) <= _LONGEST}
        )
    else:
        extra[name] = value


def _named(message: str, inside: Field | None, name: str) -> Field | None:
    """The dictionary of this name, one level within ``inside``."""
    if inside is None or message[inside.start : inside.start + 1] != "{":
        return None
    for field in Fields(message, inside.start + 1):
        if field.name == name and message[field.start : field.start + 1] == "{":
            return field
    return None


def _of_object(message: str, parts: dict[str, Field], names: tuple[str, ...]) -> dict[str, Any]:
    opening = _OPENING.match(message, parts["obj"].start) if "obj" in parts else None
    return {} if opening is None else _values(message, Fields(message, opening.end()), names)


def _values(message: str, fields: Iterable[Field], names: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, start, end, _ in fields:
        if name in names and end is not None and end - start <= _LONGEST:
            value = read_literal(message[start:end])
            if value is not None:
                found[name] = finite(value)
    return found


def read_stats(message: str) -> Said:
    """A line of ``--enable-request-time-stats-logging``, old form or new, or our own.

    The request's id is printed bare and may hold anything, so everything else is read after the last length.
    """
    lengths_at = max(message.rfind(", input_len="), message.rfind(", input len="))
    if lengths_at < 0:
        return Said("request_stats", {"truncated": True}, {})
    extra = _identity(message[message.index("rid=") + 4 : lengths_at], ours=" e2e-ns: " in message)
    head, ended, body = message[lengths_at:].partition("): ")
    values: dict[str, Any] = {}
    for name, raw in _ARGUMENT.findall(head + ended[:1]):
        if name in _LENGTHS:
            values[_LENGTHS[name]] = count(read_literal(raw))
        else:
            extra[name] = read_literal(raw)
    durations, whole = _durations(body[:_LONGEST_BODY])
    return Said("request_stats", mark(values, whole and bool(ended)), {**extra, **durations})


def _identity(text: str, *, ours: bool) -> dict[str, Any]:
    rid, room_given, room = text.rpartition(_BOOTSTRAP_ROOM)
    if not room_given or not room.isdecimal():
        return {"rid": unquote(text) if ours else text}
    return {"rid": rid, "bootstrap_room": read_literal(room)}


def _durations(body: str) -> tuple[dict[str, Any], bool]:
    found: dict[str, Any] = {}
    whole = "finish-reason: " in body if "-ns: " in body else _COMPLETE.search(body) is not None
    for pair in _BODY.finditer(body):
        name, number, unit, word = pair.groups()
        if number is None:
            found[name] = read_literal(word)
        elif unit is None and (_HAS_UNIT.fullmatch(name) or (not whole and pair.end() == len(body))):
            whole = False  # the line breaks off in this number
        else:
            found[name + _UNITS.get(unit or "", "")] = read_literal(number)
    return found, whole
