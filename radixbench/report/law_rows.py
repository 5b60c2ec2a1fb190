"""Rows to draw a law with: some of its requests, its line with a band, and its bend. Milliseconds over computed tokens.

Few of many requests are drawn, from every level of computed tokens the quickest, the slowest and some between, so that
a hundred thousand weigh no more than a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from statistics import fmean
from typing import NamedTuple

from radixbench.metrics.law import Law
from radixbench.report import text
from radixbench.report.model import Row
from radixbench.stats.interval import mean_interval
from radixbench.stats.sample import Absent, Sample

MAX_MARKS = 160
"""About as many requests of an arm are drawn."""
_LEVELS = 20
_LINE_PLACES = 8
_CURVE_PLACES = 24
_MILLISECONDS = 1e3


class Mark(NamedTuple):
    """One request, in the order by which they are sorted; ``foretold`` is what its seed's law says, in seconds."""

    uncached: int
    ttft: float
    cached: int
    seed: int
    foretold: float


def marks(law: Law) -> list[Mark]:
    """The requests to be drawn, by computed tokens."""
    every = sorted(
        Mark(uncached, ttft, cached, seed, line.at(uncached, cached))
        for seed, line in law.lines.items()
        for uncached, cached, ttft in zip(
            line.points.uncached, line.points.cached, line.points.ttft, strict=True
        )
    )
    span = max(law.uncached_high - law.uncached_low, 1)
    levels = [
        list(level)
        for _, level in groupby(every, lambda one: _LEVELS * (one.uncached - law.uncached_low) // span)
    ]
    room = max(MAX_MARKS // max(len(levels), 1), 2)
    return [one for level in levels for one in _thinned(level, room)]


def _thinned(ordered: list[Mark], room: int) -> list[Mark]:
    if len(ordered) <= room:
        return ordered
    return [ordered[place * (len(ordered) - 1) // (room - 1)] for place in range(room)]


def request_rows(law: Law, name: str) -> Iterator[Row]:
    """A row for each drawn request."""
    for one in marks(law):
        found = f", {text.count(one.cached)} cached" if one.cached else ""
        yield {
            "x": one.uncached,
            "y": _rounded(one.ttft * _MILLISECONDS),
            "series": name,
            "tip": f"{text.count(one.uncached)} computed{found}, seed {one.seed}: {text.duration(one.ttft)}",
        }


def residual_rows(law: Law, name: str) -> Iterator[Row]:
    """A row for each drawn request: its time as a multiple of what the law says."""
    for one in marks(law):
        if one.foretold > 0:
            times = one.ttft / one.foretold
            tip = f"{text.count(one.uncached)} computed: {text.factor(times).value} the line"
            yield {"x": one.uncached, "y": _rounded(times), "series": name, "tip": tip}


def line_rows(law: Law, name: str) -> Iterator[Row]:
    """The mean of the seeds' lines, with its interval over seeds where there are several."""
    for x in _places(law, _LINE_PLACES):
        found = mean_interval(Sample([line.at(x) for line in law.lines.values()]), kind="arithmetic")
        if not isinstance(found, Absent):
            low, high = (None if end is None else _drawn(end) for end in (found.low, found.high))
            yield {"x": x, "y": _drawn(found.value), "low": low, "high": high, "series": name, "mark": "line"}


def curve_rows(law: Law, name: str) -> Iterator[Row]:
    """The mean of the seeds' curves; nothing where the law isn't bent."""
    curves = [line.curve for line in law.lines.values() if line.curve is not None]
    if law.is_bent and curves:
        for x in _places(law, _CURVE_PLACES):
            y = _drawn(fmean(curve.at(x) for curve in curves))
            yield {"x": x, "y": y, "series": name, "mark": "curve"}


def _places(law: Law, parts: int) -> list[float]:
    low, high = law.uncached_low, law.uncached_high
    return [_rounded(low + (high - low) * part / parts) for part in range(parts + 1)]


def _drawn(seconds: float) -> float:
    """Milliseconds, not below the axis."""
    return max(_rounded(seconds * _MILLISECONDS), 0.0)


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
