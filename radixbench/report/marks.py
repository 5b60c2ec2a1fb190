"""One altair chart for each kind of panel. Rows come ready; nothing is aggregated while drawing.

Every mark carries ``tip``, the text shown on hover. Dense layers are hidden from screen readers, which
get the panel's summary and the figure's table instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import altair as alt

from radixbench.report import bar_marks, distribution_marks, fit_marks, forest_marks, gantt_marks, time_marks
from radixbench.report.encodings import HOVER, arms, data, legend, tip
from radixbench.report.model import Panel, PanelKind, Slot
from radixbench.report.palette import Palette

_HEIGHTS: dict[PanelKind, int] = {
    "curve": 280,
    "expected": 220,
    "turns": 220,
    "distribution": 150,
    "timeline": 130,
    "batches": 190,
    "lines": 130,
}
"""Pixels of kinds whose height doesn't depend on what is in them."""
_SHAPES: dict[Slot, str] = {
    "a": "circle",
    "b": "square",
    "c": "triangle-up",
    "d": "diamond",
    "e": "cross",
    "f": "triangle-down",
    "g": "triangle-right",
    "h": "triangle-left",
}
_DASHES: dict[Slot, list[int]] = {
    "a": [1, 0],
    "b": [1, 0],
    "c": [6, 3],
    "d": [2, 2],
    "e": [9, 3, 2, 3],
    "f": [4, 2],
    "g": [12, 4],
    "h": [2, 4],
}
"""Two lines are told apart by colour and the shape of their points; more of them also by their strokes."""


def chart(panel: Panel, palette: Palette, *, hover: bool = True) -> alt.LayerChart | alt.FacetChart:
    """The panel as a layered chart, without width, title and theme.

    Without ``hover``, marks that only serve it are left out: what a still picture needs.
    """
    layers = [layer for layer in _BUILDERS[panel.kind](panel, palette) if hover or layer.name != HOVER]
    measure = _MEASURED.get(panel.kind)
    height = _HEIGHTS[panel.kind] if measure is None else measure(panel)
    return alt.layer(*layers, data=data(panel.rows)).properties(height=height)


def _shape(panel: Panel) -> alt.Shape:
    return alt.Shape(
        "series:N",
        scale=alt.Scale(domain=list(panel.series), range=[_SHAPES[slot] for slot in panel.slots]),
        legend=legend(panel),
    )


def _curve(panel: Panel, palette: Palette) -> list[alt.Chart]:
    y = _height(panel)
    if isinstance(panel.rows[0]["x"], str):
        words = list(dict.fromkeys(str(row["x"]) for row in panel.rows))
        x: alt.X = alt.X(
            "x:N", title=panel.x_title, scale=alt.Scale(domain=words), axis=alt.Axis(labelAngle=0)
        )
        means = [alt.Chart(data(panel.marks)).mark_tick(thickness=2, size=44, aria=False)]
    else:
        x = _numbers(panel)
        means = list(_lines(panel))
    points = (
        alt.Chart()
        .mark_point(size=64, filled=False, strokeWidth=1.8, opacity=0.95, aria=False)
        .encode(x=x, y=y, color=arms(panel, palette), shape=_shape(panel), tooltip=tip())
    )
    return [*(one.encode(x=x, y=y, color=arms(panel, palette)) for one in means), points]


def _lines(panel: Panel) -> Iterator[alt.Chart]:
    """A line through the means of each arm; where there are more than two, each with a stroke of its own."""
    if len(panel.series) < 3:
        yield alt.Chart(data(panel.marks)).mark_line(strokeWidth=2, aria=False)
        return
    for name, slot in zip(panel.series, panel.slots, strict=True):
        rows = [row for row in panel.marks if row["series"] == name]
        if rows:
            yield alt.Chart(data(rows)).mark_line(strokeWidth=2, strokeDash=_DASHES[slot], aria=False)


def _numbers(panel: Panel) -> alt.X:
    """An axis with a tick at each place that was measured."""
    places = list(dict.fromkeys(x for row in panel.rows if isinstance(x := row["x"], int | float)))
    whole = all(isinstance(x, int) for x in places)
    axis = alt.Axis(
        title=panel.x_title, values=places, format=",d" if whole else ",~r", labelOverlap=True, grid=False
    )
    return alt.X("x:Q", axis=axis, scale=alt.Scale(nice=False, padding=14))


def _height(panel: Panel) -> alt.Y:
    """A linear axis from 0, or a logarithmic one with ticks at 1, 3, 10, 30, …"""
    if not panel.log_y:
        scale = alt.Scale(zero=True, nice=True)
        if panel.y_top is not None:
            scale = alt.Scale(domain=[0, panel.y_top], nice=False)
        return alt.Y("y:Q", title=panel.y_title, scale=scale)
    heights = [float(y) for row in panel.rows if isinstance(y := row["y"], int | float)]
    exponents = range(math.floor(math.log10(min(heights))), math.ceil(math.log10(max(heights))) + 1)
    ticks = [step * 10.0**exponent for exponent in exponents for step in (1, 3)]
    low = max(tick for tick in ticks if tick <= min(heights))
    high = min(tick for tick in ticks if tick >= max(heights))
    return alt.Y(
        "y:Q",
        title=panel.y_title,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            values=[tick for tick in ticks if low <= tick <= high], format="~r" if low < 1 else ",~r"
        ),
    )


def _expected(panel: Panel, palette: Palette) -> list[alt.Chart]:
    cells = list(dict.fromkeys(str(row["cell"]) for row in panel.rows))
    x = alt.X("cell:N", scale=alt.Scale(domain=cells), title=panel.x_title, axis=alt.Axis(labelAngle=0))
    return _against_expectation(panel, palette, x)


def _turns(panel: Panel, palette: Palette) -> list[alt.Chart]:
    x = alt.X("turn:O", title=panel.x_title, axis=alt.Axis(labelAngle=0))
    layers = _against_expectation(panel, palette, x, domain=(0, 100))
    if not panel.marks:
        return layers
    level = (
        alt.Chart(data(panel.marks))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=palette.ink, aria=False)
        .encode(x=alt.X("turn:O", bandPosition=0), x2=alt.X2("turn", bandPosition=1), y="prompt_only:Q")
    )
    return [*layers, level]


def _against_expectation(
    panel: Panel, palette: Palette, x: alt.X, domain: tuple[float, float] | None = None
) -> list[alt.Chart]:
    """A wide bar from low to high, and a mark at what was measured; seeds stand side by side."""
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=True, nice=True)
    seeds = sorted({str(row["seed"]) for row in panel.rows})
    seed = alt.XOffset("seed:N", scale=alt.Scale(domain=seeds, paddingInner=0.4, paddingOuter=0.2))
    y = alt.Y(
        "low:Q",
        title=panel.y_title,
        scale=scale,
        axis=alt.Axis(format=",d") if domain is None else alt.Axis(),
    )
    bar = (
        alt.Chart()
        .mark_bar(stroke=palette.muted, strokeWidth=1, fill=palette.expected, cornerRadius=1, aria=False)
        .encode(x=x, xOffset=seed, y=y, y2="high:Q", tooltip=tip())
    )
    told = [row for row in panel.rows if row["measured"] is not None]
    if not told:
        return [bar]
    point = (
        alt.Chart(data(told))
        .mark_point(size=60, filled=True, stroke=palette.paper, strokeWidth=1, aria=False)
        .encode(x=x, xOffset=seed, y=alt.Y("measured:Q"), color=arms(panel, palette), tooltip=tip())
    )
    return [bar, point]


_BUILDERS: dict[PanelKind, Callable[[Panel, Palette], list[Any]]] = {
    "curve": _curve,
    "expected": _expected,
    "turns": _turns,
    "shortfall": bar_marks.shortfall,
    "distribution": distribution_marks.distribution,
    "fit": fit_marks.fit,
    "forest": forest_marks.forest,
    "gantt": gantt_marks.gantt,
    "timeline": time_marks.timeline,
    "reasons": time_marks.reasons,
    "batches": time_marks.batches,
    "lines": time_marks.lines,
}
_MEASURED: dict[PanelKind, Callable[[Panel], int]] = {
    "reasons": time_marks.strip_height,
    "shortfall": bar_marks.height,
    "fit": fit_marks.height,
    "forest": forest_marks.height,
    "gantt": gantt_marks.height,
}
