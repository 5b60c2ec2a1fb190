"""The table of factors, and of a single capture's figures: values become text here, once."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.compare.change import Bound, Change, Comparison, Side
from radixbench.compare.family import is_blind, is_withdrawn
from radixbench.compare.gate import gated
from radixbench.compare.side import over_runs
from radixbench.metrics.registry import METRICS, reported
from radixbench.metrics.summary import RunFigure
from radixbench.report import text
from radixbench.report.cells import CellKey, cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import FactorCell, FactorRow, Value
from radixbench.report.words import HEADLINE_METRICS, VERDICT_TONES, VERDICT_WORDS, metric_title

_BOUND_WORDS: dict[Bound, str] = {"upper": "upper bound", "lower": "lower bound"}


def factor_cells(comparison: Comparison, gate: Sequence[str] = HEADLINE_METRICS) -> tuple[FactorCell, ...]:
    """Every change, grouped by cell; cells in the order of their axes, gated rows first.

    Gated rows have the verdict that holds when all of them are judged together, as in the headline.
    """
    together = {(cell_key(row.cell), row.metric): row for row in gated(comparison, gate)}
    groups: dict[CellKey, list[Change]] = {}
    for own in comparison.changes:
        change = together.get((cell_key(own.cell), own.metric), own)
        groups.setdefault(cell_key(change.cell), []).append(change)
    ordered = sorted(groups.values(), key=lambda rows: cell_order(rows[0].cell))
    everywhere = _carried_by_all(comparison)
    compared = comparison.eligible
    return tuple(
        FactorCell(
            title=cell_title(rows[0].cell),
            rows=tuple(
                _row(change, gate, everywhere, compared=compared)
                for change in sorted(rows, key=lambda c: c.metric not in gate)
            ),
        )
        for rows in ordered
    )


def _carried_by_all(comparison: Comparison) -> frozenset[str]:
    """Caveats of the whole comparison: naming them in every row would hide those of one."""
    carried = [frozenset(change.caveats) for change in comparison.changes]
    return frozenset.intersection(*carried) if carried else frozenset()


def _row(change: Change, gate: Sequence[str], everywhere: frozenset[str], *, compared: bool) -> FactorRow:
    verdict = change.verdict
    return FactorRow(
        metric=change.metric,
        title=metric_title(change.metric),
        gated=change.metric in gate,
        a=side(change.a, change.unit),
        b=side(change.b, change.unit),
        factor=_factor(change) if compared else Value(text.MISSING),
        verdict="explains" if verdict is None else VERDICT_WORDS[verdict],
        verdict_note=_verdict_note(change),
        tone="neutral" if verdict is None else VERDICT_TONES[verdict],
        note=_metric_note(change),
        caveats=tuple(code for code in change.caveats if code not in everywhere),
        seen=_seen(change),
        formula=formula(change.metric),
    )


def formula(metric: str) -> str:
    """How a throughput is made, which tools define differently; "" for other figures."""
    known = METRICS.get(metric)
    return known.formula if known is not None and known.unit.endswith("/s") else ""


def side(value: Side, unit: str) -> Value:
    """One arm's figure with its interval over runs, or the reason why there is none."""
    if value.value is None:
        return Value(text.MISSING, note=value.reason or "")
    shown = text.quantity(value.value, unit, value.low, value.high)
    return Value(shown.value, shown.span)


def _factor(change: Change) -> Value:
    if change.factor is not None:
        shown = text.factor(change.factor.value, change.factor.low, change.factor.high)
        return Value(shown.value, shown.span, "" if change.bound is None else _BOUND_WORDS[change.bound])
    if change.difference is not None:
        spread = change.difference
        apart = text.difference(spread.value, change.unit, spread.low, spread.high)
        return Value(apart.value, apart.span)
    return Value(text.MISSING)


def _verdict_note(change: Change) -> str:
    """The effect that would have been seen, or why it is undecided. Why captures are incomparable is said once,
    in the headline, and then no factor is shown.
    """
    if is_withdrawn(change):
        return f"{_own(change)} by itself, which {change.reason}"
    if change.verdict == "within-noise":
        return f"{'only ' if is_blind(change) else ''}{_seen(change)} would show" if _seen(change) else ""
    return change.reason or "" if change.verdict == "undecided" else ""


def _own(change: Change) -> str:
    return "better" if change.factor is not None and change.factor.value > 1 else "worse"


def _seen(change: Change) -> str:
    if change.verdict != "within-noise" or change.detectable is None or is_withdrawn(change):
        return ""
    return f"≥ {text.effect(change.detectable)}"


def _metric_note(change: Change) -> str:
    return _warning(change) or ""


def _warning(change: Change) -> str | None:
    return METRICS[change.metric].warning if change.metric in METRICS else None


def single_cells(evidence: Evidence, gate: Sequence[str] = HEADLINE_METRICS) -> tuple[FactorCell, ...]:
    """Every metric of every cell of one capture, as the mean over its runs with its interval."""
    cells = []
    for cell in evidence.cells():
        runs = evidence.counted(cell)
        rows = [
            _single_row(
                name, [run.figures[name] for run in runs if name in run.figures], gate, evidence.drawn
            )
            for name in (metric.name for metric in reported(runs))
        ]
        cells.append(FactorCell(cell_title(cell), tuple(sorted(rows, key=lambda row: not row.gated))))
    return tuple(cells)


def _single_row(name: str, figures: Sequence[RunFigure], gate: Sequence[str], drawn: float) -> FactorRow:
    estimate = over_runs(figures, METRICS[name], drawn=drawn)
    return FactorRow(
        metric=name,
        title=metric_title(name),
        gated=name in gate,
        a=side(estimate, METRICS[name].unit),
        b=Value(""),
        factor=Value(""),
        verdict="",
        verdict_note="",
        tone="neutral",
        note=f"{text.plural(estimate.n_runs, 'run')}, {text.plural(estimate.n_values, 'value')}",
        caveats=(),
        formula=formula(name),
    )
