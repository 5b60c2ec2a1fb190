"""A metric against an axis of the sweep: every seed of both arms as a point, the mean over seeds as a line.

The axis is the shared length where that varies, else the next that does; a sweep of one cell shows its arms
side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from radixbench.capture.model import CellValue
from radixbench.compare.change import Change, Side
from radixbench.compare.side import over_runs
from radixbench.metrics.registry import METRICS
from radixbench.report import readings, text
from radixbench.report.axes import ARMS, LENGTH, MAX_PANELS, TURNS, Axis, main_axis, place
from radixbench.report.cells import CellKey, arm_cell, cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, FigureKey, Grid, Panel, Row, Slot

MeanKey = tuple[Slot, CellKey, str]
Means = Mapping[MeanKey, Side]

_LOG_FROM = 8.0
_MILLISECONDS = 1e3


class CurveWords(NamedTuple):
    """What a curve is called and how it is read."""

    key: FigureKey
    metric: str
    title: str
    y_title: str
    scale: float
    by_length: tuple[str, ...]
    by_turns: tuple[str, ...]
    by_others: tuple[str, ...]

    def reading(self, axis: Axis) -> tuple[str, ...]:
        """How to read the curve along this axis."""
        return self.by_length if axis is LENGTH else self.by_turns if axis is TURNS else self.by_others


TTFT = CurveWords(
    "ttft",
    "ttft_p50",
    "Time to first token",
    "median time to first token (ms)",
    _MILLISECONDS,
    readings.TTFT,
    readings.TTFT_BY_TURNS,
    readings.TTFT_BY_OTHERS,
)
THROUGHPUT = CurveWords(
    "throughput",
    "output_throughput",
    "Output throughput",
    "output tokens per second",
    1.0,
    readings.THROUGHPUT,
    readings.THROUGHPUT,
    readings.THROUGHPUT,
)


def means_of(side: Evidence) -> Means:
    """The means over all runs of one capture, for a report that compares nothing."""
    found: dict[MeanKey, Side] = {}
    for cell in side.cells():
        runs = side.counted(cell)
        for name in METRICS:
            figures = [run.figures[name] for run in runs if name in run.figures]
            found[side.arm.slot, cell_key(cell), name] = over_runs(figures, METRICS[name], drawn=side.drawn)
    return found


def compared_means(changes: Sequence[Change]) -> Means:
    """The means a comparison's factors are made of: over the paired runs, on both sides."""
    found: dict[MeanKey, Side] = {}
    for change in changes:
        found["a", cell_key(change.cell), change.metric] = change.a
        found["b", cell_key(change.cell), change.metric] = change.b
    return found


def curve(
    words: CurveWords, sides: Sequence[Evidence], means: Means, *, against: Axis | None = None
) -> Figure:
    """One panel for each combination of the other axes; absent when no run has the figure."""
    axis = main_axis([cell for side in sides for cell in side.cells()]) if against is None else against
    title = f"{words.title}, seed by seed" if axis is ARMS else f"{words.title} against {axis.noun}"
    how_to_read = words.reading(axis)
    rows = [row for side in sides for row in _points(words, axis, side)]
    if not rows:
        return Figure(words.key, title, how_to_read, (), absent=_absence(words, sides))
    lines = [row for side in sides for row in _line(words, axis, side, means)]
    facets = list(dict.fromkeys(str(row["facet"]) for row in rows))
    panels = tuple(
        _panel(words, axis, number, facet, _within(rows, facet), _within(lines, facet), sides)
        for number, facet in enumerate(facets[:MAX_PANELS])
    )
    figure = Figure(words.key, title, how_to_read, panels, _grid(words, sides, means))
    left_out = len(facets) - len(panels)
    note = f"{left_out} more {'combination is' if left_out == 1 else 'combinations are'} in the table only."
    return replace(figure, notes=(note,)) if left_out else figure


def _within(rows: Sequence[Row], facet: str) -> list[Row]:
    return [row for row in rows if row["facet"] == facet]


def _points(words: CurveWords, axis: Axis, side: Evidence) -> list[Row]:
    rows: list[Row] = []
    for summary in sorted(side.summaries, key=lambda s: (cell_order(s.cell), s.seed)):
        figure = summary.figures.get(words.metric)
        if figure is None or figure.value is None:
            continue
        x, facet = place(axis, summary.cell, side.arm.name)
        tip = text.quantity(figure.value, METRICS[words.metric].unit).value
        rows.append(
            {
                "x": x,
                "y": _rounded(figure.value * words.scale),
                "series": side.arm.name,
                "facet": facet,
                "tip": f"{arm_cell(side.arm.name, summary.cell)}, seed {summary.seed}: {tip}",
            }
        )
    return rows


def _line(words: CurveWords, axis: Axis, side: Evidence, means: Means) -> list[Row]:
    rows: list[Row] = []
    for cell in side.cells():
        mean = means.get((side.arm.slot, cell_key(cell), words.metric))
        if mean is not None and mean.value is not None:
            x, facet = place(axis, cell, side.arm.name)
            rows.append(
                {"x": x, "y": _rounded(mean.value * words.scale), "series": side.arm.name, "facet": facet}
            )
    return rows


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _panel(
    words: CurveWords,
    axis: Axis,
    number: int,
    facet: str,
    rows: list[Row],
    means: list[Row],
    sides: Sequence[Evidence],
) -> Panel:
    heights = [float(row["y"]) for row in rows if isinstance(row["y"], float)]
    log_y = min(heights) > 0 and max(heights) / min(heights) >= _LOG_FROM
    where = f" ({facet})" if facet else ""
    return Panel(
        key=f"{words.key}-{number}",
        kind="curve",
        title=facet,
        summary=f"{words.title} against {axis.noun}{where}: {_spoken(means)}.",
        x_title=axis.title,
        y_title=f"{words.y_title}{', logarithmic' if log_y else ''}",
        series=tuple(side.arm.name for side in sides),
        slots=tuple(side.arm.slot for side in sides),
        rows=tuple(rows),
        marks=tuple(means),
        log_y=log_y,
    )


def _spoken(means: Sequence[Row]) -> str:
    """The ends of each line in words, for readers who don't see it."""
    parts = []
    for name in dict.fromkeys(str(row["series"]) for row in means):
        ends = [row for row in means if row["series"] == name]
        first, last = ends[0], ends[-1]
        start = f"{name} {_plain(first['y'])} at {_plain(first['x'])}"
        parts.append(start if first is last else f"{start} to {_plain(last['y'])} at {_plain(last['x'])}")
    return "; ".join(parts)


def _plain(value: object) -> str:
    return text.number(float(value)) if isinstance(value, int | float) else str(value)


def _grid(words: CurveWords, sides: Sequence[Evidence], means: Means) -> Grid:
    rows = tuple(_grid_row(words, side, cell, means) for side in sides for cell in side.cells())
    return Grid(("cell", "arm", "mean over seeds (interval)", "each seed"), rows)


def _grid_row(words: CurveWords, side: Evidence, cell: dict[str, CellValue], means: Means) -> tuple[str, ...]:
    unit = METRICS[words.metric].unit
    runs = sorted((s for s in side.summaries if s.cell == cell), key=lambda s: s.seed)
    seeds = [
        f"{run.seed}: {text.quantity(figure.value, unit).value}"
        for run in runs
        if (figure := run.figures.get(words.metric)) is not None and figure.value is not None
    ]
    mean = means.get((side.arm.slot, cell_key(cell), words.metric))
    shown = text.MISSING
    if mean is not None and mean.value is not None:
        shown = text.quantity(mean.value, unit, mean.low, mean.high).whole
    return cell_title(cell), side.arm.name, shown, "; ".join(seeds) or text.MISSING


def _absence(words: CurveWords, sides: Sequence[Evidence]) -> str:
    reasons = {
        figure.reason: None
        for side in sides
        for summary in side.summaries
        if (figure := summary.figures.get(words.metric)) is not None and figure.reason
    }
    return (
        f"There is nothing to draw: {text.several(list(reasons)) if reasons else 'no run has this figure'}."
    )
