"""What the charts of all kinds share: rows as data, colours, the time axis, the text shown on hover."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt

from radixbench.report.model import Panel, Row
from radixbench.report.palette import Palette

_TICKS = 8
_LEGEND_COLUMN, _LONGEST_NAME, _SYMBOL = 125, 320, 34
"""Pixels: what a name in a legend takes at least, may take at most, and what its symbol takes beside it."""
HOVER = "hover"
"""The name of layers that a still picture leaves out."""


def data(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as they are drawn."""
    return alt.InlineData(values=[{k: v for k, v in row.items() if k != "facet"} for row in rows])


def legend(panel: Panel, **style: Any) -> alt.Legend | None:
    """A legend on top, for the panel that carries one and has something to tell apart.

    It has as many columns as its panel has room for, and a name that is too long for one is cut.
    """
    if not panel.legend or len(panel.series) < 2:
        return None
    columns = f"clamp(floor(width / {_LEGEND_COLUMN}), 1, {len(panel.series)})"
    limit = f"min({_LONGEST_NAME}, width / {columns} - {_SYMBOL})"
    return alt.Legend(
        title=None, orient="top", columns=alt.expr(columns), labelLimit=alt.expr(limit), **style
    )


def arms(panel: Panel, palette: Palette, **style: Any) -> alt.Color:
    """Each series in the colour of the arm that it stands for."""
    colours = [getattr(palette, slot) for slot in panel.slots]
    return alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(panel.series), range=colours),
        legend=legend(panel, **style),
    )


def tip() -> alt.Tooltip:
    """The text of a mark."""
    return alt.Tooltip("tip:N")


def time(panel: Panel) -> alt.X:
    """Seconds on the panel's axis, with clock times at its ticks where it has them."""
    domain = list(panel.x_domain) if panel.x_domain else alt.Undefined
    scale = alt.Scale(domain=domain, nice=False)
    return alt.X("t:Q", title=panel.x_title, scale=scale, axis=ticks(panel))


def ticks(panel: Panel, *, grid: bool = False) -> alt.Axis:
    """An axis with the panel's own words at its own places, where it has them."""
    if not panel.x_ticks:
        return alt.Axis(grid=grid, tickCount=_TICKS)
    words = json.dumps({str(round(at * 1000)): word for at, word in panel.x_ticks})
    places = [at for at, _ in panel.x_ticks]
    return alt.Axis(
        grid=grid,
        values=places,
        labelExpr=f"({words})[round(datum.value * 1000)]",
        labelOverlap="greedy",
        labelSeparation=8,
    )
