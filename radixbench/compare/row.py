"""One row: a metric in a cell, both sides, the factor between them and what may be concluded.

A side's value is the mean over the paired runs (geometric; arithmetic where the metric says so), so
that the factor is exactly the ratio of the two; its interval comes from the paired log-ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from radixbench.compare.arm import ArmRun
from radixbench.compare.bound import Paces
from radixbench.compare.change import Change, Factor, Side, Spread
from radixbench.compare.pairing import CellPairs
from radixbench.compare.power import power
from radixbench.compare.side import over_runs
from radixbench.compare.verdict import JUDGED, MIN_PAIRS, Verdict, conclude
from radixbench.findings.alone import disturbed
from radixbench.metrics.definition import Metric
from radixbench.stats.interval import LEVEL, paired_difference, paired_ratio
from radixbench.stats.sample import Absent

ONE_RUN = "both sides are the same runs, which say nothing of each other"
NO_QUALITY = "explains the other figures, is no quality of its own"


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all rows: why no verdict is allowed, if so, and the smallest effect that counts.

    ``like_modes``: both arms have the same cache mode. ``drawn`` is the level of Student's t that intervals are drawn at. ``unlike_metrics`` says of metrics that mean something else on
    either side why no verdict is allowed on them alone.
    """

    forbidden: str | None
    threshold: float
    like_modes: bool
    drawn: float = LEVEL
    unlike_metrics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Figures:
    """One metric's pairs of which both sides have the figure, and why others lack it."""

    pairs: tuple[tuple[int, float, float], ...]
    absent: tuple[str, ...]


def change(cell: CellPairs, metric: Metric, paces: Paces, terms: Terms) -> Change:
    """The row of one metric in one cell, without its caveats."""
    figures = _figures(cell, metric)
    paired = {seed for seed, _, _ in figures.pairs}
    a, b = (_side(runs, paired, metric, terms.drawn) for runs in (cell.a_runs, cell.b_runs))
    factor = None if metric.better is None else _factor(figures, a, b, metric, terms.drawn)
    verdict = None
    if metric.better is not None and (terms.like_modes or not metric.like_modes_only):
        verdict = conclude(
            factor,
            forbidden=terms.forbidden or terms.unlike_metrics.get(metric.name),
            obstacle=_obstacle(cell, figures, a, b),
            n_pairs=len(figures.pairs),
            threshold=terms.threshold,
        )
    alpha = 1.0 - terms.drawn
    judged = _has_power(verdict, figures)
    shown = power(figures.pairs, threshold=terms.threshold, alpha=alpha) if judged else None
    return Change(
        cell=dict(cell.key),
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        a=a,
        b=b,
        factor=factor,
        difference=_difference(figures, terms.drawn) if metric.better is None else None,
        verdict=None if verdict is None else verdict.name,
        detectable=shown.detectable
        if shown is not None and verdict is not None and verdict.name == "within-noise"
        else None,
        bound=None if factor is None or factor.value == 1.0 else paces.bound,
        reason=_reason(metric, verdict, figures),
        caveats=(),
        pairs=figures.pairs,
        power=shown,
        alpha=alpha,
        threshold=terms.threshold,
    )


def _figures(cell: CellPairs, metric: Metric) -> _Figures:
    pairs: list[tuple[int, float, float]] = []
    absent: dict[str, list[tuple[str, int]]] = {}
    for pair in cell.pairs:
        a, b = (one.summary.figures[metric.name] for one in pair.runs)
        if a.value is not None and b.value is not None:
            pairs.append((pair.seed, a.value, b.value))
        for side, figure in zip(cell.sides, (a, b), strict=True):
            if figure.value is None:
                absent.setdefault(f"{figure.reason}", []).append((side, pair.seed))
    return _Figures(tuple(pairs), tuple(_lacking(cell, reason, where) for reason, where in absent.items()))


def _lacking(cell: CellPairs, reason: str, where: Sequence[tuple[str, int]]) -> str:
    """The reason and who lacks the figure for it: a side by its letter alone where all its seeds do."""
    told: dict[str, None] = {}
    for side, seed in where:
        seeds = sum(name == side for name, _ in where)
        told[side if seeds == len(cell.pairs) > 1 else f"{side} seed {seed}"] = None
    return f"{reason} ({', '.join(told)})"


def _side(runs: Sequence[ArmRun], paired: set[int], metric: Metric, drawn: float) -> Side:
    """The mean over the paired runs; where none is paired, over what the side has."""
    figures = [one.summary.figures[metric.name] for one in runs if not paired or one.run.seed in paired]
    return over_runs(figures, metric, drawn=drawn)


def _factor(figures: _Figures, a: Side, b: Side, metric: Metric, drawn: float) -> Factor | None:
    """How many times better A is: A over B where higher is better, B over A where lower is."""
    pairs = _oriented(figures, metric)
    estimate = paired_ratio(pairs, level=drawn)
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


def _difference(figures: _Figures, drawn: float) -> Spread | None:
    estimate = paired_difference([(a, b) for _, a, b in figures.pairs], level=drawn)
    return None if isinstance(estimate, Absent) else Spread(estimate.value, estimate.low, estimate.high)


def _has_power(verdict: Verdict | None, figures: _Figures) -> bool:
    """Rows that were judged, and those that only lack pairs: how many more it takes is worth telling."""
    if verdict is None:
        return False
    return verdict.name in JUDGED or (verdict.name == "undecided" and len(figures.pairs) < MIN_PAIRS)


def _reason(metric: Metric, verdict: Verdict | None, figures: _Figures) -> str | None:
    """Why there is no verdict or no figure, else how the figure is easily misread."""
    if verdict is None:
        why = NO_QUALITY if metric.better is None else metric.warning or NO_QUALITY
        return "; ".join((why, *figures.absent))
    return metric.warning if verdict.reason is None else verdict.reason


def _obstacle(cell: CellPairs, figures: _Figures, a: Side, b: Side) -> str | None:
    """What keeps the row from a verdict before any number is looked at."""
    for name, runs in zip(cell.sides, (cell.a_runs, cell.b_runs), strict=True):
        if not runs:
            return f"{name} has no run of this cell"
    if not cell.all_pairs:
        return "no seed in common"
    if not cell.pairs:
        return _all_set_aside(cell)
    if any(pair.is_one_run for pair in cell.pairs):
        return ONE_RUN
    named = zip(cell.sides, (a, b), strict=True)
    # A side without any figure has its reason among the absent ones already.
    missing = [*figures.absent, *(f"{n}: {s.reason}" for n, s in named if s.value is None and s.n_runs)]
    return "; ".join(missing) or "; ".join(_incomplete(cell)) or _zero(cell, figures)


def _zero(cell: CellPairs, figures: _Figures) -> str | None:
    """A figure that was measured and is 0 leaves no ratio."""
    zero = [
        f"{name} seed {seed}"
        for side, name in enumerate(cell.sides)
        for seed, *values in figures.pairs
        if values[side] == 0.0
    ]
    return f"it is 0, which leaves no factor ({', '.join(zero)})" if zero else None


def _all_set_aside(cell: CellPairs) -> str:
    shared = sum(any(disturbed(one.run) for one in pair.runs) for pair in cell.set_aside)
    if shared == len(cell.set_aside):
        return "others used the server in every pair of runs"
    also = f", and others used the server in {shared} of them" if shared else ""
    return f"no pair of runs had its cache in the declared state{also}"


def _incomplete(cell: CellPairs) -> Iterator[str]:
    for pair in cell.pairs:
        for name, one in zip(cell.sides, pair.runs, strict=True):
            if not one.complete:
                yield (
                    f"{name}, seed {pair.seed}: {one.summary.answered} of {one.run.requested} requests"
                    " answered, fewer than 99 %"
                )
