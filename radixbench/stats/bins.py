"""Distributions in few numbers: a histogram and a cumulative curve, for any number of values.

Figures draw these, tables stay exact. Every point of the curve lies on the exact one, whose steps are thinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radixbench.stats.sample import Absent


@dataclass(frozen=True, slots=True)
class Bins:
    """A histogram: ``counts[i]`` values from ``edges[i]`` up to ``edges[i + 1]``, the last edge included."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A cumulative distribution: a share of ``shares[i]`` of the values is at most ``values[i]``."""

    values: tuple[float, ...]
    shares: tuple[float, ...]


def bins(values: Sequence[float], count: int, *, log: bool = False) -> Bins | Absent:
    """``count`` bins of equal width from the least to the greatest value; ``log``: of equal ratio.

    Values that are all the same share one bin without width. A logarithmic axis needs values above 0.
    """
    if count < 1:
        raise ValueError(f"a histogram has at least 1 bin, not {count}")
    array = np.asarray(values, dtype=np.float64)
    wrong = _unfit(array)
    if wrong is not None:
        return wrong
    low, high = float(array.min()), float(array.max())
    if log and low <= 0.0:
        return Absent("a value of 0 or below has no place on a logarithmic axis")
    if low == high:
        return Bins((low, high), (len(array),))
    edges = np.geomspace(low, high, count + 1) if log else np.linspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    edges = np.unique(edges)
    counts, _ = np.histogram(array, edges)
    return Bins(tuple(edges.tolist()), tuple(counts.tolist()))


def ecdf(values: Sequence[float], points: int) -> Curve | Absent:
    """At most ``points`` steps of the cumulative distribution, evenly apart in share, the first and the last among them."""
    if points < 2:
        raise ValueError(f"a curve has at least 2 points, not {points}")
    array = np.asarray(values, dtype=np.float64)
    wrong = _unfit(array)
    if wrong is not None:
        return wrong
    steps, counts = np.unique(array, return_counts=True)
    shares = np.cumsum(counts) / len(array)
    if len(steps) > points:
        wanted = np.searchsorted(shares, np.linspace(shares[0], 1.0, points) - 1e-12)
        kept = np.unique(np.clip(wanted, 0, len(steps) - 1))
        steps, shares = steps[kept], shares[kept]
    return Curve(tuple(steps.tolist()), tuple(shares.tolist()))


def _unfit(array: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Absent | None:
    if len(array) == 0:
        return Absent("no values")
    return None if np.isfinite(array).all() else Absent("a value isn't finite")
