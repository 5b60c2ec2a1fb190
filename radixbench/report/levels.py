"""The hit rate against how many requests are in flight, and whether the pool was full meanwhile.

A rate that falls with concurrency, while the pool has room, is lost to requests that race for each other's
prefixes; with a full pool it is lost to eviction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from radixbench.metrics.figure import Pressure, RunSummary
from radixbench.report import readings, text
from radixbench.report.axes import CONCURRENCY, RATE, Axis, place, varies
from radixbench.report.cells import CellKey, cell_key, cell_title, shown_value
from radixbench.report.curves import CurveWords, Means, curve
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid

_FELL = 0.1
_WORDS = CurveWords(
    "levels",
    "hit_rate",
    "Hit rate",
    "hit rate (% of prompt tokens)",
    100.0,
    readings.LEVELS,
    readings.LEVELS,
    readings.LEVELS,
)


def levels_figure(sides: Sequence[Evidence], means: Means) -> Figure | None:
    """Against concurrency, or else the request rate; ``None`` where neither varies or no cache was on.

    Cells without any reuse are in the table alone.
    """
    on = [side for side in sides if "on" in side.modes]
    cells = [cell for side in on for cell in side.cells()]
    axis = next((axis for axis in (CONCURRENCY, RATE) if varies(axis, cells)), None)
    if axis is None:
        return None
    figure = curve(_WORDS, on, means, against=axis)
    panels = tuple(
        replace(panel, y_top=100.0) for panel in figure.panels if any(row["y"] for row in panel.rows)
    )
    absent = "" if panels else figure.absent or "Nothing was reused in any cell."
    notes = (*figure.notes, *(note for side in on for note in _falls(side, axis, means)))
    return replace(figure, panels=panels, grid=_grid(on, means), notes=notes, absent=absent)


def _rate(side: Evidence, cell: dict[str, int | float | str], means: Means) -> float | None:
    mean = means.get((side.arm.slot, cell_key(cell), _WORDS.metric))
    return None if mean is None else mean.value


def _falls(side: Evidence, axis: Axis, means: Means) -> Iterator[str]:
    """Where the rate at the highest level lies more than 10 points below that at the lowest."""
    lines: dict[str, list[CellKey]] = {}
    by_key = {cell_key(cell): cell for cell in side.cells()}
    for key, cell in by_key.items():
        lines.setdefault(place(axis, cell, side.arm.name).facet, []).append(key)
    for facet, keys in lines.items():
        told = [(by_key[key], rate) for key in keys if (rate := _rate(side, by_key[key], means)) is not None]
        if len(told) < 2 or told[0][1] - told[-1][1] <= _FELL:
            continue
        (first, high), (last, low) = told[0], told[-1]
        where = f", {facet}" if facet else ""
        yield (
            f"{side.arm.name}{where}: the hit rate fell with {axis.noun}, from {text.percent(high)} at "
            f"{shown_value(first[axis.key])} to {text.percent(low)} at {shown_value(last[axis.key])}."
        )


def _grid(sides: Sequence[Evidence], means: Means) -> Grid:
    rows = []
    for side in sides:
        for cell in side.cells():
            runs = [summary for summary in side.summaries if summary.cell == cell]
            mean = means.get((side.arm.slot, cell_key(cell), _WORDS.metric))
            rate = text.MISSING
            if mean is not None and mean.value is not None:
                rate = text.quantity(mean.value, "ratio", mean.low, mean.high).whole
            rows.append((cell_title(cell), side.arm.name, rate, *_room(runs)))
    header = ("cell", "arm", "hit rate (interval)", "peak usage of the pool", "evicted tokens", "retractions")
    return Grid(header, tuple(rows))


def _room(runs: Sequence[RunSummary]) -> tuple[str, str, str]:
    rooms = [run.cache.pressure for run in runs if run.cache.pressure is not None]
    usage = [room.peak_usage for room in rooms if room.peak_usage is not None]
    return (
        text.percent(max(usage)) if usage else text.MISSING,
        _most(rooms, "evicted_tokens"),
        _most(rooms, "retractions"),
    )


def _most(rooms: Sequence[Pressure], name: str) -> str:
    """The most in one run: witnesses and runs aren't added up."""
    known = [value for room in rooms if (value := getattr(room, name)) is not None]
    return text.count(max(known)) if known else text.MISSING
