"""One altair chart for each kind of panel. Rows come ready; nothing is aggregated while drawing.

Every mark carries ``tip``, the text shown on hover. Dense layers are hidden from screen readers, which
get the panel's summary and the figure's table instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from radixbench.report.model import Panel, PanelKind, Row, Slot
from radixbench.report.palette import Palette

_HOVER = "hover"
_STRIP_HEIGHT = 26
_HEIGHTS: dict[PanelKind, int] = {
    "curve": 280,
    "expected": 220,
    "turns": 220,
    "timeline": 130,
    "reasons": _STRIP_HEIGHT,
    "batches": 190,
}
_SHAPES: dict[Slot, str] = {"a": "circle", "b": "square"}


def chart(panel: Panel, palette: Palette, *, hover: bool = True) -> alt.LayerChart | alt.FacetChart:
    """The panel as a layered chart, without width, title and theme.

    Without ``hover``, marks that only serve it are left out: what a still picture needs.
    """
    layers = [layer for layer in _BUILDERS[panel.kind](panel, palette) if hover or layer.name != _HOVER]
    height = _HEIGHTS[panel.kind]
    if panel.kind == "reasons":
        height = _STRIP_HEIGHT * len({(row["reason"], row["series"]) for row in panel.rows})
    return alt.layer(*layers, data=_data(panel.rows)).properties(height=height)


def _data(rows: Sequence[Row]) -> alt.InlineData:
    return alt.InlineData(values=[{k: v for k, v in row.items() if k != "facet"} for row in rows])


def _legend(panel: Panel, **style: Any) -> alt.Legend | None:
    if not panel.legend or len(panel.series) < 2:
        return None
    return alt.Legend(title=None, orient="top", **style)


def _arms(panel: Panel, palette: Palette, **style: Any) -> alt.Color:
    colours = [palette.a if slot == "a" else palette.b for slot in panel.slots]
    return alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(panel.series), range=colours),
        legend=_legend(panel, **style),
    )


def _shape(panel: Panel) -> alt.Shape:
    return alt.Shape(
        "series:N",
        scale=alt.Scale(domain=list(panel.series), range=[_SHAPES[slot] for slot in panel.slots]),
        legend=_legend(panel),
    )


def _tip() -> alt.Tooltip:
    return alt.Tooltip("tip:N")


def _curve(panel: Panel, palette: Palette) -> list[alt.Chart]:
    numeric = not isinstance(panel.rows[0]["x"], str)
    if numeric:
        places = list(dict.fromkeys(place for row in panel.rows if isinstance(place := row["x"], int)))
        axis = alt.Axis(title=panel.x_title, values=places, format=",d", labelOverlap=True, grid=False)
        x = alt.X("x:Q", axis=axis, scale=alt.Scale(nice=False, padding=14))
    else:
        x = alt.X("x:N", title=panel.x_title, axis=alt.Axis(labelAngle=0))
    y = _height(panel)
    line = (
        alt.Chart(_data(panel.marks))
        .mark_line(strokeWidth=2, aria=False)
        .encode(x=x, y=y, color=_arms(panel, palette))
    )
    points = (
        alt.Chart()
        .mark_point(size=64, filled=False, strokeWidth=1.8, opacity=0.95)
        .encode(x=x, y=y, color=_arms(panel, palette), shape=_shape(panel), tooltip=_tip())
    )
    return [line, points]


def _height(panel: Panel) -> alt.Y:
    """A linear axis from 0, or a logarithmic one with ticks at 1, 3, 10, 30, …"""
    if not panel.log_y:
        return alt.Y("y:Q", title=panel.y_title, scale=alt.Scale(zero=True, nice=True))
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
    return _against_expectation(
        panel, palette, alt.X("turn:O", title=panel.x_title, axis=alt.Axis(labelAngle=0)), domain=(0, 100)
    )


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
        .encode(x=x, xOffset=seed, y=y, y2="high:Q", tooltip=_tip())
    )
    point = (
        alt.Chart()
        .mark_point(size=60, filled=True, stroke=palette.paper, strokeWidth=1)
        .encode(x=x, xOffset=seed, y=alt.Y("measured:Q"), color=_arms(panel, palette), tooltip=_tip())
    )
    return [bar, point]


def _time(panel: Panel) -> alt.X:
    domain = list(panel.x_domain) if panel.x_domain else alt.Undefined
    return alt.X(
        "t:Q", title=panel.x_title, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(grid=False)
    )


def _timeline(panel: Panel, palette: Palette) -> list[alt.Chart]:
    colour = _arms(panel, palette, symbolOpacity=1, symbolType="square")
    windows = (
        alt.Chart(_data(panel.marks))
        .mark_rect(opacity=0.13, aria=False)
        .encode(x=_time(panel), x2="t2:Q", color=colour, tooltip=_tip())
    )
    y = alt.Y(
        "y:Q",
        title=panel.y_title,
        scale=alt.Scale(domain=[0, panel.y_top], nice=False),
        axis=alt.Axis(tickCount=4, minExtent=panel.inset),
    )
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.2, interpolate="step-after", aria=False)
        .encode(x=_time(panel), y=y, color=colour, detail="run:N")
    )
    points = (
        alt.Chart(name=_HOVER)
        .mark_point(size=30, filled=True, opacity=0, aria=False)
        .encode(x=_time(panel), y=y, color=colour, tooltip=_tip())
    )
    return [windows, *_rules(panel, palette, y), line, points]


def _rules(panel: Panel, palette: Palette, y: alt.Y) -> list[alt.Chart]:
    if not panel.rules:
        return []
    data = _data(panel.rules)
    rule = alt.Chart(data).mark_rule(strokeDash=[4, 3], color=palette.muted, aria=False).encode(y=y)
    label = (
        alt.Chart(data)
        .mark_text(align="left", baseline="bottom", dx=4, dy=-2, fontSize=10, color=palette.muted, aria=False)
        .encode(y=y, x=alt.value(0), text="label:N")
    )
    return [rule, label]


def _reasons(panel: Panel, palette: Palette) -> list[alt.Chart]:
    strip = (
        alt.Chart()
        .mark_bar(height=alt.RelativeBandSize(band=0.75), aria=False)
        .encode(
            x=_time(panel),
            x2="t2:Q",
            y=alt.Y(
                "reason:N",
                title=panel.y_title,
                axis=alt.Axis(labelLimit=panel.inset - 4, minExtent=panel.inset),
            ),
            yOffset=alt.YOffset("series:N", scale=alt.Scale(domain=list(panel.series))),
            color=_arms(panel, palette),
            tooltip=_tip(),
        )
    )
    return [strip]


def _batches(panel: Panel, palette: Palette) -> list[alt.Chart]:
    top = [0, panel.y_top] if panel.y_top else alt.Undefined
    scale = alt.Scale(domain=list(panel.series), range=[palette.computed, palette.cached])
    legend = _legend(panel)
    bars = (
        alt.Chart()
        .mark_rect(strokeWidth=0.8, aria=False)
        .encode(
            x=_time(panel),
            x2="t2:Q",
            y=alt.Y(
                "y:Q", title=panel.y_title, scale=alt.Scale(domain=top, nice=True), axis=alt.Axis(format=",d")
            ),
            y2="y2:Q",
            fill=alt.Fill("series:N", scale=scale, legend=legend),
            stroke=alt.Stroke("series:N", scale=scale, legend=legend),
            tooltip=_tip(),
        )
    )
    return [bars]


_BUILDERS: dict[PanelKind, Callable[[Panel, Palette], list[Any]]] = {
    "curve": _curve,
    "expected": _expected,
    "turns": _turns,
    "timeline": _timeline,
    "reasons": _reasons,
    "batches": _batches,
}
