"""A metric against shared length: every seed of both arms as a point, the mean over seeds as a line.

A sweep of one shared length and several numbers of turns is drawn against turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from radixbench.capture.model import CellValue
from radixbench.compare.change import Change, Side
from radixbench.metrics.registry import METRICS
from radixbench.report import readings, text
from radixbench.report.cells import CellKey, cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, FigureKey, Grid, Panel, Row, Slot
from radixbench.report.table import mean_side

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


class Axis(NamedTuple):
    """What a curve is drawn against: an axis of the sweep."""

    key: str
    noun: str
    title: str


_LENGTH = Axis("shared_tokens", "shared length", "shared prefix (tokens)")
_TURNS = Axis("turns", "turns", "turns of a conversation")

TTFT = CurveWords(
    "ttft",
    "ttft_p50",
    "Time to first token",
    "median time to first token (ms)",
    _MILLISECONDS,
    readings.TTFT,
    readings.TTFT_BY_TURNS,
)
THROUGHPUT = CurveWords(
    "throughput",
    "output_throughput",
    "Output throughput",
    "output tokens per second",
    1.0,
    readings.THROUGHPUT,
    readings.THROUGHPUT,
)


def means_of(side: Evidence) -> Means:
    """The means over all runs of one capture, for a report that compares nothing."""
    found: dict[MeanKey, Side] = {}
    for cell in side.cells():
        runs = [summary for summary in side.summaries if summary.cell == cell]
        for name in METRICS:
            figures = [run.figures[name] for run in runs if name in run.figures]
            found[side.arm.slot, cell_key(cell), name] = mean_side(figures, METRICS[name].aggregate)
    return found


def compared_means(changes: Sequence[Change]) -> Means:
    """The means a comparison's factors are made of: over the paired runs, on both sides."""
    found: dict[MeanKey, Side] = {}
    for change in changes:
        found["a", cell_key(change.cell), change.metric] = change.a
        found["b", cell_key(change.cell), change.metric] = change.b
    return found


def curve(words: CurveWords, sides: Sequence[Evidence], means: Means) -> Figure:
    """One panel for each combination of the other axes; absent when no run has the figure."""
    axis = _axis(sides)
    title = f"{words.title} against {axis.noun}"
    how_to_read = words.by_turns if axis is _TURNS else words.by_length
    rows = [row for side in sides for row in _points(words, axis, side)]
    if not rows:
        return Figure(words.key, title, how_to_read, (), absent=_absence(words, sides))
    lines = [row for side in sides for row in _line(words, axis, side, means)]
    facets = list(dict.fromkeys(str(row["facet"]) for row in rows))
    panels = tuple(
        _panel(words, axis, place, facet, _within(rows, facet), _within(lines, facet), sides)
        for place, facet in enumerate(facets)
    )
    return Figure(words.key, title, how_to_read, panels, _grid(words, sides, means))


def _within(rows: Sequence[Row], facet: str) -> list[Row]:
    return [row for row in rows if row["facet"] == facet]


def _axis(sides: Sequence[Evidence]) -> Axis:
    cells = [cell for side in sides for cell in side.cells()]
    lengths, turns = ({cell.get(axis.key) for cell in cells} for axis in (_LENGTH, _TURNS))
    return _TURNS if len(lengths) == 1 and len(turns) > 1 else _LENGTH


def _position(axis: Axis, cell: Mapping[str, int | str]) -> tuple[float | str, str]:
    """Where a cell lies: its number on the axis and the title of everything else, or its title alone."""
    place = cell.get(axis.key)
    if not isinstance(place, int):
        return cell_title(cell), ""
    rest = {key: value for key, value in cell.items() if key != axis.key}
    return place, cell_title(rest) if rest else ""


def _points(words: CurveWords, axis: Axis, side: Evidence) -> list[Row]:
    rows: list[Row] = []
    for summary in sorted(side.summaries, key=lambda s: (cell_order(s.cell), s.seed)):
        figure = summary.figures.get(words.metric)
        if figure is None or figure.value is None:
            continue
        x, facet = _position(axis, summary.cell)
        tip = text.quantity(figure.value, METRICS[words.metric].unit).value
        rows.append(
            {
                "x": x,
                "y": _rounded(figure.value * words.scale),
                "series": side.arm.name,
                "facet": facet,
                "tip": f"{side.arm.name}, {cell_title(summary.cell)}, seed {summary.seed}: {tip}",
            }
        )
    return rows


def _line(words: CurveWords, axis: Axis, side: Evidence, means: Means) -> list[Row]:
    rows: list[Row] = []
    for cell in side.cells():
        mean = means.get((side.arm.slot, cell_key(cell), words.metric))
        if mean is not None and mean.value is not None:
            x, facet = _position(axis, cell)
            rows.append(
                {"x": x, "y": _rounded(mean.value * words.scale), "series": side.arm.name, "facet": facet}
            )
    return rows


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _panel(
    words: CurveWords,
    axis: Axis,
    place: int,
    facet: str,
    rows: list[Row],
    means: list[Row],
    sides: Sequence[Evidence],
) -> Panel:
    heights = [float(row["y"]) for row in rows if isinstance(row["y"], float)]
    log_y = min(heights) > 0 and max(heights) / min(heights) >= _LOG_FROM
    numeric = not isinstance(rows[0]["x"], str)
    where = f" ({facet})" if facet else ""
    return Panel(
        key=f"{words.key}-{place}",
        kind="curve",
        title=facet,
        summary=f"{words.title} against {axis.noun}{where}: {_spoken(means)}.",
        x_title=axis.title if numeric else "cell",
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
