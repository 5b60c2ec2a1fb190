"""Outliers by Tukey's fences: classed and counted, never removed.

A value beyond the quartiles by more than 1.5 interquartile ranges is a mild outlier, by more than 3 a severe one. Of many
normal values 0.7 % are outliers and 2 in a million severe; a heavy upper tail is what serving has, and it is kept. Of few
values the quartiles know little: among 5 normal ones there is a severe one in 13 % of cases, so that of few the question is
whether one stands apart from the others (Grubbs' test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radixbench.stats.interval import spread
from radixbench.stats.sample import Absent
from radixbench.stats.student import critical

MIN_VALUES = 5
MILD, SEVERE = 1.5, 3.0


@dataclass(frozen=True, slots=True)
class Fences:
    """Where outliers begin, in the values' unit: below the low ones, above the high ones."""

    low_severe: float
    low_mild: float
    high_mild: float
    high_severe: float


@dataclass(frozen=True, slots=True)
class Outliers:
    """How many of ``n`` values lie beyond which fence; a severe one doesn't count as a mild one too."""

    low_severe: int
    low_mild: int
    high_mild: int
    high_severe: int
    n: int
    fences: Fences

    @property
    def total(self) -> int:
        """All of them."""
        return self.low_severe + self.low_mild + self.high_mild + self.high_severe


def classify(values: Sequence[float]) -> Outliers | Absent:
    """Count the outliers; absent where the quartiles can't tell what is usual."""
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    if n < MIN_VALUES:
        return Absent(f"{n} of at least {MIN_VALUES} values that outliers need")
    if not np.isfinite(array).all():
        return Absent("a value isn't finite")
    first, third = (float(quartile) for quartile in np.quantile(array, (0.25, 0.75), method="linear"))
    width = third - first
    if width == 0.0 and array.min() != array.max():
        return Absent("half of the values or more are the same, so that quartiles don't tell outliers")
    fences = Fences(
        first - SEVERE * width, first - MILD * width, third + MILD * width, third + SEVERE * width
    )
    below, above = int((array < fences.low_severe).sum()), int((array > fences.high_severe).sum())
    return Outliers(
        low_severe=below,
        low_mild=int((array < fences.low_mild).sum()) - below,
        high_mild=int((array > fences.high_mild).sum()) - above,
        high_severe=above,
        n=n,
        fences=fences,
    )


def stands_apart(values: Sequence[float], place: int, *, alpha: float) -> bool:
    """Whether ``values[place]``, the farthest of them, is farther off than in a share ``alpha`` of normal samples; of 3 or more."""
    others = [value for at, value in enumerate(values) if at != place]
    off = abs(values[place] - sum(others) / len(others))
    reach = spread(others) * math.sqrt(1.0 + 1.0 / len(others))
    return off > reach * critical(1.0 - alpha / len(values), len(others) - 1)
