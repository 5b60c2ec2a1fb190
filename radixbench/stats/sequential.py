"""When a sweep that adds seeds has enough of them: the stopping rule of ``--until``.

At least 5 seeds, and the interval's farther end within the target of its value. Whoever stops at the first narrow
interval stops more often where the spread happens to look small: Student's interval at 95 % then holds the truth in 92 %
of sweeps at worst, and a factor of exactly 1 gets a verdict 8 times in 100. So everything said of a sweep that was
stopped so is drawn by Student's t at 97.5 %, the rule itself included, which brings both back to what is promised of any
interval and any verdict, for a quarter more seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, mean_interval, paired_ratio
from radixbench.stats.sample import Absent, Sample

MIN_SEEDS = 5

STOPPED_LEVEL = 0.975
"""The level of Student's t at which what is told as a 95 % interval is drawn where seeds were added until it was narrow."""

STOPPED_COVERAGE = 0.95
"""A stopped interval holds the truth at least this often, whatever the spread and the target (2 to 20 %)."""


def drawn_at(until: float | None) -> float:
    """The level at which Student's t draws the 95 % interval of seeds that were added ``until`` it was narrow, or weren't."""
    return LEVEL if until is None else STOPPED_LEVEL


def half_width(estimate: Estimate) -> float | None:
    """How far the farther end of the interval lies from the value, as a share of it; ``None`` without an interval."""
    if estimate.low is None or estimate.high is None or estimate.value == 0.0:
        return None
    width = max(estimate.high - estimate.value, estimate.value - estimate.low) / abs(estimate.value)
    return width if math.isfinite(width) else None


def narrow_enough(figures: Sequence[tuple[float, float]] | Sequence[float], target: float) -> bool:
    """Whether one row needs no seed more: pairs give the interval of their ratio, single values that of their mean.

    ``target`` is a relative half-width (0.05 is 5 %). Fewer than 5 figures, one of 0 or below and one that isn't finite
    are never enough.
    """
    if len(figures) < MIN_SEEDS:
        return False
    pairs = [figure for figure in figures if isinstance(figure, tuple)]
    values = [figure for figure in figures if not isinstance(figure, tuple)]
    if pairs and values:
        raise ValueError("pairs and single values don't mix")
    found = (
        paired_ratio(pairs, level=STOPPED_LEVEL)
        if pairs
        else mean_interval(Sample(values), kind="geometric", level=STOPPED_LEVEL)
    )
    width = None if isinstance(found, Absent) else half_width(found)
    return width is not None and width <= target
