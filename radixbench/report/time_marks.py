"""Charts over time: readings as stepped lines, reasons and events as strips, tokens as stacked bars."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from radixbench.report.encodings import HOVER, arms, data, legend, time, tip
from radixbench.report.model import Panel
from radixbench.report.palette import Palette

_STRIP_HEIGHT, _LINE_HEIGHT, _MARGIN = 26, 13, 8
_LETTERS = 16
"""So many fit beside a strip on a phone, of a name of one line."""

_DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])


def timeline(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """A stepped line for each arm's runs, before the shaded stretches in which they ran."""
    colour = arms(panel, palette, symbolOpacity=1, symbolType="square")
    windows = (
        alt.Chart(data(panel.marks))
        .mark_rect(opacity=0.13, aria=False)
        .encode(x=time(panel), x2="t2:Q", color=colour, tooltip=tip())
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
        .encode(x=time(panel), y=y, color=colour, detail="run:N")
    )
    points = (
        alt.Chart(name=HOVER)
        .mark_point(size=30, filled=True, opacity=0, aria=False)
        .encode(x=time(panel), y=y, color=colour, tooltip=tip())
    )
    return [windows, *_rules(panel, palette, y), line, points]


def _rules(panel: Panel, palette: Palette, y: alt.Y) -> list[alt.Chart]:
    if not panel.rules:
        return []
    rows = data(panel.rules)
    rule = alt.Chart(rows).mark_rule(strokeDash=[4, 3], color=palette.muted, aria=False).encode(y=y)
    label = (
        alt.Chart(rows)
        .mark_text(align="left", baseline="bottom", dx=4, dy=-2, fontSize=10, color=palette.muted, aria=False)
        .encode(y=y, x=alt.value(0), text="label:N")
    )
    return [rule, label]


def reasons(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """A strip for each reason or event; arms lie above one another within it."""
    strip = (
        alt.Chart()
        .mark_bar(height=alt.RelativeBandSize(band=0.75), aria=False)
        .encode(
            x=time(panel),
            x2="t2:Q",
            y=alt.Y(
                "reason:N",
                title=panel.y_title or None,
                axis=alt.Axis(
                    labelLimit=panel.inset - 4,
                    minExtent=panel.inset,
                    labelExpr=_in_lines(panel),
                    labelOffset=-_LINE_HEIGHT if panel.marks else 0,
                ),
            ),
            yOffset=alt.YOffset("series:N", scale=alt.Scale(domain=list(panel.series))),
            color=arms(panel, palette),
            tooltip=tip(),
        )
    )
    return [strip]


def strip_height(panel: Panel) -> int:
    """Pixels for every arm's stretches, and for what the axis writes."""
    reasons_drawn = {str(row["reason"]) for row in panel.rows}
    written = _lines(panel)
    text = max((len(written.get(name, [name])) for name in reasons_drawn), default=1) * _LINE_HEIGHT + _MARGIN
    return max(
        _STRIP_HEIGHT * len({(row["reason"], row["series"]) for row in panel.rows}), text * len(reasons_drawn)
    )


def _in_lines(panel: Panel) -> str:
    """The axis writes what the marks say of a reason below its name."""
    return f"{json.dumps(_lines(panel), ensure_ascii=False)}[datum.label] || datum.label"


def _lines(panel: Panel) -> dict[str, list[str]]:
    """A reason's name, its shares and what they are shares of, each on lines of its own."""
    found = {}
    for mark in panel.marks:
        shares, of, whole = str(mark["label"]).partition(" of ")
        found[str(mark["reason"])] = [*_broken(str(mark["reason"])), shares, f"{of}{whole}".strip()]
    return found


def _broken(name: str) -> list[str]:
    """In two where it is too long for one line, at the space that leaves the shortest lines."""
    words = name.split()
    if len(name) <= _LETTERS or len(words) < 2:
        return [name]
    halves = ([" ".join(words[:at]), " ".join(words[at:])] for at in range(1, len(words)))
    return min(halves, key=lambda lines: max(map(len, lines)))


def batches(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Computed tokens with cached ones on top, as wide as they took."""
    top = [0, panel.y_top] if panel.y_top else alt.Undefined
    scale = alt.Scale(domain=list(panel.series), range=[palette.computed, palette.cached])
    shown = legend(panel)
    axis = alt.Axis(format=",d", minExtent=panel.inset) if panel.inset else alt.Axis(format=",d")
    bars = (
        alt.Chart()
        .mark_rect(strokeWidth=0.8, aria=False)
        .encode(
            x=time(panel),
            x2="t2:Q",
            y=alt.Y("y:Q", title=panel.y_title or None, scale=alt.Scale(domain=top, nice=True), axis=axis),
            y2="y2:Q",
            fill=alt.Fill("series:N", scale=scale, legend=shown),
            stroke=alt.Stroke("series:N", scale=scale, legend=shown),
            tooltip=tip(),
        )
    )
    return [*_moments(panel, palette), bars]


def lines(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Stepped lines that colour and dashes tell apart, with a gap where nothing is known."""
    places = range(len(panel.series))
    colours = [palette.a, palette.b, palette.cached, palette.computed]
    domain = list(panel.series)
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=domain, range=[colours[place % len(colours)] for place in places]),
        legend=legend(panel, symbolType="stroke", symbolStrokeWidth=2.5),
    )
    dash = alt.StrokeDash(
        "series:N",
        scale=alt.Scale(domain=domain, range=[_DASHES[place % len(_DASHES)] for place in places]),
        legend=legend(panel, symbolType="stroke", symbolStrokeWidth=2.5),
    )
    y = alt.Y(
        "y:Q",
        title=panel.y_title or None,
        scale=alt.Scale(domain=[0, panel.y_top], nice=False),
        axis=alt.Axis(tickCount=4, minExtent=panel.inset),
    )
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.6, interpolate="step-after", aria=False)
        .encode(x=time(panel), y=y, color=colour, strokeDash=dash, detail="run:N")
    )
    points = (
        alt.Chart(name=HOVER)
        .mark_point(size=40, filled=True, opacity=0, aria=False)
        .encode(x=time(panel), y=y, color=colour, tooltip=tip())
    )
    return [*_moments(panel, palette), line, *_lone(panel, y, colour), points]


def _lone(panel: Panel, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """A point where a line is too short to be seen."""
    rows = [row for row in panel.rows if row.get("lone")]
    if not rows:
        return []
    points = alt.Chart(data(rows)).mark_point(size=16, filled=True, opacity=1, aria=False)
    return [points.encode(x=time(panel), y=y, color=colour)]


def _moments(panel: Panel, palette: Palette) -> list[Any]:
    """Thin upright lines where something happened."""
    if not panel.marks:
        return []
    rules = (
        alt.Chart(data([{**row, "mark": panel.marks_word} for row in panel.marks]))
        .mark_rule(strokeDash=[3, 3], strokeWidth=1, opacity=0.7, color=palette.muted, aria=False)
        .encode(x=time(panel), tooltip=tip())
    )
    return [rules.encode(opacity=_named(panel, palette)) if panel.marks_word else rules]


def _named(panel: Panel, palette: Palette) -> alt.Opacity:
    """A legend entry of their own for upright lines; opacity is a scale that nothing else uses."""
    return alt.Opacity(
        "mark:O",
        scale=alt.Scale(domain=[panel.marks_word], range=[0.7]),
        legend=alt.Legend(
            title=None,
            orient="top",
            symbolType="stroke",
            symbolDash=[3, 3],
            symbolStrokeColor=palette.muted,
            symbolStrokeWidth=1.5,
        ),
    )
