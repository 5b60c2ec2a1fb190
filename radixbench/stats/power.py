"""Significance and power of paired log-ratios: what was found, and what could have been.

``p_value`` is the paired t test that belongs to ``paired_ratio``: it is below 1 − level exactly where
that interval excludes 1. ``detectable_effect`` turns "no difference seen" into a statement: the
smallest effect that this many pairs with this spread would have shown with 80 % chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.stats.interval import LEVEL, spread
from radixbench.stats.sample import Absent
from radixbench.stats.student import found_shift, two_sided_p

ALPHA = 1.0 - LEVEL
POWER = 0.8


def p_value(log_ratios: Sequence[float]) -> float | Absent:
    """Two-sided p of a mean log-ratio of 0. Without any spread it is 1 at a mean of 0, else 0."""
    n = len(log_ratios)
    if n < 2:
        return Absent("a test needs at least 2 pairs")
    mean = sum(log_ratios) / n
    error = spread(log_ratios) / math.sqrt(n)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return two_sided_p(mean / error, n - 1)


def detectable_effect(
    log_ratios: Sequence[float], *, alpha: float = ALPHA, power: float = POWER
) -> float | Absent:
    """The smallest relative effect (0.05 is 5 %) these pairs could have shown, by the noncentral t.

    A true factor of 1 + effect, or of its reciprocal, leads to an interval that excludes 1 with the
    given power when the pairs' standard deviation is the one seen.
    """
    n = len(log_ratios)
    if n < 2:
        return Absent("a spread needs at least 2 pairs")
    shift = found_shift(n - 1, alpha=alpha, power=power) * spread(log_ratios) / math.sqrt(n)
    try:
        effect = math.expm1(shift)
    except OverflowError:
        return Absent("the spread is too wide for any effect to show")
    return effect if math.isfinite(effect) else Absent("the spread is too wide for any effect to show")
