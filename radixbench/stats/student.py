"""Student's t: critical values and tail probabilities.

Everything comes from ``scipy.special``, which loads in a fraction of the time ``scipy.stats`` takes.
"""

from __future__ import annotations

from scipy.special import stdtr, stdtrit


def critical(level: float, df: int) -> float:
    """The t that a two-sided interval at ``level`` reaches with ``df`` degrees of freedom."""
    return float(stdtrit(df, 0.5 + level / 2.0))


def two_sided_p(t: float, df: int) -> float:
    """The chance of a statistic at least as far from 0 as ``t`` when there is no effect."""
    return min(1.0, 2.0 * float(stdtr(df, -abs(t))))
