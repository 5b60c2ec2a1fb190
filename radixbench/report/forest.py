"""Every cell's factors on one axis: how many times better, how sure, and on which side of no effect.

Only what a comparison concluded is drawn; nothing is computed anew. A row that has no verdict stays in the
picture, hollow and with its reason, so that what is missing is seen too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.compare.change import Change
from radixbench.compare.family import is_withdrawn
from radixbench.report import readings, text
from radixbench.report.cells import cell_order, cell_title
from radixbench.report.model import Figure, Grid, Panel, Row
from radixbench.report.words import HEADLINE_METRICS, VERDICT_WORDS, metric_title

MAX_CELLS = 24
"""Rows of a panel; what is beyond is in the table."""

_TITLE = "Factors by cell"
_MARGIN = 1.12
_LEAST_SPAN = 1.2
_FEW_TICKS = 7
_FEW_REASONS = 3
_FINE = (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2)
_MIDDLE = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
_COARSE = tuple(step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5))
_BOUND_WORDS = {"upper": "upper bound", "lower": "lower bound"}
_HEADER = ("cell", "metric", "factor", "interval", "verdict", "bound", "reason")


def forest_figure(
    changes: Sequence[Change],
    threshold: float,
    gate: Sequence[str] = HEADLINE_METRICS,
    domain: tuple[float, float] | None = None,
) -> Figure:
    """A panel for each metric of the gate; ``threshold`` is the relative effect that a verdict needs.

    ``domain`` is the axis's, for figures that are to be compared by eye; it follows from the changes otherwise.
    """
    shown = [
        (metric, sorted((c for c in changes if c.metric == metric), key=lambda c: cell_order(c.cell)))
        for metric in dict.fromkeys(gate)
    ]
    shown = [(metric, rows) for metric, rows in shown if rows]
    if not shown:
        absent = "The captures have no cell in common: there is no factor to draw."
        return Figure("forest", _TITLE, readings.FOREST, (), absent=absent)
    grid = Grid(_HEADER, tuple(_grid_row(change) for _, rows in shown for change in rows))
    if all(change.factor is None for _, rows in shown for change in rows):
        absent = f"No cell has a factor: {_why_none([change for _, rows in shown for change in rows])}."
        return Figure("forest", _TITLE, readings.FOREST, (), grid, absent=absent)
    if domain is None:
        domain = common_domain([change for _, rows in shown for change in rows[:MAX_CELLS]], threshold)
    panels = tuple(_panel(metric, rows[:MAX_CELLS], threshold, domain) for metric, rows in shown)
    left_out = max(len(rows) for _, rows in shown) - MAX_CELLS
    notes = (f"{text.plural(left_out, 'more cell')} in the table only.",) if left_out > 0 else ()
    return Figure("forest", _TITLE, readings.FOREST, panels, grid, notes=notes)


def _why_none(changes: Sequence[Change]) -> str:
    """The reasons of rows without a factor, each once."""
    reasons = list(dict.fromkeys(change.reason for change in changes if change.reason))
    return "; ".join(reasons[:_FEW_REASONS]) or "no figure is known on both sides"


def common_domain(changes: Sequence[Change], threshold: float) -> tuple[float, float]:
    """From the least to the greatest end of an interval, with 1 and the threshold inside."""
    ends = [1.0 - threshold, 1.0 + threshold, 1 / _LEAST_SPAN, _LEAST_SPAN]
    for change in changes:
        factor = change.factor
        if factor is not None:
            ends += [end for end in (factor.low, factor.value, factor.high) if end is not None]
    drawable = [end for end in ends if end > 0 and math.isfinite(end)]
    return min(drawable) / _MARGIN, max(drawable) * _MARGIN


def _ticks(domain: tuple[float, float]) -> tuple[tuple[float, str], ...]:
    low, high = domain
    fine = high / low < 2.0
    steps = _FINE if fine else _MIDDLE if high / low < 4.0 else _COARSE
    inside = [tick for tick in steps if low <= tick <= high]
    if len(inside) > _FEW_TICKS:
        inside = [tick for tick in inside if (round(10 * tick, 6) if fine else math.log10(tick)).is_integer()]
    return tuple((round(tick, 6), f"{tick:,.6g}×") for tick in inside)


def _panel(metric: str, changes: Sequence[Change], threshold: float, domain: tuple[float, float]) -> Panel:
    name = metric_title(metric)
    return Panel(
        key=f"forest-{metric.replace('_', '-')}",
        kind="forest",
        title=name,
        summary=f"Factors of {name} by cell: {'; '.join(_spoken(change) for change in changes)}.",
        x_title="times better (logarithmic)",
        y_title="",
        series=(),
        slots=(),
        rows=tuple(_row(change, domain) for change in changes),
        marks=({"t": 1 - threshold, "t2": 1 + threshold, "tip": _band(threshold)},),
        rules=({"x": 1.0},),
        x_domain=domain,
        x_ticks=_ticks(domain),
    )


def _band(threshold: float) -> str:
    return f"closer to 1 than the threshold of {text.share(threshold)}: too small for a verdict"


def _row(change: Change, domain: tuple[float, float]) -> Row:
    factor = change.factor
    return {
        "cell": cell_title(change.cell),
        "value": None if factor is None else _within(factor.value, domain),
        "low": None if factor is None or factor.low is None else _within(factor.low, domain),
        "high": None if factor is None or factor.high is None else _within(factor.high, domain),
        "verdict": change.verdict or "undecided",
        "bound": change.bound or "",
        "label": _label(change),
        "tip": f"{cell_title(change.cell)}: {_told(change)}",
    }


def _within(value: float, domain: tuple[float, float]) -> float:
    """A logarithmic axis has no place for 0 and none for what never ends: they lie at its edges."""
    return float(f"{min(max(value, domain[0]), domain[1]):.5g}")


def _verdict(change: Change) -> str:
    return VERDICT_WORDS[change.verdict or "undecided"]


def _label(change: Change) -> str:
    """What stands above the interval: the figure, the verdict, and the reason where there is none."""
    value = "" if change.factor is None else f"{text.factor(change.factor.value).value} "
    bound = f", {_BOUND_WORDS[change.bound]}" if change.bound else ""
    decided = change.verdict in {"better", "worse", "within-noise"}
    reason = f": {change.reason}" if change.reason and (not decided or is_withdrawn(change)) else ""
    return f"{value}{_verdict(change)}{bound}{reason}"


def _interval(change: Change) -> str:
    factor = change.factor
    if factor is None:
        return ""
    return text.factor(factor.value, factor.low, factor.high).span


def _told(change: Change) -> str:
    span = _interval(change)
    label = _label(change)
    if change.factor is None or not span:
        return label
    value, rest = label.split(" ", 1)
    return f"{value} ({span}, at {text.share(change.factor.level)}) {rest}"


def _spoken(change: Change) -> str:
    return f"{cell_title(change.cell)} {_told(change)}"


def _grid_row(change: Change) -> tuple[str, ...]:
    value = text.MISSING if change.factor is None else text.factor(change.factor.value).value
    bound = _BOUND_WORDS[change.bound] if change.bound else text.MISSING
    return (
        cell_title(change.cell),
        metric_title(change.metric),
        value,
        _interval(change) or text.MISSING,
        _verdict(change),
        bound,
        change.reason or text.MISSING,
    )
