"""Two histograms over one another: filled bars, an outline for each arm, a rule at each median.

Arms differ in colour and in the dash of their outline; the darker filling is of requests that found most of
their prompt cached.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from radixbench.report.distribution import HIT, MISS
from radixbench.report.encodings import arms, data, legend, ticks, tip
from radixbench.report.model import Panel, Row, Slot
from radixbench.report.palette import Palette

_DASHES: dict[Slot, list[int]] = {"a": [1, 0], "b": [5, 3]}
_STROKE: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolOpacity": 1}
_STRONG, _FAINT = 0.5, 0.14
_LABEL_LINE = 15
_RIGHT_FROM = 0.72


def distribution(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Bars, outlines, medians with their figures."""
    x = alt.X(
        "x:Q",
        title=panel.x_title,
        scale=alt.Scale(
            type="log" if panel.log_x else "linear", domain=list(panel.x_domain or (0, 1)), nice=False
        ),
        axis=ticks(panel),
    )
    y = alt.Y(
        "y:Q",
        title=panel.y_title,
        scale=alt.Scale(domain=[0, panel.y_top], nice=False),
        axis=alt.Axis(tickCount=4),
    )
    colour = arms(panel, palette, **_STROKE)
    bars = (
        alt.Chart()
        .mark_rect(aria=False)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour, opacity=_filling(panel, palette), tooltip=tip())
    )
    outline = (
        alt.Chart(data(panel.marks))
        .mark_line(interpolate="step-after", strokeWidth=1.7, aria=False)
        .encode(x=x, y=y, color=colour, strokeDash=_dash(panel))
    )
    return [bars, outline, *_medians(panel, palette, x)]


def _filling(panel: Panel, palette: Palette) -> alt.Opacity:
    """Told apart in the legend of the panel that is asked to."""
    shown = (
        alt.Legend(title=None, orient="top", symbolType="square", symbolFillColor=palette.muted)
        if panel.marks_word
        else None
    )
    return alt.Opacity("part:O", scale=alt.Scale(domain=[HIT, MISS], range=[_STRONG, _FAINT]), legend=shown)


def _dash(panel: Panel) -> alt.StrokeDash:
    dashes = [_DASHES[slot] for slot in panel.slots]
    return alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=list(panel.series), range=dashes), legend=legend(panel, **_STROKE)
    )


def _medians(panel: Panel, palette: Palette, x: alt.X) -> list[Any]:
    """A rule for each arm, its figure on a line of its own at the top."""
    layers: list[Any] = []
    for place, (row, slot) in enumerate(zip(panel.rules, panel.slots, strict=True)):
        colour = palette.a if slot == "a" else palette.b
        base = alt.Chart(data([row])).encode(x=x)
        right = _share(panel, row) > _RIGHT_FROM
        layers += [
            base.mark_rule(color=colour, strokeWidth=1.4, strokeDash=_DASHES[slot], aria=False),
            base.mark_text(
                align="right" if right else "left",
                baseline="top",
                dx=-4 if right else 4,
                fontSize=11,
                fontWeight="bold",
                color=colour,
                aria=False,
            ).encode(y=alt.value(1 + _LABEL_LINE * place), text="label:N"),
        ]
    return layers


def _share(panel: Panel, row: Row) -> float:
    """How far right on its axis a row lies, 0 to 1."""
    low, high = panel.x_domain or (0.0, 1.0)
    at = row["x"]
    assert isinstance(at, int | float)
    return _log_share(at, low, high) if panel.log_x else (at - low) / (high - low)


def _log_share(at: float, low: float, high: float) -> float:
    return math.log(at / low) / math.log(high / low)
