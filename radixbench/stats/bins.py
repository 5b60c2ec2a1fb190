"""Distributions in few numbers: a histogram of any number of values. Figures draw it, tables stay exact."""

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


def bins(values: Sequence[float], count: int, *, log: bool = False) -> Bins | Absent:
    """``count`` bins of equal width from the least to the greatest value; ``log``: of equal ratio.

    Values that are all the same share one bin without width. A logarithmic axis needs values above 0.
    """
    if count < 1:
        raise ValueError(f"a histogram has at least 1 bin, not {count}")
    array = np.asarray(values, dtype=np.float64)
    if len(array) == 0:
        return Absent("no values")
    if not np.isfinite(array).all():
        return Absent("a value isn't finite")
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
