"""A log over time as panels that share one axis: tokens, hit rate, load, pools, output, and what happened.

Above ``MAX_BARS`` windows are added up for the drawing, which says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from radixbench.metrics.log_summary.model import LogSummary, Window
from radixbench.report import text
from radixbench.report.logs import traces
from radixbench.report.logs.moments import Moment, moments
from radixbench.report.logs.numbers import clock_span
from radixbench.report.logs.stretches import stretched
from radixbench.report.logs.time_axis import TimeAxis, time_axis
from radixbench.report.model import Figure, Panel, PanelKind, Row

MAX_BARS = 240
_LEAST_INSET, _MOST_INSET, _LETTER = 52, 130, 6
_MARKS = "event"
_TITLE = "The log over time"
_READING = {
    "tokens": (
        "A bar holds the prompt tokens of the prefill lines in one window: the computed ones below, those from "
        "the cache on top. Cached over both is the window's hit rate, drawn below it together with the rate of "
        "all windows so far, which ends at the log's own."
    ),
    "own-rate": (
        "The hit rate is the one that the server prints over a window of its own: it lags behind what happens, and no "
        "part of it can be told apart."
    ),
    "events": (
        "Dotted upright lines and the strip of events mark what happened: after a flush or a restart the cache is "
        "empty and has to be filled again; a retraction means that the pool ran out and a request was sent back."
    ),
    "pools": (
        "A hit rate that falls while a pool is full points to eviction: what the next request needed had left the "
        "cache. A queue that grows while pools stay low points elsewhere."
    ),
}


class Drawing(NamedTuple):
    """What all panels of one log share."""

    anchor: str
    windows: tuple[Window, ...]
    axis: TimeAxis
    happened: tuple[Moment, ...]

    @property
    def inset(self) -> int:
        """Pixels for the longest word left of a plot."""
        longest = max((len(moment.name) for moment in self.happened), default=0)
        return min(max(_LETTER * longest, _LEAST_INSET), _MOST_INSET)

    def panel(self, key: str, kind: PanelKind, trace: traces.Trace) -> Panel:
        """One panel on the shared axis."""
        marks: tuple[Row, ...] = tuple({"t": moment.at, "tip": moment.tip} for moment in self.happened)
        return Panel(
            key=f"{self.anchor}{key}",
            kind=kind,
            title=trace.title,
            summary=trace.summary,
            x_title=self.axis.title,
            y_title="",
            series=trace.series,
            slots=("a",) if kind == "reasons" else (),
            rows=trace.rows,
            marks=() if kind == "reasons" else marks,
            x_domain=(0.0, self.axis.end),
            y_top=trace.y_top,
            inset=self.inset,
            x_ticks=self.axis.ticks,
        )


def timeline(summary: LogSummary, anchor: str = "") -> Figure:
    """The figure of one log; ``anchor`` begins the keys of its panels, so that several logs may share a page."""
    if not summary.windows:
        return Figure("timeline", _TITLE, (), (), absent="No line that is counted has a time.")
    windows, of = stretched(summary.windows, MAX_BARS)
    axis = time_axis(windows)
    drawing = Drawing(anchor, windows, axis, moments(summary, windows, axis))
    panels = tuple(_panels(summary, drawing))
    if drawing.happened:
        panels = (replace(panels[0], marks_word=_MARKS), *panels[1:]) if panels[0].marks else panels
    step = "bar or step" if any(panel.kind == "batches" for panel in panels) else "step"
    note = f"Each {step} covers {clock_span(windows[0].length_s)} of the log"
    note += f": up to {of} windows of {clock_span(summary.windows[0].length_s)} each." if of > 1 else "."
    return Figure("timeline", _TITLE, tuple(_reading(panels, anchor)), panels, notes=(note,))


def _reading(panels: Sequence[Panel], anchor: str) -> Iterator[str]:
    """How to read what is drawn, and nothing else."""
    drawn = {panel.key.removeprefix(anchor) for panel in panels}
    if "tokens" in drawn:
        yield _READING["tokens"]
    elif "hit-rate" in drawn:
        yield _READING["own-rate"]
    if "events" in drawn:
        yield _READING["events"]
    if {"hit-rate", "pools"} <= drawn:
        yield _READING["pools"]


def _panels(summary: LogSummary, drawing: Drawing) -> Iterator[Panel]:
    windows, axis = drawing.windows, drawing.axis
    found: tuple[tuple[str, PanelKind, traces.Trace | None], ...] = (
        (
            "tokens",
            "batches",
            traces.tokens(windows, axis) if summary.prefill.new_tokens is not None else None,
        ),
        ("hit-rate", "lines", traces.hit_rate(windows, axis)),
        ("load", "lines", traces.load(windows, axis)),
        ("pools", "lines", traces.pools(windows, axis)),
        ("output", "lines", traces.output(windows, axis)),
        ("events", "reasons", _strip(drawing.happened)),
    )
    for key, kind, trace in found:
        if trace is not None and trace.rows:
            yield drawing.panel(key, kind, trace)


def _strip(happened: Sequence[Moment]) -> traces.Trace | None:
    """A strip for each kind of event."""
    if not happened:
        return None
    counts: dict[str, int] = {}
    for moment in happened:
        counts[moment.name] = counts.get(moment.name, 0) + moment.n
    told = text.several([f"{text.count(n)} {name}" for name, n in counts.items()])
    rows: list[Row] = [
        {"t": moment.at, "t2": moment.end, "reason": moment.name, "series": "events", "tip": moment.tip}
        for moment in happened
    ]
    return traces.Trace("Events", f"Events over time: {told}.", ("events",), tuple(rows))
