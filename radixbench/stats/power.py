"""Significance and power of paired log-ratios: what was found, and what could have been.

``p_value`` is the paired t test that belongs to ``paired_ratio``: it is below 1 − level exactly where
that interval excludes 1. ``chance`` is how often a true effect leads to a verdict, for which the interval must
exclude 1 *and* the factor be off by at least the threshold; ``detectable_effect`` turns "no difference seen" into
a statement: the smallest effect that this many pairs with this spread would have shown with 80 % chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.stats.interval import LEVEL, spread
from radixbench.stats.joint_rule import found_shift, joint_chance
from radixbench.stats.sample import Absent
from radixbench.stats.student import two_sided_p

ALPHA = 1.0 - LEVEL
POWER = 0.8

_ROUNDING = 1e-12
"""Standard errors of log-ratios below this are what floating point leaves of none."""


def p_value(log_ratios: Sequence[float]) -> float | Absent:
    """Two-sided p of a mean log-ratio of 0. Without any spread it is 1 at a mean of 0, else 0."""
    n = len(log_ratios)
    if n < 2:
        return Absent("a test needs at least 2 pairs")
    if not all(map(math.isfinite, log_ratios)):
        return Absent("a value isn't finite")
    mean = sum(log_ratios) / n
    error = spread(log_ratios) / math.sqrt(n)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return two_sided_p(mean / error, n - 1)


def chance(effect: float, *, sd: float, n: int, threshold: float = 0.0, alpha: float = ALPHA) -> float:
    """How often ``n`` pairs lead to a verdict in the right direction when the true factor is 1 + ``effect``.

    ``sd`` is the true standard deviation of the paired log-ratios, which are normal. At an effect of 0 no direction
    is right: the chance then is that of a false verdict, either way. Fewer than 2 pairs have no interval: 0.
    """
    if not (effect > -1.0 and sd >= 0.0 and threshold >= 0.0 and 0.0 < alpha < 1.0):
        raise ValueError(
            f"no chance of an effect of {effect} at a spread of {sd} and a threshold of {threshold}"
        )
    if n < 2 or not math.isfinite(sd):
        return 0.0
    if effect == 0.0:
        return sum(_one_way(0.0, _bar(threshold, way), sd, n, alpha) for way in (1, -1))
    way = 1 if effect > 0.0 else -1
    return _one_way(abs(math.log1p(effect)), _bar(threshold, way), sd, n, alpha)


def detectable_effect(
    log_ratios: Sequence[float], *, threshold: float = 0.0, alpha: float = ALPHA, power: float = POWER
) -> float | Absent:
    """The smallest relative effect (0.05 is 5 %) these pairs could have shown with chance ``power``.

    A true factor of 1 + effect leads to a verdict that often, and one of 1 − effect at least as often, when the pairs'
    standard deviation is the one seen. Never below the threshold, which an effect just as large reaches only every
    other time; without any spread it is the threshold.
    """
    n = len(log_ratios)
    if n < 2:
        return Absent("a spread needs at least 2 pairs")
    if not all(map(math.isfinite, log_ratios)):
        return Absent("a value isn't finite")
    error = spread(log_ratios) / math.sqrt(n)
    if error < _ROUNDING:
        return threshold
    try:
        effect = math.expm1(error * found_shift(math.log1p(threshold) / error, n - 1, alpha, power))
    except OverflowError:
        return Absent("the spread is too wide for any effect to show")
    return effect if math.isfinite(effect) else Absent("the spread is too wide for any effect to show")


def _bar(threshold: float, way: int) -> float:
    """How far from 0 the log of a factor that counts lies; infinite where no factor is that far below 1."""
    return math.log1p(threshold) if way > 0 else -math.log1p(-threshold) if threshold < 1.0 else math.inf


def _one_way(shift: float, bar: float, sd: float, n: int, alpha: float) -> float:
    error = sd / math.sqrt(n)
    if error < _ROUNDING or not math.isfinite(bar):
        return float(shift > 0.0 and shift >= bar)
    return joint_chance(shift / error, bar / error, n - 1, alpha)
