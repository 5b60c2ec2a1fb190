"""When a sweep that adds seeds has enough of them: the stopping rule of ``--until``.

The rule is the plain one: at least 5 seeds, and the interval's farther end within the target of its value. Whoever
stops at the first narrow interval stops more often where the spread happens to look small, so that intervals of
stopped sweeps hold the truth less often than their nominal 95 %: 91.9 % at worst, where about 15 seeds are needed
(normal noise, one row; several rows that must all be narrow lie between that and 95 %), and 95 % where 5 seeds do. A
factor of exactly 1 then gets a verdict up to 8 times in 100. A stricter look would buy at most a point for a seed more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import mean_interval, paired_ratio
from radixbench.stats.sample import Absent, Sample

MIN_SEEDS = 5

STOPPED_COVERAGE = 0.91
"""A stopped 95 % interval holds the truth at least this often, whatever the spread and the target (2 to 20 %)."""


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
    found = paired_ratio(pairs) if pairs else mean_interval(Sample(values), kind="geometric")
    width = None if isinstance(found, Absent) else half_width(found)
    return width is not None and width <= target
