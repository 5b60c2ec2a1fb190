"""A straight line through points by ordinary least squares.

Computed from centred values, so that a large offset of either axis costs no digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radixbench.stats.sample import Absent


@dataclass(frozen=True, slots=True)
class Line:
    """y = ``intercept`` + ``slope`` · x through ``n`` points, in the values' own units.

    ``r_squared`` is the share of the variance of y that the line accounts for; 1 where y is constant. ``residual_s`` is
    the standard deviation of the residuals (n − 2) in y's unit; ``None`` for 2 points, through which any line passes.
    """

    intercept: float
    slope: float
    r_squared: float
    residual_s: float | None
    n: int

    def at(self, x: float) -> float:
        """The line's y."""
        return self.intercept + self.slope * x


def fit_line(xs: Sequence[float], ys: Sequence[float]) -> Line | Absent:
    """The line with the least squared residuals in y; absent where the points have no slope."""
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    n = len(x)
    if len(y) != n:
        raise ValueError(f"{n} xs and {len(y)} ys are no points")
    if n < 2:
        return Absent(f"{n} of at least 2 points that a line needs")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return Absent("a value isn't finite")
    if x.min() == x.max():
        return Absent("all points have the same x, so that there is no slope")
    x_mean, y_mean = float(x.mean()), float(y.mean())
    dx, dy = x - x_mean, y - y_mean
    slope = float(dx @ dy) / float(dx @ dx)
    left, total = float(np.square(dy - slope * dx).sum()), float(dy @ dy)
    if not (math.isfinite(slope) and math.isfinite(total)):
        return Absent("the values are too far apart for a line")
    is_flat = y.min() == y.max()
    return Line(
        intercept=y_mean - slope * x_mean,
        slope=slope,
        r_squared=1.0 if is_flat else max(0.0, 1.0 - left / total),
        residual_s=math.sqrt(left / (n - 2)) if n > 2 else None,
        n=n,
    )
