"""Where a line over seeds crosses 0, with an interval that covers even where the slope is barely known.

Fieller's theorem: the interval holds every place at which the mean of the seeds' lines isn't surely off 0, by
Student's t over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL
from radixbench.stats.sample import Absent
from radixbench.stats.student import critical


def crossing(lines: Sequence[tuple[float, float]], *, level: float = LEVEL) -> Estimate | Absent:
    """The x at which height = slope · x, for (height, slope) of each seed; absent where the mean slope isn't surely above 0.

    One seed gives a value without an interval.
    """
    n = len(lines)
    if n == 0:
        return Absent("no values")
    height, slope = (float(mean) for mean in np.mean(lines, axis=0))
    if not (math.isfinite(height) and math.isfinite(slope)):
        return Absent("a value isn't finite")
    if slope <= 0:
        return Absent("the slope isn't above 0")
    if n == 1:
        return Estimate(height / slope, None, None, level, 1)
    heights, both, slopes = _squared_errors(lines, critical(level, n - 1))
    steep = slope * slope - slopes
    if steep <= 0:
        return Absent("the seeds don't tell the slope from 0")
    middle = height * slope - both
    half = math.sqrt(max(middle * middle - steep * (height * height - heights), 0.0))
    low, high = (middle - half) / steep, (middle + half) / steep
    value = height / slope
    return Estimate(value, min(low, value), max(high, value), level, n)


def _squared_errors(lines: Sequence[tuple[float, float]], t: float) -> tuple[float, float, float]:
    """t² times the squared standard errors of both means, their covariance in the middle."""
    spread = np.cov(np.asarray(lines, dtype=np.float64).T, ddof=1) * t * t / len(lines)
    return float(spread[0, 0]), float(spread[0, 1]), float(spread[1, 1])
