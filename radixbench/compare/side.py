"""One arm's figure in one cell: the mean over its runs, with its interval over them.

Geometric where noise multiplies, so that the factor of two sides is exactly the ratio of their values; arithmetic where
the metric says so, and where a run's figure is a measured 0, of which there is neither a logarithm nor a ratio.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.compare.change import Side
from radixbench.metrics.definition import Metric
from radixbench.metrics.figure import RunFigure
from radixbench.stats.interval import LEVEL, MeanKind, mean_interval
from radixbench.stats.sample import Absent, Sample


def over_runs(figures: Sequence[RunFigure], metric: Metric, *, drawn: float = LEVEL) -> Side:
    """The mean of those runs that have the figure; ``drawn`` is the level of Student's t."""
    values = tuple(figure.value for figure in figures if figure.value is not None)
    n_values = sum(figure.n_values for figure in figures)
    if not values:
        reasons = dict.fromkeys(figure.reason for figure in figures if figure.reason is not None)
        return Side(None, None, None, 0, n_values, "; ".join(reasons) or "no run of this cell")
    kind: MeanKind = "arithmetic" if min(values) == 0.0 else metric.aggregate
    estimate = mean_interval(Sample(values), kind=kind, level=drawn)
    if isinstance(estimate, Absent):
        return Side(None, None, None, len(values), n_values, estimate.reason)
    low, high = (_possible(end, metric) for end in (estimate.low, estimate.high))
    return Side(estimate.value, low, high, estimate.n, n_values)


def _possible(end: float | None, metric: Metric) -> float | None:
    """An interval's end within what the figure can be: no rate below 0 or above 1, no count below 0."""
    if end is None:
        return None
    return min(max(end, 0.0), 1.0) if metric.unit == "ratio" else max(end, 0.0)
