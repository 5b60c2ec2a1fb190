"""How much more a trend test must doubt values of which each resembles the one before.

Waits in a queue resemble those before them, and a test that takes them for independent finds trends in mere
wandering. Hamed and Rao (1998) widen the variance of Kendall's S by the autocorrelation of the ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SIGNIFICANT = 1.645
"""Correlations below this many standard errors are taken for chance."""


def variance_inflation(values: Sequence[float]) -> float:
    """The factor on the variance of Kendall's S for these values in their order, freed of their trend; at least 1.

    Only positive correlations count, at lags up to a quarter of the values.
    """
    n = len(values)
    ranks = _ranks(np.asarray(values, dtype=np.float64))
    ranks -= ranks.mean()
    power = float(ranks @ ranks)
    if n < 8 or power == 0.0:
        return 1.0
    lags = np.arange(1, n // 4 + 1)
    correlations = np.array([float(ranks[:-lag] @ ranks[lag:]) for lag in lags]) / power
    counted = np.where(correlations > _SIGNIFICANT / np.sqrt(n), correlations, 0.0)
    weights = (n - lags) * (n - lags - 1.0) * (n - lags - 2.0)
    return 1.0 + 2.0 * float(weights @ counted) / (n * (n - 1.0) * (n - 2.0))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: NDArray[np.float64] = last - (counts - 1) / 2.0
    return shared[place]
