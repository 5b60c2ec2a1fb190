"""One row: a metric in a cell, both sides, the factor between them and what may be concluded.

A side's value is the mean over the paired runs (geometric; arithmetic where the metric says so), so
that the factor is exactly the ratio of the two; its interval comes from the paired log-ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from radixbench.compare.arm import ArmRun
from radixbench.compare.bound import Paces
from radixbench.compare.change import Change, Factor, Side, Spread
from radixbench.compare.pairing import CellPairs
from radixbench.compare.verdict import Verdict, conclude
from radixbench.findings.alone import disturbed
from radixbench.metrics.definition import Metric
from radixbench.stats.interval import LEVEL, log_ratios, mean_interval, paired_difference, paired_ratio
from radixbench.stats.power import detectable_effect
from radixbench.stats.sample import Absent, Sample

NO_QUALITY = "explains the other figures, is no quality of its own"


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all rows: why no verdict is allowed, if so, and the smallest effect that counts.

    ``like_modes``: both arms have the same cache mode.
    """

    forbidden: str | None
    threshold: float
    like_modes: bool


@dataclass(frozen=True, slots=True)
class _Figures:
    """One metric's pairs of which both sides have the figure, and why others lack it."""

    pairs: tuple[tuple[int, float, float], ...]
    absent: tuple[str, ...]


def change(cell: CellPairs, metric: Metric, paces: Paces, terms: Terms) -> Change:
    """The row of one metric in one cell, without its caveats."""
    figures = _figures(cell, metric)
    a = _side(cell.a_runs, {seed for seed, _, _ in figures.pairs}, metric)
    b = _side(cell.b_runs, {seed for seed, _, _ in figures.pairs}, metric)
    factor = None if metric.better is None else _factor(figures, a, b, metric)
    verdict = None
    if metric.better is not None and (terms.like_modes or not metric.like_modes_only):
        verdict = conclude(
            factor,
            forbidden=terms.forbidden,
            obstacle=_obstacle(cell, figures, a, b),
            n_pairs=len(figures.pairs),
            threshold=terms.threshold,
        )
    return Change(
        cell=dict(cell.key),
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        a=a,
        b=b,
        factor=factor,
        difference=_difference(figures) if metric.better is None else None,
        verdict=None if verdict is None else verdict.name,
        detectable=_detectable(figures, verdict, terms.threshold),
        bound=None if factor is None or factor.value == 1.0 else paces.bound,
        reason=_reason(metric, verdict, figures),
        caveats=(),
        pairs=figures.pairs,
    )


def _figures(cell: CellPairs, metric: Metric) -> _Figures:
    pairs: list[tuple[int, float, float]] = []
    absent: dict[str, list[str]] = {}
    for pair in cell.pairs:
        a, b = (one.summary.figures[metric.name] for one in pair.runs)
        if a.value is not None and b.value is not None:
            pairs.append((pair.seed, a.value, b.value))
        for side, figure in (("A", a), ("B", b)):
            if figure.value is None:
                absent.setdefault(f"{figure.reason}", []).append(f"{side} seed {pair.seed}")
    reasons = tuple(f"{reason} ({', '.join(where)})" for reason, where in absent.items())
    return _Figures(tuple(pairs), reasons)


def _side(runs: Sequence[ArmRun], paired: set[int], metric: Metric) -> Side:
    """The mean over the paired runs; where none is paired, over what the side has."""
    figures = [one.summary.figures[metric.name] for one in runs if not paired or one.run.seed in paired]
    values = tuple(figure.value for figure in figures if figure.value is not None)
    n_values = sum(figure.n_values for figure in figures)
    if not values:
        reasons = dict.fromkeys(figure.reason for figure in figures if figure.reason is not None)
        return Side(None, None, None, 0, n_values, "; ".join(reasons) or "no run of this cell")
    estimate = mean_interval(Sample(values), kind=metric.aggregate)
    if isinstance(estimate, Absent):
        return Side(None, None, None, len(values), n_values, estimate.reason)
    low, high = (_possible(end, metric) for end in (estimate.low, estimate.high))
    return Side(estimate.value, low, high, estimate.n, n_values)


def _possible(end: float | None, metric: Metric) -> float | None:
    """An interval's end within what the figure can be: no rate below 0 or above 1, no count below 0."""
    if end is None or metric.aggregate == "geometric":
        return end
    return min(max(end, 0.0), 1.0) if metric.unit == "ratio" else max(end, 0.0)


def _factor(figures: _Figures, a: Side, b: Side, metric: Metric) -> Factor | None:
    """How many times better A is: A over B where higher is better, B over A where lower is."""
    pairs = _oriented(figures, metric)
    estimate = paired_ratio(pairs)
    if isinstance(estimate, Absent) or not a.value or not b.value:
        return None
    value = a.value / b.value if metric.better == "higher" else b.value / a.value
    # Rounding may part the ratio of means from the mean of ratios in the last digit.
    low = None if estimate.low is None else min(estimate.low, value)
    high = None if estimate.high is None else max(estimate.high, value)
    return Factor(value=value, low=low, high=high, level=LEVEL)


def _oriented(figures: _Figures, metric: Metric) -> tuple[tuple[float, float], ...]:
    if metric.better == "higher":
        return tuple((a, b) for _, a, b in figures.pairs)
    return tuple((b, a) for _, a, b in figures.pairs)


def _difference(figures: _Figures) -> Spread | None:
    estimate = paired_difference([(a, b) for _, a, b in figures.pairs])
    return None if isinstance(estimate, Absent) else Spread(estimate.value, estimate.low, estimate.high)


def _detectable(figures: _Figures, verdict: Verdict | None, threshold: float) -> float | None:
    """The smallest effect that these pairs' spread lets show and that the threshold lets count."""
    if verdict is None or verdict.name != "within-noise":
        return None
    logs = log_ratios([(a, b) for _, a, b in figures.pairs])
    effect = logs if isinstance(logs, Absent) else detectable_effect(logs)
    return None if isinstance(effect, Absent) else max(effect, threshold)


def _reason(metric: Metric, verdict: Verdict | None, figures: _Figures) -> str | None:
    """Why there is no verdict or no figure, else how the figure is easily misread."""
    if verdict is None:
        why = NO_QUALITY if metric.better is None else metric.warning or NO_QUALITY
        return "; ".join((why, *figures.absent))
    return metric.warning if verdict.reason is None else verdict.reason


def _obstacle(cell: CellPairs, figures: _Figures, a: Side, b: Side) -> str | None:
    """What keeps the row from a verdict before any number is looked at."""
    for name, runs in (("A", cell.a_runs), ("B", cell.b_runs)):
        if not runs:
            return f"{name} has no run of this cell"
    if not cell.all_pairs:
        return "no seed in common"
    if not cell.pairs:
        return _all_set_aside(cell)
    missing = [*figures.absent, *(f"{n}: {s.reason}" for n, s in (("A", a), ("B", b)) if s.value is None)]
    return "; ".join(missing) or "; ".join(_incomplete(cell)) or None


def _all_set_aside(cell: CellPairs) -> str:
    shared = sum(any(disturbed(one.run) for one in pair.runs) for pair in cell.set_aside)
    if shared == len(cell.set_aside):
        return "others used the server in every pair of runs"
    also = f", and others used the server in {shared} of them" if shared else ""
    return f"no pair of runs had its cache in the declared state{also}"


def _incomplete(cell: CellPairs) -> Iterator[str]:
    for pair in cell.pairs:
        for name, one in zip("AB", pair.runs, strict=True):
            if not one.complete:
                yield (
                    f"{name}, seed {pair.seed}: {one.summary.answered} of {one.run.requested} requests"
                    " answered, fewer than 99 %"
                )
