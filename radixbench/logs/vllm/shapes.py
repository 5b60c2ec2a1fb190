"""A server's periodic lines have one shape: read the first tolerantly, the rest by heart.

A shape is learned from a line without a flaw: labels and units become literal text, values groups of the type
seen. A line that deviates by one character doesn't match and is read pair by pair again,
so that speed never decides what a line says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from radixbench.logs.vllm.pairs import LIST_KEY, LIST_LABEL, Field, Fields, Pairs, as_percent, read_pairs

_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_POINTED = re.compile(r"-?\d{1,18}\.\d{1,18}", re.ASCII)
_ITEMS = r"((?:\d\.\d{3}, )*\d\.\d{3})"
_MOST_SHAPES = 16


class _Shape(NamedTuple):
    pattern: re.Pattern[str]
    keys: tuple[str, ...]
    extra_keys: frozenset[str]
    conversions: tuple[Callable[[str], Any], ...]


class PairReader:
    """Reads the messages of one kind: ``read(text)`` gives what ``read_pairs(text, fields)`` gives."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._shapes: list[_Shape] = []

    def read(self, text: str) -> Pairs:
        """Every pair of a message without its head."""
        for place, shape in enumerate(self._shapes):
            match = shape.pattern.fullmatch(text)
            if match is not None:
                if place:
                    self._shapes.insert(0, self._shapes.pop(place))
                return _by_heart(shape, match.groups())
        pairs = read_pairs(text, self._fields)
        learned = None if pairs.flawed else _learn(text, self._fields)
        if learned is not None:
            self._shapes.insert(0, learned)
            del self._shapes[_MOST_SHAPES:]
        return pairs


def _by_heart(shape: _Shape, groups: tuple[str, ...]) -> Pairs:
    values: dict[str, Any] = {}
    for key, conversion, group in zip(shape.keys, shape.conversions, groups, strict=True):
        values[key] = conversion(group)
    extra = {key: values.pop(key) for key in shape.extra_keys}
    return Pairs(values, extra)


def _learn(text: str, fields: Fields) -> _Shape | None:
    """The shape of a sound message; nothing if it holds anything but known labels with plain numbers."""
    body = text.rstrip()
    end = body[-1:] if body.endswith((".", ",")) else ""
    pieces: list[str] = []
    keys: list[str] = []
    conversions: list[Callable[[str], Any]] = []
    parts = body.rstrip(".,").split(", ")
    for part in parts:
        label, _, raw = part.partition(": ")
        known = fields.get(label)
        if label == LIST_LABEL and known is not None:
            pieces.append(f"{re.escape(label)}: {_ITEMS}")
            keys.append(LIST_KEY)
            conversions.append(_items)
        elif known is not None:
            group = _group(raw, known)
            if group is None or known.key in keys:
                return None
            pieces.append(f"{re.escape(label)}: {group[0]}")
            keys.append(known.key)
            conversions.append(group[1])
        elif not (part == label and keys[-1:] == [LIST_KEY]):
            return None
    extra = frozenset(known.key for known in fields.values() if known.extra and known.key in keys)
    return _Shape(
        re.compile(rf"{', '.join(pieces)}{re.escape(end)}\s*", re.ASCII),
        tuple(keys),
        extra,
        tuple(conversions),
    )


def _group(raw: str, known: Field) -> tuple[str, Callable[[str], Any]] | None:
    digits, blank, unit = raw.partition(" ")
    if not blank and digits.endswith("%"):
        digits, unit = digits[:-1], "%"
    literal = re.escape(blank + unit)
    if _WHOLE.fullmatch(digits) and unit == known.unit:
        return rf"(-?\d{{1,18}}){literal}", int
    if known.counts or not _POINTED.fullmatch(digits):
        return None
    least = max(1, known.places) if not unit else 1
    group = rf"(-?\d{{1,18}}\.\d{{{least},18}}){literal}"
    if unit == known.unit:
        return group, float
    return (group, as_percent) if known.unit == "%" and not unit else None


def _items(group: str) -> list[float]:
    return [float(item) for item in group.split(", ")]
