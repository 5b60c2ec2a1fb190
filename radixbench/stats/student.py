"""Student's t: critical values, tail probabilities, and the shift a test of given size finds.

Everything comes from ``scipy.special``, which loads in a fraction of the time ``scipy.stats`` takes.
"""

from __future__ import annotations

import math

from scipy.special import nctdtrinc, stdtr, stdtrit


def critical(level: float, df: int) -> float:
    """The t that a two-sided interval at ``level`` reaches with ``df`` degrees of freedom."""
    return float(stdtrit(df, 0.5 + level / 2.0))


def two_sided_p(t: float, df: int) -> float:
    """The chance of a statistic at least as far from 0 as ``t`` when there is no effect."""
    return min(1.0, 2.0 * float(stdtr(df, -abs(t))))


def found_shift(df: int, *, alpha: float, power: float) -> float:
    """The true shift, in standard errors, that a two-sided test at ``alpha`` finds with chance ``power``.

    Exact by the noncentral t distribution, but for the chance of a significant result in the wrong
    direction, which is far below 1e-3 at the powers in use.
    """
    shift = float(nctdtrinc(df, 1.0 - power, critical(1.0 - alpha, df)))
    return shift if math.isfinite(shift) else math.nan
