"""Quantiles of a stream of unknown length in bounded memory.

The first hundred thousand values are kept and answer exactly, by numpy's linear method. With more, only the
logarithm of each is kept, in steps so fine that every quantile lies within 0.5 % of the exact one.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter

import numpy as np

from radixbench.stats.sample import Absent

KEPT = 100_000
"""Values up to this number are kept as they are."""

_ERROR = 0.005
_GROWTH = math.log((1 + _ERROR) / (1 - _ERROR))


class StreamQuantile:
    """Takes values of at least 0, one by one; its memory stays below 2 MB."""

    __slots__ = ("_high", "_kept", "_low", "_steps", "_zeros", "n")

    def __init__(self) -> None:
        self.n = 0
        self._kept: array[float] | None = array("d")
        self._steps: Counter[int] = Counter()
        self._zeros = 0
        self._low = math.inf
        self._high = 0.0

    @property
    def exact(self) -> bool:
        """Every value is still at hand."""
        return self._kept is not None

    def add(self, value: float) -> None:
        """Raises ``ValueError`` for a value below 0, an infinite one and ``nan``."""
        if not 0.0 <= value < math.inf:
            raise ValueError(f"a stream of durations has no {value}")
        self.n += 1
        if self._kept is None:
            self._log(value)
            return
        self._kept.append(value)
        if self.n > KEPT:
            self._spill()

    def merge(self, other: StreamQuantile) -> None:
        """Take over all values of ``other``, which is left as it is."""
        if other._kept is not None:
            for value in other._kept:
                self.add(value)
            return
        self._spill()
        self.n += other.n
        self._steps.update(other._steps)
        self._zeros += other._zeros
        self._low = min(self._low, other._low)
        self._high = max(self._high, other._high)

    def quantile(self, q: float) -> float | Absent:
        """The ``q``-quantile (0 to 1) of the values so far."""
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
        if self.n == 0:
            return Absent("no values")
        if self._kept is not None:
            return float(np.quantile(np.frombuffer(self._kept), q, method="linear"))
        place = q * (self.n - 1)
        below, above = self._at(math.floor(place)), self._at(math.ceil(place))
        return below + (above - below) * (place - math.floor(place))

    def _log(self, value: float) -> None:
        if value == 0.0:
            self._zeros += 1
        else:
            self._steps[math.ceil(math.log(value) / _GROWTH)] += 1
        self._low = min(self._low, value)
        self._high = max(self._high, value)

    def _spill(self) -> None:
        """Give up the values for their logarithms."""
        kept, self._kept = self._kept, None
        for value in kept or ():
            self._log(value)

    def _at(self, place: int) -> float:
        """The value at a place of the sorted stream, within the error."""
        if place == 0:
            return self._low
        if place == self.n - 1:
            return self._high
        seen = self._zeros
        if place < seen:
            return 0.0
        for step in sorted(self._steps):
            seen += self._steps[step]
            if place < seen:
                middle = math.exp(step * _GROWTH) * (1 - _ERROR)
                return min(max(middle, self._low), self._high)
        return self._high
