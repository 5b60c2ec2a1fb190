"""A forest plot: a row for each cell with its interval, its point, and what is concluded written above it.

Verdicts differ by shape and filling as well as by colour. A bound is an arrow at the end towards which the
true factor may lie.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from radixbench.report.encodings import data, ticks, tip
from radixbench.report.model import Panel, Row
from radixbench.report.palette import Palette

_SHAPES = {
    "better": "triangle-up",
    "worse": "triangle-down",
    "within-noise": "circle",
    "undecided": "circle",
    "incomparable": "cross",
}
_HOLLOW = ("undecided", "incomparable")
_ROW, _LINE = 46, 15
_LABEL_LIMIT = 150
_LINES = "split(datum.label, ', ')"


def height(panel: Panel) -> int:
    """Pixels for all rows; a cell's title has a line for each of its axes."""
    lines = max(str(row["cell"]).count(", ") + 1 for row in panel.rows)
    return len(panel.rows) * max(_ROW, _LINE * (lines + 1))


def forest(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """The band that is too small for a verdict, the rule of no effect, then the rows."""
    band = (
        alt.Chart(data(panel.marks))
        .mark_rect(color=palette.expected, opacity=0.4, aria=False)
        .encode(x=_along(panel, "t:Q"), x2="t2:Q", tooltip=tip())
    )
    rule = (
        alt.Chart(data(panel.rules))
        .mark_rule(color=palette.ink, strokeWidth=1.2, aria=False)
        .encode(x=_along(panel, "x:Q"))
    )
    return [band, rule, *_rows(panel, palette)]


def _along(panel: Panel, field: str) -> alt.X:
    """A place on the panel's logarithmic axis, which is the same whatever there is to draw on it."""
    scale = alt.Scale(type="log", domain=list(panel.x_domain or (0.5, 2.0)), nice=False)
    return alt.X(field, title=panel.x_title, scale=scale, axis=ticks(panel, grid=True))


def _rows(panel: Panel, palette: Palette) -> list[Any]:
    y, colour = _cells(panel), _colour(palette)
    ends = alt.Chart().mark_rule(strokeWidth=2.5, aria=False)
    interval = ends.encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour, tooltip=tip())
    point = alt.Chart().encode(x=_along(panel, "value:Q"), y=y, color=colour, shape=_shape(), tooltip=tip())
    placed = [row for row in panel.rows if row["value"] is not None]
    layers = (
        (interval, [row for row in placed if row["low"] is not None]),
        (
            point.mark_point(size=90, filled=True, opacity=1),
            [row for row in placed if row["verdict"] not in _HOLLOW],
        ),
        (
            point.mark_point(size=90, filled=True, fill=palette.paper, strokeWidth=1.8, opacity=1),
            [row for row in placed if row["verdict"] in _HOLLOW],
        ),
    )
    drawn = [layer.properties(data=data(rows)) for layer, rows in layers if rows]
    return [*_labels(palette, y), *drawn, *_arrows(panel, y, colour)]


def _labels(palette: Palette, y: alt.Y) -> list[Any]:
    """A line of words above each interval, on a strip of paper that no rule, grid or band runs through."""
    line = (
        alt.Chart()
        .mark_rule(strokeWidth=_LINE + 2, color=palette.paper, yOffset=-_LINE, aria=False)
        .encode(x=alt.value(0), x2=alt.value("width"), y=y)
    )
    words = (
        alt.Chart()
        .mark_text(
            align="left",
            baseline="middle",
            dx=3,
            dy=-_LINE,
            fontSize=11,
            limit=alt.expr("width - 6"),
            color=palette.ink,
            aria=False,
        )
        .encode(x=alt.value(0), y=y, text="label:N")
    )
    return [line, words]


def _cells(panel: Panel) -> alt.Y:
    cells = list(dict.fromkeys(str(row["cell"]) for row in panel.rows))
    lines = max(cell.count(", ") for cell in cells)
    axis = alt.Axis(
        labelExpr=_LINES,
        labelLineHeight=_LINE,
        labelOffset=-_LINE * lines / 2,
        labelLimit=_LABEL_LIMIT,
        labelFontSize=12,
        ticks=False,
        domain=False,
    )
    return alt.Y("cell:N", title=None, scale=alt.Scale(domain=cells), axis=axis)


def _colour(palette: Palette) -> alt.Color:
    colours = {"better": palette.cached, "worse": palette.evicted}
    return alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(_SHAPES), range=[colours.get(name, palette.muted) for name in _SHAPES]),
        legend=None,
    )


def _shape() -> alt.Shape:
    return alt.Shape(
        "verdict:N", scale=alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values())), legend=None
    )


def _arrows(panel: Panel, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """Towards smaller factors for an upper bound, towards greater ones for a lower bound."""
    arrows = []
    for bound, end, sign, offset in (("upper", "low", "◄", -7), ("lower", "high", "►", 7)):
        rows: list[Row] = [
            {**row, "end": row["value"] if row[end] is None else row[end]}
            for row in panel.rows
            if row["bound"] == bound and row["value"] is not None
        ]
        if rows:
            mark = alt.Chart(data(rows)).mark_text(text=sign, dx=offset, fontSize=13, aria=False)
            arrows.append(mark.encode(x=alt.X("end:Q"), y=y, color=colour, tooltip=tip()))
    return arrows
