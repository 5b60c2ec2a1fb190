"""Quantiles as numpy's linear method gives them: interpolated between order statistics.

An empty sample has no quantile; the answer then is an ``Absent`` that says so, never 0.
"""

from __future__ import annotations

import numpy as np

from radixbench.stats.sample import Absent, Sample


def quantile(sample: Sample | Absent, q: float) -> float | Absent:
    """The ``q``-quantile (0 to 1) in the sample's unit."""
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
    if isinstance(sample, Absent):
        return sample
    if not sample.values:
        return Absent("no values")
    return float(np.quantile(np.asarray(sample.values, dtype=np.float64), q, method="linear"))


def median(sample: Sample | Absent) -> float | Absent:
    """The middle of the sample, in its unit."""
    return quantile(sample, 0.5)
