"""Requests as lanes: a thin line while waiting, a tall bar up to the first token, a low one up to the last.

What was cached colours the tall bar, and its filling tells it without colour: a request that found nothing is
hollow. A cross ends a request that failed.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from radixbench.report.encodings import data, legend, time, tip
from radixbench.report.model import Panel, Row
from radixbench.report.palette import Palette
from radixbench.report.reused import MOSTLY, NOTHING, PARTLY, SHARES, UNKNOWN

_LEAST, _MOST, _WHOLE = 6, 16, 360
_TALL, _LOW = 0.78, 0.3


def height(panel: Panel) -> int:
    """Pixels for all lanes, thinner ones where there are many."""
    lanes = max(int(panel.y_top or 1), 1)
    return max(lanes * min(max(_WHOLE // lanes, _LEAST), _MOST), 48)


def gantt(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Decoding below, then waiting, the way to the first token, and failures on top."""
    lane = height(panel) / max(panel.y_top or 1.0, 1.0)
    x = time(panel)
    answered = [row for row in panel.rows if row["end"] != row["first"]]
    late = [row for row in panel.rows if row["send"] != row["t"]]
    failed = [row for row in panel.rows if row["failed"]]
    first = (
        alt.Chart()
        .mark_bar(height=_TALL * lane, strokeWidth=1, aria=False)
        .encode(
            x=_at(x, "send"),
            x2="first:Q",
            y=_lane(panel),
            fill=alt.Fill("series:N", scale=_scale(panel, _fills(palette)), legend=_legend(panel)),
            stroke=alt.Stroke("series:N", scale=_scale(panel, _strokes(palette)), legend=_legend(panel)),
            tooltip=tip(),
        )
    )
    layers: list[Any] = [first]
    if answered:
        decoding = alt.Chart(data(answered)).mark_bar(height=_LOW * lane, color=palette.muted, aria=False)
        layers.insert(0, decoding.encode(x=_at(x, "first"), x2="end:Q", y=_lane(panel), tooltip=tip()))
    if late:
        waiting = alt.Chart(data(late)).mark_rule(strokeDash=[2, 2], color=palette.ink, aria=False)
        layers.append(waiting.encode(x=_at(x, "t"), x2="send:Q", y=_lane(panel), tooltip=tip()))
    return [*layers, *_failures(panel, palette, x, failed)]


def _failures(panel: Panel, palette: Palette, x: alt.X, failed: list[Row]) -> list[alt.Chart]:
    if not failed:
        return []
    cross = alt.Chart(data(failed)).mark_text(
        text="✕", fontSize=12, fontWeight="bold", color=palette.evicted, aria=False
    )
    return [cross.encode(x=_at(x, "end"), y=_lane(panel), tooltip=tip())]


def _at(x: alt.X, field: str) -> alt.X:
    """The time axis, for another moment of a request."""
    other = x.copy()
    other.shorthand = f"{field}:Q"
    return other


def _lane(panel: Panel) -> alt.Y:
    top = max(panel.y_top or 1.0, 1.0)
    scale = alt.Scale(domain=[-0.6, top - 0.4], nice=False, reverse=True)
    axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    return alt.Y("lane:Q", title=panel.y_title, scale=scale, axis=axis)


def _scale(panel: Panel, colours: dict[str, str]) -> alt.Scale:
    return alt.Scale(domain=_met(panel), range=[colours[name] for name in _met(panel)])


def _met(panel: Panel) -> list[str]:
    return [name for name in SHARES if any(row["series"] == name for row in panel.rows)]


def _legend(panel: Panel) -> alt.Legend | None:
    return legend(panel, symbolType="square")


def _fills(palette: Palette) -> dict[str, str]:
    return {MOSTLY: palette.cached, PARTLY: palette.raced, NOTHING: palette.paper, UNKNOWN: palette.expected}


def _strokes(palette: Palette) -> dict[str, str]:
    return {MOSTLY: palette.cached, PARTLY: palette.raced, NOTHING: palette.ink, UNKNOWN: palette.muted}
