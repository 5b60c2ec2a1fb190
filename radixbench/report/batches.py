"""The scheduler's prefill batches in one run: computed against cached tokens.

Above ``MAX_BATCHES`` batches are added up in equal stretches of time, and the axis says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radixbench.records import StepRecord
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.model import Panel, Row

MAX_BATCHES = 250
SERIES = ("computed", "cached")
_NS = 1e9


class Bar(NamedTuple):
    """Tokens of one batch, or of a stretch of batches, in seconds since the origin of the figure's axis."""

    start: float
    end: float
    computed: int
    cached: int
    batches: int


def bars_of(steps: Sequence[StepRecord], origin_ns: int) -> list[Bar]:
    """A bar for each prefill step, or for each of equal stretches where there are too many."""
    bars = [
        Bar((s.start_ns - origin_ns) / _NS, (s.end_ns - origin_ns) / _NS, s.new_tokens, s.cached_tokens, 1)
        for s in steps
        if s.phase == "prefill"
    ]
    return bars if len(bars) <= MAX_BATCHES else _stretched(bars)


def _stretched(bars: Sequence[Bar]) -> list[Bar]:
    first = bars[0].start
    width = (bars[-1].end - first) / (MAX_BATCHES // 2)
    groups: dict[int, list[Bar]] = {}
    for bar in bars:
        groups.setdefault(int((bar.start - first) / width), []).append(bar)
    return [
        Bar(
            first + place * width,
            first + (place + 1) * width,
            sum(bar.computed for bar in group),
            sum(bar.cached for bar in group),
            len(group),
        )
        for place, group in sorted(groups.items())
    ]


def batches_panel(
    side: Evidence, bars: Sequence[Bar], *, x_title: str, end: float, top: float, inset: int
) -> Panel:
    """The bars of one arm; ``top`` is the end of a scale that all arms share."""
    computed, cached = sum(bar.computed for bar in bars), sum(bar.cached for bar in bars)
    batches = sum(bar.batches for bar in bars)
    title = (
        f"{side.arm.name}: {text.plural(batches, 'prefill batch', 'prefill batches')}, "
        f"{text.count(computed)} tokens computed, {text.count(cached)} cached"
    )
    binned = any(bar.batches > 1 for bar in bars)
    return Panel(
        key=f"scheduler-batches-{side.arm.slot}",
        kind="batches",
        title=title,
        summary=f"Prefill batches over time, {title}.",
        x_title=x_title,
        y_title=f"tokens in batches of {text.duration(bars[0].end - bars[0].start)}"
        if binned
        else "tokens in the batch",
        series=SERIES,
        slots=(),
        rows=tuple(row for bar in bars for row in _bar_rows(bar)),
        x_domain=(0.0, end),
        y_top=top,
        inset=inset,
    )


def _bar_rows(bar: Bar) -> list[Row]:
    tip = (
        f"{text.duration(bar.end - bar.start)}: {text.count(bar.computed)} computed, {text.count(bar.cached)} cached"
        + (f", {bar.batches} batches" if bar.batches > 1 else "")
    )
    base: Row = {"t": round(bar.start, 4), "t2": round(bar.end, 4), "tip": tip}
    levels = ((0, bar.computed, "computed"), (bar.computed, bar.computed + bar.cached, "cached"))
    return [{**base, "y": low, "y2": high, "series": name} for low, high, name in levels if high > low]
