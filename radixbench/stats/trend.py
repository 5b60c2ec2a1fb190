"""A monotone trend over a run: how steep by Theil and Sen, how sure by Mann and Kendall.

Both look at pairs of points and so bear outliers and any distribution. Requests that waited in one queue resemble each
other, which looks like a trend: ``p`` takes them for independent, ``p_alike`` doesn't. For that, neighbours in x are
joined to 50 blocks, each standing for its median, and where blocks still resemble each other, fewer of them count (the
effective sample size of Yue and Wang, Water Resources Management 18, 2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from radixbench.stats.sample import Absent

MIN_VALUES = 8
MAX_POINTS = 200
"""Above so many points neighbours in x are joined, whatever is asked: the cost stays bounded."""
MAX_BLOCKS = 50

_PERFECT = 3.29
"""The normal deviate of p = 0.001, which an order without exception keeps however alike neighbours are."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trend:
    """``slope`` in y per unit of x; ``change`` what it makes of the whole span of x, as a share of y's median.

    ``p`` is two-sided: the chance of an order at least as strict in ``n`` independent points that have none; ``p_alike``
    the same for points that resemble their neighbours as much as these do. Judge requests and steps by ``p_alike``.
    """

    slope: float
    change: float
    p: float
    n: int
    p_alike: float


def trend(xs: Sequence[float], ys: Sequence[float]) -> Trend | Absent:
    """The trend of ``ys`` over ``xs`` (start times, say), in any order; absent for fewer than 8 points."""
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    n = len(x)
    if len(y) != n:
        raise ValueError(f"{n} xs and {len(y)} ys are no points")
    if n < MIN_VALUES:
        return Absent(f"{n} of at least {MIN_VALUES} values that a trend needs")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return Absent("a value isn't finite")
    middle, span = float(np.median(y)), float(np.ptp(x))
    x, y = _joined(x, y, MAX_POINTS)
    if x[0] == x[-1]:
        return Absent("all points have the same x, so that there is no trend")
    slope = _theil_sen(x, y)
    change = slope * span / abs(middle) if middle != 0.0 else math.inf
    if not math.isfinite(change):
        return Absent("a median of 0, or next to it, has no relative change")
    p_alike = _mann_kendall(*_joined(x, y, MAX_BLOCKS), doubting=True)
    return Trend(slope, change, _mann_kendall(x, y), n, p_alike)


def _joined(x: _Floats, y: _Floats, most: int) -> tuple[_Floats, _Floats]:
    """The points in the order of x, or the medians of so many runs of them."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if len(x) <= most:
        return x, y
    parts = np.array_split(np.arange(len(x)), most)
    return (
        np.array([np.median(x[part]) for part in parts]),
        np.array([np.median(y[part]) for part in parts]),
    )


def _theil_sen(x: _Floats, y: _Floats) -> float:
    """The median of the slopes of all pairs of points that differ in x."""
    i, j = np.triu_indices(len(x), k=1)
    run = x[j] - x[i]
    apart = run != 0.0
    return float(np.median((y[j] - y[i])[apart] / run[apart]))


def _inflation(y: _Floats) -> float:
    """How much wider S scatters than without resemblance: (1 + r) / (1 − r) for neighbours that correlate by r.

    r is told by the steps from neighbour to neighbour, which correlate by −(1 − r) / 2: a drift hardly changes them, and
    a lasting jump is one of them and no more, whereas the values themselves then resemble their neighbours most.
    """
    ranks = _ranks(np.diff(y))
    if not ranks.any():
        return math.inf
    alike = 1.0 + 2.0 * float(ranks[1:] @ ranks[:-1]) / float(ranks @ ranks)
    if alike >= 1.0:
        return math.inf
    return max(1.0, (1.0 + alike) / (1.0 - alike))


def _ranks(values: _Floats) -> _Floats:
    """Ranks about their middle; equal values share theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    upto = np.cumsum(counts)
    ranks: _Floats = (upto - (counts + 1.0) / 2.0)[which] - (len(values) - 1.0) / 2.0
    return ranks


def _mann_kendall(x: _Floats, y: _Floats, *, doubting: bool = False) -> float:
    """Two-sided p of Kendall's S by its normal approximation, with ties in either and corrected for continuity.

    ``doubting`` widens it where neighbours are alike, as far as an order without exception stays a trend.
    """
    i, j = np.triu_indices(len(x), k=1)
    order = np.sign(x[j] - x[i]) * np.sign(y[j] - y[i])
    deviation = math.sqrt(max(0.0, _variance(len(x), _ties(x), _ties(y))))
    if deviation == 0.0:
        return 1.0
    seen, perfect = (
        max(0.0, float(score) - 1.0) / deviation for score in (abs(order.sum()), abs(order).sum())
    )
    doubt = min(math.sqrt(_inflation(y)), max(1.0, perfect / _PERFECT)) if doubting else 1.0
    return min(1.0, 2.0 * float(ndtr(-seen / doubt)))


def _ties(values: _Floats) -> _Floats:
    """How often each value occurs."""
    return np.unique(values, return_counts=True)[1].astype(np.float64)


def _variance(n: int, t: _Floats, u: _Floats) -> float:
    """Of Kendall's S when values occur ``t`` and ``u`` times (Kendall 1970, chapter 4)."""
    t2, u2 = (float((c * (c - 1)).sum()) for c in (t, u))
    t3, u3 = (float((c * (c - 1) * (c - 2)).sum()) for c in (t, u))
    t5, u5 = (float((c * (c - 1) * (2 * c + 5)).sum()) for c in (t, u))
    pairs = n * (n - 1)
    return (pairs * (2 * n + 5) - t5 - u5) / 18 + t3 * u3 / (9 * pairs * (n - 2)) + t2 * u2 / (2 * pairs)
