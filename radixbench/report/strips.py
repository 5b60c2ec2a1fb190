"""When the driver said that clocks were held back: reasons as stretches of time, each with its share of the runs.

Stretches come from samples that carry the reason, and from time counters that grew between two that don't.
A strip draws at most ``MAX_STRETCHES``, shared out among the reasons of each arm and over time, of
neighbours the longest; its title says how many it leaves out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.metrics.residency import timeline
from radixbench.records import GpuSample
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.held import reason_labels
from radixbench.report.model import Panel, Row
from radixbench.telemetry import reasons
from radixbench.units import NS_PER_S

MAX_STRETCHES = 600
_GAP_INTERVALS = 2.5
_LEAST_PART = 0.01

AtSeconds = Callable[[Evidence, Run, int], float]


def reason_panel(
    sides: Sequence[Evidence], at: AtSeconds, device: int, x_title: str, end: float, inset: int
) -> Panel | None:
    """The strip of one device; ``None`` when no reason but "idle" was ever set."""
    rows = [row for side in sides for run in side.capture.runs for row in _stretches(side, run, at, device)]
    if not rows:
        return None
    named = list(dict.fromkeys(str(row["reason"]) for row in rows))
    drawn = _thinned(rows)
    missing = _left_out(len(rows), len(drawn))
    labels = reason_labels(sides, device)
    spoken = text.several([f"{name} ({labels[name]})" if name in labels else name for name in named])
    return Panel(
        key=f"clocks-reasons-{device}",
        kind="reasons",
        title=f"GPU {device}: reasons for lower clocks, as the driver gave them{missing}",
        summary=f"Throttle reasons over time on GPU {device}: {spoken}{missing}.",
        x_title=x_title,
        y_title="reason",
        series=tuple(side.arm.name for side in sides),
        slots=tuple(side.arm.slot for side in sides),
        rows=tuple(drawn),
        marks=tuple({"reason": name, "label": labels[name]} for name in named if name in labels),
        x_domain=(0.0, end),
        inset=inset,
        legend=False,
    )


def _stretches(side: Evidence, run: Run, at: AtSeconds, device: int) -> Iterable[Row]:
    """Neighbouring samples with the same reason, as one stretch that lasts to the next sample."""
    samples = [s for s in run.gpu if s.device == device and s.event_reasons is not None]
    interval = run.telemetry.interval_ns
    seen = {
        name: [s.at_ns for s in samples if name in _shown(s)]
        for name in {n for s in samples for n in _shown(s)}
    }
    counted = _counted(run, device)
    for name in sorted({*seen, *counted}):
        for start, end in _merged(seen.get(name, ()), interval):
            yield _stretch(
                side, run, at, name, (start, end), f"for {text.duration((end - start) / NS_PER_S)}"
            )
        for one in counted.get(name, ()):
            if not _overlaps(one, seen.get(name, ()), interval):
                held, span = one.held_ns / NS_PER_S, (one.end_ns - one.start_ns) / NS_PER_S
                words = f"for {text.duration(held)} of {text.duration(span)}, by the driver's time counter"
                yield _stretch(side, run, at, name, (one.start_ns, one.end_ns), words)


def _stretch(side: Evidence, run: Run, at: AtSeconds, name: str, ends: tuple[int, int], words: str) -> Row:
    return {
        "t": at(side, run, ends[0]),
        "t2": at(side, run, ends[1]),
        "reason": name,
        "series": side.arm.name,
        "tip": f"{side.arm.name}: {name} {words}",
    }


class _Counted(NamedTuple):
    """Between two readings a time counter grew: the card was held back, whether or not a sample saw it."""

    start_ns: int
    end_ns: int
    held_ns: float


def _counted(run: Run, device: int) -> dict[str, list[_Counted]]:
    """For each reason with a counter the stretches between readings in which it grew by more than a hundredth."""
    found: dict[str, list[_Counted]] = {}
    for bit, counter in timeline(run, device).counters.items():
        for start, end in pairwise(counter.times):
            held = counter.between(start, end)
            if held.told_ns and held.held_ns >= _LEAST_PART * held.told_ns:
                found.setdefault(reasons.name_of(bit), []).append(_Counted(start, end, held.held_ns))
    return found


def _overlaps(one: _Counted, moments: Sequence[int], interval: int) -> bool:
    """Whether a sample's own stretch already shows it."""
    place = bisect_left(moments, one.start_ns - interval)
    return place < len(moments) and moments[place] <= one.end_ns


def _thinned(rows: Sequence[Row]) -> Sequence[Row]:
    """As many stretches as a strip takes, in their order: no arm, reason or time vanishes for another's sake."""
    if len(rows) <= MAX_STRETCHES:
        return rows
    groups: dict[tuple[object, object], list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((row["series"], row["reason"]), []).append(place)
    share = MAX_STRETCHES // len(groups)
    kept: set[int] = set()
    for places in groups.values():
        parts = min(share, len(places))
        for i in range(parts):
            part = places[i * len(places) // parts : (i + 1) * len(places) // parts]
            kept.add(max(part, key=lambda place: _length(rows[place])))
    return [row for place, row in enumerate(rows) if place in kept]


def _length(row: Row) -> float:
    start, end = row["t"], row["t2"]
    assert isinstance(start, float)
    assert isinstance(end, float)
    return end - start


def _left_out(found: int, drawn: int) -> str:
    return (
        "" if drawn == found else f" ({text.count(found - drawn)} of {text.count(found)} stretches left out)"
    )


def _shown(sample: GpuSample) -> tuple[str, ...]:
    return reasons.decode((sample.event_reasons or 0) & ~reasons.GPU_IDLE)


def _merged(moments: Sequence[int], interval: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for moment in moments:
        if merged and moment - merged[-1][1] <= (_GAP_INTERVALS - 1) * interval:
            merged[-1] = (merged[-1][0], moment + interval)
        else:
            merged.append((moment, moment + interval))
    return merged
