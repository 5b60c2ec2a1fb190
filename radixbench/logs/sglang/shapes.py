"""Batch lines of one version and one server all have one shape: read the first tolerantly, the rest by heart.

A ``Shape`` is learned from a line that was read piece by piece without a flaw: its labels become literal text of
one regular expression, its values groups of the type seen. A line that deviates by one character
doesn't match and is read piece by piece again, so that speed never decides what a line says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radixbench.logs.sglang.keys import GRAPH_LABELS, SGLANG_KEYS

_TRUTH: Callable[[str], bool] = {"True": True, "False": False}.__getitem__
_TEXT = r"([^,\[\]\r]*[^,\[\]\s])"
_LISTED = r"([^,\[\]\r]*\[[^\[\]\r]*\])"
_INTEGER = r"(-?\d{1,18})"
"""Fits 64 bits; a longer one is read piece by piece."""
_FLOAT_DIGITS = 15
_MOST_SHAPES = 32

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class Shape:
    """One shape of batch line. ``match`` finds the words of a line, ``read`` and ``numbers`` make values of them."""

    __slots__ = ("_convert", "_decimals", "_fixed", "_keys", "_odd", "_places", "kind", "labels", "match")

    def __init__(
        self, kind: str, head: str, pieces: Sequence[tuple[str, str]], head_keys: Sequence[str]
    ) -> None:
        self.kind = kind
        self.labels = (*head_keys, *(label for label, _ in pieces))
        keys: list[str] = list(head_keys)
        convert: list[Callable[[str], Any]] = [int] * len(head_keys)
        decimals: list[int | None] = [0] * len(head_keys)
        self._fixed: dict[str, Any] = {}
        self._odd: list[tuple[int, str]] = []
        parts: list[str] = []
        for label, raw in pieces:
            group, conversion, digits = _group(raw)
            parts.append(f"{re.escape(label)}: {group}")
            if label in GRAPH_LABELS:
                keys.append("cuda_graph")
                self._fixed["graph_backend"] = GRAPH_LABELS[label]
            elif label in SGLANG_KEYS:
                keys.append(SGLANG_KEYS[label])
            else:
                self._odd.append((len(keys), label))
                keys.append(f" {label}")  # no key of the vocabulary begins with a blank
            convert.append(conversion)
            decimals.append(digits)
        self._keys = tuple(keys)
        self._convert = tuple(convert)
        self._decimals = tuple(decimals)
        self._places = {key: place for place, key in enumerate(keys)}
        self.match = re.compile(f"{head}{', '.join(parts)},?\\s*", re.ASCII).fullmatch

    def read(self, words: Sequence[str], prefix: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The known values of one line, those of ``prefix`` among them, and the odd ones under their labels."""
        values = {**prefix, **self._fixed}
        for key, conversion, word in zip(self._keys, self._convert, words, strict=True):
            values[key] = conversion(word)
        return values, {label: values.pop(self._keys[place]) for place, label in self._odd}

    def place(self, key: str) -> int | None:
        """Where the word of a key, or of an odd label, stands among the words of a line."""
        return self._places.get(key, self._places.get(f" {key}"))

    def numbers(self, place: int, words: Sequence[str]) -> Numbers:
        """Many lines' words at one place, as numbers: integers stay integers; ``nan`` for what is no number.

        A number with two decimals is read as an integer and divided by 100, which rounds exactly as reading it
        does: a shape holds no number whose digits don't fit a float's 53 bits.
        """
        decimals = self._decimals[place]
        if decimals == 0:
            return np.fromstring(" ".join(words), dtype=np.int64, sep=" ")
        if decimals is not None:
            whole = np.fromstring(" ".join(words).replace(".", ""), dtype=np.int64, sep=" ")
            numbers: npt.NDArray[np.float64] = whole / 10**decimals
            return numbers
        convert = self._convert[place]
        if convert is str:
            return np.full(len(words), np.nan)
        return np.fromiter(map(convert, words), np.float64, len(words))


class Shapes:
    """The shapes seen, the latest first."""

    def __init__(self) -> None:
        self._shapes: list[Shape] = []

    def fitting(self, text: str, start: int, kind: str) -> Shape | None:
        """The first shape that fits the line from ``start`` on."""
        for place, shape in enumerate(self._shapes):
            if shape.kind == kind and shape.match(text, start) is not None:
                self._shapes.insert(0, self._shapes.pop(place))
                return shape
        return None

    def learn(self, shape: Shape) -> None:
        """Remember a shape; the one unused for longest is forgotten."""
        self._shapes.insert(0, shape)
        del self._shapes[_MOST_SHAPES:]


def _group(raw: str) -> tuple[str, Callable[[str], Any], int | None]:
    """A value's group in the expression, what turns its word into a value, and its decimals if it is a number."""
    if raw in ("True", "False"):
        return "(True|False)", _TRUTH, None
    percent = "%" if raw.endswith("%") else ""
    number = re.fullmatch(r"-?\d+(?:\.(\d+))?", raw.removesuffix("%"), re.ASCII)
    if number is None:
        return _LISTED if raw.endswith("]") else _TEXT, str, None
    if number[1] is None:
        return f"{_INTEGER}{percent}", int, 0
    digits = len(number[1])
    before = _FLOAT_DIGITS - digits
    if before < 1:
        return rf"(-?\d+\.\d{{{digits}}}){percent}", float, None
    return rf"(-?\d{{1,{before}}}\.\d{{{digits}}}){percent}", float, digits
