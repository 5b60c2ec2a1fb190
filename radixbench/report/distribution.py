"""How times to first token are spread over requests: both arms of a cell over one another, all seeds together.

The picture is a histogram, whose size doesn't depend on how many requests there are; the table's quantiles are
exact. Requests that found most of their prompt cached are told apart, since hits and misses make two humps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from radixbench.capture.model import CellValue
from radixbench.metrics.latency import ttft
from radixbench.report import readings, text
from radixbench.report.cells import cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row
from radixbench.report.reused import MOSTLY, reused
from radixbench.stats.bins import bins
from radixbench.stats.quantile import quantile
from radixbench.stats.sample import Absent, Sample

MAX_PANELS = 6
BINS = 36
HIT, MISS = "mostly cached", "others"

_LOG_FROM = 5.0
_HEADROOM = 1.45
_ROOM = 0.03
_MS = 1e3
_TITLE = "Distribution of time to first token"
_HEADER = (
    "cell",
    "arm",
    "requests",
    "p50",
    "p90",
    "p99",
    "mostly cached",
    "their p50",
    "others",
    "their p50",
)


class Spread(NamedTuple):
    """An arm's times in one cell, in seconds and in order, apart by whether most of the prompt was cached."""

    side: Evidence
    hits: list[float]
    misses: list[float]

    @property
    def times(self) -> list[float]:
        """All of them, in order."""
        return sorted(self.hits + self.misses)


def distribution_figure(sides: Sequence[Evidence]) -> Figure:
    """A panel for each cell, ``MAX_PANELS`` at most, spread over the order of the cells."""
    cells = {cell_title(cell): cell for side in sides for cell in side.cells()}
    ordered = sorted(cells.values(), key=cell_order)
    spreads = [(cell, [one for side in sides if (one := _spread(side, cell))]) for cell in ordered]
    spreads = [(cell, found) for cell, found in spreads if found]
    if not spreads:
        absent = "No request was answered, so there is no time to first token to draw."
        return Figure("distribution", _TITLE, readings.DISTRIBUTION, (), absent=absent)
    drawn = _some(spreads)
    panels = tuple(_panel(place, cell, found) for place, (cell, found) in enumerate(drawn))
    if any(one.hits for _, found in drawn for one in found):
        panels = (replace(panels[0], marks_word=HIT), *panels[1:])
    left_out = len(spreads) - len(drawn)
    notes = (f"{text.plural(left_out, 'more cell')} in the table only.",) if left_out else ()
    grid = Grid(_HEADER, tuple(_grid_row(cell, one) for cell, found in spreads for one in found))
    return Figure("distribution", _TITLE, readings.DISTRIBUTION, panels, grid, notes=notes)


def _spread(side: Evidence, cell: dict[str, CellValue]) -> Spread | None:
    hits: list[float] = []
    misses: list[float] = []
    for answers in side.answers:
        if answers.run.cell == cell:
            for request in answers.timed:
                (hits if reused(request) == MOSTLY else misses).append(ttft(request))
    return Spread(side, sorted(hits), sorted(misses)) if hits or misses else None


Cells = list[tuple[dict[str, CellValue], list[Spread]]]


def _some(spreads: Cells) -> Cells:
    """The first, the last and some between."""
    if len(spreads) <= MAX_PANELS:
        return spreads
    places = [round(i * (len(spreads) - 1) / (MAX_PANELS - 1)) for i in range(MAX_PANELS)]
    return [spreads[place] for place in places]


def _panel(place: int, cell: dict[str, CellValue], found: Sequence[Spread]) -> Panel:
    times = [1e3 * time for one in found for time in one.times]
    log = min(times) > 0 and max(times) / min(times) >= _LOG_FROM
    edges = _edges(times, log)
    rows = tuple(row for one in found for row in _bars(one, edges))
    outlines = tuple(point for one in found for point in _outline(one, edges))
    domain = _padded(edges, log)
    return Panel(
        key=f"distribution-{place}",
        kind="distribution",
        title=cell_title(cell),
        summary=f"Distribution of time to first token, {cell_title(cell)}: {_spoken(found)}.",
        x_title=f"time to first token (ms{', logarithmic' if log else ''})",
        y_title="% of requests",
        series=tuple(one.side.arm.name for one in found),
        slots=tuple(one.side.arm.slot for one in found),
        rows=rows,
        marks=outlines,
        rules=tuple(_median(one) for one in found),
        log_x=log,
        x_domain=domain,
        y_top=_HEADROOM * max(float(y) for point in outlines if isinstance(y := point["y"], int | float)),
        x_ticks=_ticks(domain) if log else (),
        legend=place == 0,
    )


def _edges(times: Sequence[float], log: bool) -> tuple[float, ...]:
    """Bins over both arms, in ms; values that are all alike get one of some width."""
    found = bins(times, BINS, log=log)
    assert not isinstance(found, Absent)
    low, high = found.edges[0], found.edges[-1]
    return found.edges if low < high else (0.95 * low, 1.05 * low) if low > 0 else (0.0, 1.0)


def _padded(edges: Sequence[float], log: bool) -> tuple[float, float]:
    """A little room at both ends, so that no outline lies on an axis."""
    low, high = edges[0], edges[-1]
    if log:
        room = (high / low) ** _ROOM
        return low / room, high * room
    return low - _ROOM * (high - low), high + _ROOM * (high - low)


def _counts(times: Sequence[float], edges: Sequence[float]) -> list[int]:
    """How many of the times, which are in order and in seconds, each bin holds.

    None lies below the first edge, which rounding may lift above the least of them.
    """
    places = [0, *(bisect_left(times, edge / _MS) for edge in edges[1:-1])]
    return [end - start for start, end in zip(places, [*places[1:], len(times)], strict=True)]


def _bars(one: Spread, edges: Sequence[float]) -> Iterator[Row]:
    """Misses below, hits on top of them."""
    of = len(one.hits) + len(one.misses)
    bottoms = [0.0] * (len(edges) - 1)
    for name, times in ((MISS, one.misses), (HIT, one.hits)):
        for place, count in enumerate(_counts(times, edges)):
            if count:
                top = bottoms[place] + 100 * count / of
                between = f"{text.number(edges[place])}–{text.number(edges[place + 1])} ms"
                yield {
                    "x": _rounded(edges[place]),
                    "x2": _rounded(edges[place + 1]),
                    "y": _rounded(bottoms[place]),
                    "y2": _rounded(top),
                    "series": one.side.arm.name,
                    "part": name,
                    "tip": f"{one.side.arm.name}, {between}: {text.count(count)} of {text.count(of)}, {name}",
                }
                bottoms[place] = top


def _outline(one: Spread, edges: Sequence[float]) -> Iterator[Row]:
    """The arm's whole histogram as a stepped line that begins and ends on the ground."""
    times = one.times
    heights = [100 * count / len(times) for count in _counts(times, edges)]
    held = [place for place, height in enumerate(heights) if height]
    name = one.side.arm.name
    yield {"x": _rounded(edges[held[0]]), "y": 0.0, "series": name}
    last: float | None = None
    for place in range(held[0], held[-1] + 1):
        if heights[place] != last:
            yield {"x": _rounded(edges[place]), "y": _rounded(heights[place]), "series": name}
        last = heights[place]
    yield {"x": _rounded(edges[held[-1] + 1]), "y": _rounded(heights[held[-1]]), "series": name}
    yield {"x": _rounded(edges[held[-1] + 1]), "y": 0.0, "series": name}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _median(one: Spread) -> Row:
    at = _quantile(one.times, 0.5)
    return {
        "x": _rounded(_MS * at),
        "series": one.side.arm.name,
        "label": f"{one.side.arm.slot.upper() + ' ' if one.side.arm.slot else ''}{text.duration(at)}",
    }


def _quantile(times: Sequence[float], q: float) -> float:
    found = quantile(Sample(times), q)
    assert not isinstance(found, Absent)
    return found


def _ticks(domain: tuple[float, float]) -> tuple[tuple[float, str], ...]:
    """1, 2 and 5 of each decade, or 1 alone where there are many."""
    low, high = domain
    steps = (1, 2, 5) if high / low < 2e3 else (1,)
    found = [step * 10.0**power for power in range(-6, 9) for step in steps]
    return tuple((tick, text.number(tick, 0 if tick >= 1 else None)) for tick in found if low <= tick <= high)


def _spoken(found: Sequence[Spread]) -> str:
    return "; ".join(
        f"{one.side.arm.name} median {text.duration(_quantile(one.times, 0.5))}, "
        f"p99 {text.duration(_quantile(one.times, 0.99))} of {text.plural(len(one.times), 'request')}"
        for one in found
    )


def _grid_row(cell: dict[str, CellValue], one: Spread) -> tuple[str, ...]:
    times = one.times
    return (
        cell_title(cell),
        one.side.arm.name,
        text.count(len(times)),
        *(text.duration(_quantile(times, q)) for q in (0.5, 0.9, 0.99)),
        text.count(len(one.hits)),
        text.duration(_quantile(one.hits, 0.5)) if one.hits else text.MISSING,
        text.count(len(one.misses)),
        text.duration(_quantile(one.misses, 0.5)) if one.misses else text.MISSING,
    )
