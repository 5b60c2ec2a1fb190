"""Two-sided Student t intervals over runs: of a mean, of a paired ratio, of a paired difference.

The run is the unit of replication. Three to ten runs are too few for a bootstrap (at n = 3 its 95 %
interval covers 75 %), so intervals are parametric: on the logarithms where a figure is positive
and noise multiplies, on the values themselves for rates between 0 and 1. One value has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from radixbench.stats.estimate import Estimate
from radixbench.stats.sample import Absent, Sample
from radixbench.stats.student import critical

LEVEL = 0.95

MeanKind = Literal["geometric", "arithmetic"]


def mean_interval(sample: Sample | Absent, *, kind: MeanKind, level: float = LEVEL) -> Estimate | Absent:
    """The mean over runs with its interval, in the sample's unit; a geometric one needs values above 0."""
    if isinstance(sample, Absent):
        return sample
    if kind == "arithmetic":
        return _interval(sample.values, level)
    logs = _logs(sample.values)
    return logs if isinstance(logs, Absent) else _exponential(_interval(logs, level))


def log_ratios(pairs: Sequence[tuple[float, float]]) -> tuple[float, ...] | Absent:
    """``ln(first / second)`` of each pair; absent when a value isn't above 0."""
    first = _logs([pair[0] for pair in pairs])
    second = _logs([pair[1] for pair in pairs])
    if isinstance(first, Absent):
        return first
    if isinstance(second, Absent):
        return second
    return tuple(x - y for x, y in zip(first, second, strict=True))


def paired_ratio(pairs: Sequence[tuple[float, float]], *, level: float = LEVEL) -> Estimate | Absent:
    """The geometric mean of first / second over pairs, with its interval from the paired log-ratios."""
    logs = log_ratios(pairs)
    return logs if isinstance(logs, Absent) else _exponential(_interval(logs, level))


def paired_difference(pairs: Sequence[tuple[float, float]], *, level: float = LEVEL) -> Estimate | Absent:
    """The mean of first − second over pairs, with its interval, in the values' unit."""
    return _interval([x - y for x, y in pairs], level)


def _interval(values: Sequence[float], level: float) -> Estimate | Absent:
    n = len(values)
    if n == 0:
        return Absent("no values")
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        return Absent("a value isn't finite")
    mean = float(array.mean())
    if n == 1:
        return Estimate(value=mean, low=None, high=None, level=level, n=1)
    half = critical(level, n - 1) * spread(values) / math.sqrt(n)
    if not math.isfinite(half):
        return Estimate(value=mean, low=None, high=None, level=level, n=n)
    return Estimate(value=mean, low=mean - half, high=mean + half, level=level, n=n)


def spread(values: Sequence[float]) -> float:
    """The sample standard deviation (n − 1) of finite values; exactly 0 for values that are all the same.

    Infinite where values are so far apart that their squares leave the range of floating point.
    """
    if len(set(values)) == 1:
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.std(np.asarray(values, dtype=np.float64), ddof=1))


def _logs(values: Sequence[float]) -> tuple[float, ...] | Absent:
    if any(not (value > 0 and math.isfinite(value)) for value in values):
        return Absent("a value of 0 or below has no ratio")
    return tuple(math.log(value) for value in values)


def _exponential(estimate: Estimate | Absent) -> Estimate | Absent:
    if isinstance(estimate, Absent):
        return estimate
    value = _exp(estimate.value)
    if value is None:
        return Absent("the values are too far apart for a ratio")
    low, high = estimate.low, estimate.high
    return Estimate(
        value=value,
        low=None if low is None else _exp(low),
        high=None if high is None else _exp(high),
        level=estimate.level,
        n=estimate.n,
    )


def _exp(x: float) -> float | None:
    """``e**x``; ``None`` where it leaves the range of floating point, to 0 or to infinity, and so says nothing."""
    try:
        power = math.exp(x)
    except OverflowError:
        return None
    return power if power > 0.0 else None
