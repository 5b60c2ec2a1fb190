"""When the driver said that clocks were held back: reasons as stretches of time, and how much of it.

A strip draws at most ``MAX_STRETCHES``, shared out among the reasons of each arm and over time, of
neighbours the longest; its title says how many it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from radixbench.capture.model import Run
from radixbench.records import GpuSample
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.model import Panel, Row
from radixbench.telemetry import reasons

MAX_STRETCHES = 600
_GAP_INTERVALS = 2.5

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
    return Panel(
        key=f"clocks-reasons-{device}",
        kind="reasons",
        title=f"GPU {device}: reasons for lower clocks, as the driver gave them{missing}",
        summary=f"Throttle reasons over time on GPU {device}: {text.several(named)}{missing}.",
        x_title=x_title,
        y_title="reason",
        series=tuple(side.arm.name for side in sides),
        slots=tuple(side.arm.slot for side in sides),
        rows=tuple(drawn),
        x_domain=(0.0, end),
        inset=inset,
        legend=False,
    )


def _stretches(side: Evidence, run: Run, at: AtSeconds, device: int) -> Iterable[Row]:
    """Neighbouring samples with the same reason, as one stretch that lasts to the next sample."""
    samples = [s for s in run.gpu if s.device == device and s.event_reasons is not None]
    interval = run.telemetry.interval_ns
    for name in sorted({n for s in samples for n in _shown(s)}):
        for start, end in _merged([s.at_ns for s in samples if name in _shown(s)], interval):
            yield {
                "t": at(side, run, start),
                "t2": at(side, run, end),
                "reason": name,
                "series": side.arm.name,
                "tip": f"{side.arm.name}: {name} for {text.duration((end - start) / 1e9)}",
            }


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


def throttle_notes(sides: Sequence[Evidence], devices: Sequence[int]) -> tuple[str, ...]:
    """How much of each arm's time the card was held back, in words, for every device."""
    return tuple(_note(side, device, len(devices) > 1) for device in devices for side in sides)


def _note(side: Evidence, device: int, several: bool) -> str:
    where = f"{side.arm.name}{f', GPU {device}' if several else ''}"
    samples = [s for run in side.capture.runs for s in run.gpu if s.device == device]
    told = [s.event_reasons for s in samples if s.event_reasons is not None]
    if not told:
        return f"{where}: the device doesn't tell why clocks fall, so throttling is unknown."
    held = [mask for mask in told if mask & reasons.THROTTLING]
    if not held:
        return f"{where}: no throttle reason was set in any of {text.plural(len(told), 'sample')}."
    named = list(dict.fromkeys(n for mask in held for n in reasons.decode(mask & reasons.THROTTLING)))
    share = text.percent(len(held) / len(told))
    return f"{where}: held back in {share} of {text.plural(len(told), 'sample')} ({text.several(named)})."
