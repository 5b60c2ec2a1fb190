"""The ``name: value`` and ``name=value`` of SGLang's start-up lines and events, with their units.

A number keeps its unit in its key: ``avail mem=7.50 GB`` is ``avail_mem_gb``. A line that lacks what every
version prints is cut, and a value at the cut isn't taken for whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isfinite
from typing import Any, NamedTuple

from radixbench.logs.literals import read_literal

_LONGEST = 4000
_PAIR = re.compile(
    r"(?<![\w#-])#?(?P<name>[A-Za-z_][\w-]{0,80}(?: (?:size|mem|usage|elapsed|memory)\b)?)(?:=|: ?)"
    r"(?P<value>\[[^\[\]]{0,2000}\]|(?!\[)[^\s,]{0,200}[^\s,.])(?: (?P<unit>GB|MB|ms|s)\b)?"
)
_NUMBER = re.compile(r"(-?\d{1,30}(?:\.\d{1,30})?)(GB|MB|ms|s)?", re.ASCII)
_SHORTER = {"time_elapsed_s": "elapsed_s", "swa_size": "swa_tokens", "full_size": "full_tokens"}
_SHORTER |= {"full_layer_tokens": "full_tokens", "swa_layer_tokens": "swa_tokens"}


class Said(NamedTuple):
    """What a message says: the event, its keys of the vocabulary, and everything else."""

    event: str
    values: dict[str, Any]
    extra: dict[str, Any]


def read_pairs(message: str, must: Collection[str] = ()) -> tuple[dict[str, Any], bool]:
    """The pairs, and whether the message is whole: it has all keys of ``must`` and ends after a pair."""
    message = message[:_LONGEST].rstrip(" \t.,;")
    pairs: dict[str, Any] = {}
    end = 0
    last = ""
    for pair in _PAIR.finditer(message):
        last, value = _read(pair)
        pairs[last] = value
        end = pair.end()
    whole = pairs.keys() >= set(must) and not message[end:].strip(" .,;")
    if not whole and end == len(message):
        pairs.pop(last, None)
    return pairs, whole


def finite(value: Any) -> Any:
    """``value`` with ``None`` wherever something is printed that is no number (``nan``, ``inf``)."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return value


def count(value: Any) -> int | None:
    """``value`` if it counts something, ``None`` if something else is printed in its place."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mark(values: dict[str, Any], whole: bool) -> dict[str, Any]:
    """``values``, marked if the line is cut."""
    return values if whole else {**values, "truncated": True}


def _read(pair: re.Match[str]) -> tuple[str, Any]:
    name, raw, unit = pair.groups()
    key = re.sub(r"[ -]", "_", name).lower()
    number = _NUMBER.fullmatch(raw)
    if number is not None:
        unit = unit or number[2]
        raw = number[1]
    if unit is not None:
        key = f"{key}_{unit.lower()}"
    return _SHORTER.get(key, key), finite(read_literal(raw))
