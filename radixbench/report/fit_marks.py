"""Points with a line through them, or what is left of the points once the line is taken out."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from radixbench.report.encodings import arms, data, legend, tip
from radixbench.report.model import Panel, Slot
from radixbench.report.palette import Palette

_SHAPES: dict[Slot, str] = {"a": "circle", "b": "square"}
_LINES, _RESIDUALS = 280, 130
_MANY_STEPS = 5


def height(panel: Panel) -> int:
    """Residuals are a smaller picture."""
    return _LINES if panel.marks else _RESIDUALS


def fit(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Bands and lines under the points, and a rule where residuals have none."""
    x = alt.X(
        "x:Q",
        title=panel.x_title,
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(format=",d", grid=False, tickCount=6),
    )
    y = _multiples(panel) if panel.log_y else _heights(panel)
    points = (
        alt.Chart()
        .mark_point(size=22, filled=False, strokeWidth=1.1, opacity=0.55, aria=False)
        .encode(x=x, y=y, color=arms(panel, palette, symbolOpacity=1), shape=_shape(panel), tooltip=tip())
    )
    return [*_rules(panel, palette, y), *_fitted(panel, palette, x, y), points]


def _shape(panel: Panel) -> alt.Shape:
    return alt.Shape(
        "series:N",
        scale=alt.Scale(domain=list(panel.series), range=[_SHAPES[slot] for slot in panel.slots]),
        legend=legend(panel, symbolOpacity=1),
    )


def _fitted(panel: Panel, palette: Palette, x: alt.X, y: alt.Y) -> list[Any]:
    colour = arms(panel, palette, symbolOpacity=1)
    line = [row for row in panel.marks if row["mark"] == "line"]
    curve = [row for row in panel.marks if row["mark"] == "curve"]
    layers: list[Any] = []
    banded = [row for row in line if row["low"] is not None]
    if banded:
        band = alt.Chart(data(banded)).mark_area(opacity=0.16, line=False, aria=False)
        layers.append(band.encode(x=x, y=alt.Y("low:Q", title=panel.y_title), y2="high:Q", color=colour))
    if line:
        layers.append(
            alt.Chart(data(line)).mark_line(strokeWidth=2.2, aria=False).encode(x=x, y=y, color=colour)
        )
    if curve:
        dashed = alt.Chart(data(curve)).mark_line(strokeWidth=1.6, strokeDash=[5, 4], aria=False)
        layers.append(dashed.encode(x=x, y=y, color=colour))
    return layers


def _rules(panel: Panel, palette: Palette, y: alt.Y) -> list[Any]:
    if not panel.rules:
        return []
    rule = alt.Chart(data(panel.rules)).mark_rule(color=palette.muted, strokeWidth=1.2, aria=False)
    return [rule.encode(y=y)]


def _heights(panel: Panel) -> alt.Y:
    return alt.Y(
        "y:Q",
        title=panel.y_title,
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(format=",~r", minExtent=panel.inset),
    )


def _multiples(panel: Panel) -> alt.Y:
    """Twice and half as much equally far from 1."""
    found = [float(row["y"]) for row in panel.rows if isinstance(row["y"], int | float)] or [1.0]
    low = min(math.floor(math.log2(min(found))), -1)
    high = max(math.ceil(math.log2(max(found))), 1)
    step = -(-(high - low) // _MANY_STEPS)
    ticks = [2.0**power for power in range(low, high + 1) if power % step == 0]
    return alt.Y(
        "y:Q",
        title=panel.y_title,
        scale=alt.Scale(type="log", base=2, domain=[2.0**low, 2.0**high], nice=False),
        axis=alt.Axis(values=ticks, labelExpr="format(datum.value, '~r') + '×'", minExtent=panel.inset),
    )
