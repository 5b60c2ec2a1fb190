"""Python literals as logs print them: found at their own nesting level, read leniently, in linear time.

A printed request may be a hundred thousand characters of prompt, quotes and brackets included, and a line may
break off anywhere. So values are first delimited (strings and brackets skipped whole, nothing decoded) and only
those wanted are read. What breaks off has no end; what is no literal (``<object at 0x…>``,
``torch.bfloat16``) stays the text it is. JSON is read by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

_STRING = r"(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\")"
_SIMPLE = rf"(?:[^'\"()\[\]{{}}]++|{_STRING})*+"
_NESTED = rf"\({_SIMPLE}\)|\[{_SIMPLE}\]|\{{{_SIMPLE}\}}"
_INSIDE = re.compile(rf"(?:[^'\"()\[\]{{}}]++|{_STRING}|{_NESTED})*+", re.DOTALL)
_OUTSIDE = re.compile(rf"(?:[^'\"()\[\]{{}},]++|{_STRING}|{_NESTED})*+", re.DOTALL)

_NAME = re.compile(
    rf"\s*+(?:(?P<quoted>{_STRING})|(?P<bare>[^\s'\"()\[\]{{}},:=<>]++))\s*+[:=]\s*+", re.DOTALL
)
_WHOLE_STRING = re.compile(_STRING, re.DOTALL)
_SHORTENED = re.compile(rf"{_STRING}(?: \.\.\. {_STRING})++", re.DOTALL)
_CALL = re.compile(r"[A-Za-z_][\w.]*+\(")
_ENUM = re.compile(r"<[A-Za-z_][\w.]*+: (.*)>", re.DOTALL)
_INT = re.compile(r"[-+]?\d{1,300}", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?=\d*[.eE])(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:[eE][-+]?\d{1,9})?", re.ASCII)
_PAIRED = r"u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
_ESCAPE = re.compile(
    rf"\\(?:{_PAIRED}|x(?P<x>[0-9a-fA-F]{{2}})|u(?P<u>[0-9a-fA-F]{{4}})"
    r"|U(?P<U>(?:000[0-9a-fA-F]|0010)[0-9a-fA-F]{4})|(?P<c>.))",
    re.DOTALL,
)
_CHARACTERS = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "/": "/",
}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("None", "null", "nan", "NaN", "-nan")),
    **dict.fromkeys(("True", "true"), True),
    **dict.fromkeys(("False", "false"), False),
    **dict.fromkeys(("inf", "Infinity"), inf),
    **dict.fromkeys(("-inf", "-Infinity"), -inf),
}
_DEEPEST = 20


class Field(NamedTuple):
    """One ``name=value`` or ``'name': value``; the value is ``text[start:end]``, ``end`` is ``None`` where it breaks off."""

    name: str
    start: int
    end: int | None
    quoted: bool


class Fields:
    """The named values from ``position``, just inside a bracket or at a statement's first name, at this level only.

    Once iterated, ``closed`` tells whether a bracket ended them, at ``end``, and ``whole`` whether
    no value broke off. Values without a name are passed over.
    """

    __slots__ = ("_position", "_text", "closed", "end", "whole")

    def __init__(self, text: str, position: int = 0) -> None:
        self._text = text
        self._position = position
        self.closed = self.whole = False
        self.end = position

    def __iter__(self) -> Iterator[Field]:
        text, position = self._text, self._position
        while True:
            name = _NAME.match(text, position)
            start = position if name is None else name.end()
            end = end_of_value(text, start)
            if name is not None:
                quoted = name["quoted"]
                label = name["bare"] if quoted is None else _unescaped(quoted[1:-1])
                yield Field(label, start, end, quoted is not None)
            if end is None:
                return
            if end == len(text) or text[end] != ",":
                self.whole = True
                self.closed = end < len(text)
                self.end = end + self.closed
                return
            position = end + 1


def end_of_value(text: str, start: int) -> int | None:
    """Where the value from ``start`` ends: at a comma or a bracket that isn't its own, or with the text.

    ``None`` if it breaks off: in a string, before a bracket closes, or in a bare word at the end of the text, which
    may have had more letters.
    """
    depth = 0
    position = start
    size = len(text)
    while True:
        run = (_INSIDE if depth else _OUTSIDE).match(text, position)
        assert run is not None  # it matches nothing at all, too
        position = run.end()
        if position == size:
            return size if not depth and start < size and text[-1] in ")]}'\"" else None
        char = text[position]
        if char in "'\"":
            return None
        if char in "([{":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return position
        position += 1


def read_literal(raw: str) -> Any:
    """The value a literal stands for.

    Sets read as lists, enum members as their value, calls with names as dictionaries and calls of one value as that
    value; ``nan`` and ``null`` as ``None``; anything else as the text it is.
    """
    return _read(raw.strip(), _DEEPEST)


def _read(raw: str, room: int) -> Any:
    if not raw:
        return raw
    first = raw[0]
    if first in "'\"":
        return _string(raw)
    if room and raw[-1] in ")]}":
        return _bracketed(raw, room - 1)
    if room and first == "<":
        member = _ENUM.fullmatch(raw)
        return raw if member is None else _read(member[1], room - 1)
    return _word(raw)


def _bracketed(raw: str, room: int) -> Any:
    if raw[0] in "([":
        return _sequence(raw, room)
    if raw[0] == "{":
        return _mapping(raw, room)
    call = _CALL.match(raw)
    return raw if call is None else _call(raw, call.end(), room)


def _sequence(raw: str, room: int) -> Any:
    items = _items(raw, 1)
    if items is None:
        return raw
    values = [_read(item, room) for item in items]
    if raw[0] == "[":
        return values
    in_brackets_only = len(values) == 1 and not raw[1:-1].rstrip().endswith(",")
    return values[0] if in_brackets_only else tuple(values)


def _mapping(raw: str, room: int) -> Any:
    pairs: dict[Any, Any] = {}
    fields = Fields(raw, 1)
    for name, start, end, quoted in fields:
        pairs[name if quoted else _word(name)] = _read(raw[start:end].strip(), room)
    if not fields.closed or fields.end != len(raw):
        return raw
    if pairs or not raw[1:-1].strip():
        return pairs
    items = _items(raw, 1)
    return raw if items is None else [_read(item, room) for item in items]


def _call(raw: str, inside: int, room: int) -> Any:
    items = _items(raw, inside)
    if not items:
        return raw
    fields = list(Fields(raw, inside))
    if len(fields) == len(items):
        return {name: _read(raw[start:end].strip(), room) for name, start, end, _ in fields}
    return _read(items[0], room) if len(items) == 1 else raw


def _items(raw: str, position: int) -> list[str] | None:
    """What stands between commas up to the bracket that ends ``raw``; ``None`` if another one ends it."""
    items: list[str] = []
    while True:
        end = end_of_value(raw, position)
        if end is None or end == len(raw):
            return None
        item = raw[position:end].strip()
        if item:
            items.append(item)
        if raw[end] != ",":
            return items if end == len(raw) - 1 else None
        position = end + 1


def _string(raw: str) -> str:
    """A string; two with dots between are one whose middle wasn't printed."""
    if _WHOLE_STRING.fullmatch(raw):
        return _unescaped(raw[1:-1])
    if _SHORTENED.fullmatch(raw):
        return " ... ".join(_unescaped(piece[1:-1]) for piece in _WHOLE_STRING.findall(raw))
    return raw


def _unescaped(inner: str) -> str:
    return _ESCAPE.sub(_character, inner) if "\\" in inner else inner


def _character(escape: re.Match[str]) -> str:
    kind = escape.lastgroup
    if kind == "c":
        return _CHARACTERS.get(escape["c"], escape[0])
    if kind == "low":
        return chr(0x10000 + (int(escape["high"], 16) - 0xD800) * 0x400 + int(escape["low"], 16) - 0xDC00)
    assert kind is not None  # every branch of the pattern has a name
    code = int(escape[kind], 16)
    return escape[0] if 0xD800 <= code < 0xE000 else chr(code)  # half a pair is no text


def _word(raw: str) -> Any:
    if raw in _WORDS:
        return _WORDS[raw]
    if _INT.fullmatch(raw):
        return int(raw)
    return float(raw) if _FLOAT.fullmatch(raw) else raw
