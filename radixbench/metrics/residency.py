"""How much of any window of a run a card was held back, by reason: the run's window, or one request's.

The driver's time counters tell it to the nanosecond and miss nothing; reasons without one, and stretches in which a
counter was reset, are told by samples of the reasons' bits. Reasons overlap, so their shares mustn't be added up: held
back by any of them is the samples' own union, kept between the largest single reason and the sum of all.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from radixbench.capture.model import Run
from radixbench.metrics.held_time import TimeCounter, time_counter
from radixbench.records import GpuSample
from radixbench.telemetry.reasons import GPU_IDLE, THROTTLING, decode, name_of

Source = Literal["counters", "samples"]

COUNTED: Mapping[str, int] = {
    "power_cap_ns": 0x004,
    "sync_boost_ns": 0x010,
    "sw_thermal_ns": 0x020,
    "hw_thermal_ns": 0x040,
    "power_brake_ns": 0x080,
}
"""The reason that each time counter of a sample counts."""

_IN_FORCE_INTERVALS = 2.5
_THROTTLING_NAMES = frozenset(decode(THROTTLING))


@dataclass(frozen=True, slots=True)
class Residency:
    """One device in one window. Shares 0 to 1 of reasons that occurred; ``sources`` names those that were looked for.

    ``throttled`` is the share of time held back by any reason that makes the card slower than asked for, ``None`` where
    nothing tells; ``source`` is where the largest such reason comes from. ``samples`` lie in the window, and ``resets``
    of a counter fell into it: those stretches are told by samples.
    """

    device: int
    shares: dict[str, float]
    sources: dict[str, Source]
    throttled: float | None
    source: Source | None
    samples: int
    resets: int


@dataclass(frozen=True, slots=True)
class ReasonTimeline:
    """Everything one device's samples of a run say about reasons, ready to be asked for many windows."""

    device: int
    interval_ns: int
    times: tuple[int, ...]
    masks: tuple[int, ...]
    counters: Mapping[int, TimeCounter]

    def residency(self, start_ns: int, end_ns: int) -> Residency:
        """The window's shares; a window without a sample is told by the reading that was in force when it began."""
        inside = self.masks[bisect_left(self.times, start_ns) : bisect_right(self.times, end_ns)]
        masks = inside or self._in_force(start_ns)
        shares = dict(_sampled(masks))
        sources: dict[str, Source] = dict.fromkeys(shares, "samples")
        resets = 0
        for bit, counter in self.counters.items():
            name = name_of(bit)
            held = counter.between(start_ns, end_ns)
            resets += held.resets
            if held.told_ns > 0:
                shares[name] = _mixed(
                    held.held_ns, held.told_ns, end_ns - start_ns, shares.get(name, 0.0) if masks else None
                )
                sources[name] = "counters" if 2 * held.told_ns >= end_ns - start_ns else "samples"
        slow = {name: share for name, share in shares.items() if name in _THROTTLING_NAMES}
        return Residency(
            device=self.device,
            shares={name: share for name, share in shares.items() if share > 0},
            sources=sources,
            throttled=_union(slow, masks),
            source=_source(slow, sources, masks),
            samples=len(inside),
            resets=resets,
        )

    def _in_force(self, at_ns: int) -> tuple[int, ...]:
        place = bisect_right(self.times, at_ns)
        if place == 0 or at_ns - self.times[place - 1] > _IN_FORCE_INTERVALS * self.interval_ns:
            return ()
        return (self.masks[place - 1],)


def timeline(run: Run, device: int) -> ReasonTimeline:
    """The device's reasons and counters over the whole run."""
    samples = sorted((one for one in run.gpu if one.device == device), key=lambda one: one.at_ns)
    told = [(one.at_ns, one.event_reasons) for one in samples if one.event_reasons is not None]
    counters = {bit: time_counter(_readings(samples, name)) for name, bit in COUNTED.items()}
    return ReasonTimeline(
        device=device,
        interval_ns=run.telemetry.interval_ns,
        times=tuple(at for at, _ in told),
        masks=tuple(mask for _, mask in told),
        counters={bit: counter for bit, counter in counters.items() if len(counter.times) > 1},
    )


def residency(run: Run, device: int, start_ns: int, end_ns: int) -> Residency:
    """How much of the window, in nanoseconds of the run's clock, each reason held the device back."""
    return timeline(run, device).residency(start_ns, end_ns)


def throttle_lines(run: Run) -> tuple[ReasonTimeline, ...]:
    """The timelines of the devices at work of which anything tells; none where none was seen at work."""
    devices: dict[int, list[GpuSample]] = {}
    for one in run.gpu:
        devices.setdefault(one.device, []).append(one)
    busy = [device for device, samples in devices.items() if not never_at_work(samples)]
    lines = (timeline(run, device) for device in sorted(busy))
    return tuple(line for line in lines if line.masks or line.counters)


def most_throttled(lines: Sequence[ReasonTimeline], start_ns: int, end_ns: int) -> float | None:
    """The share of the window for which the device that was held back most was; ``None`` where nothing tells."""
    told = (line.residency(start_ns, end_ns).throttled for line in lines)
    return max((share for share in told if share is not None), default=None)


def request_throttle(run: Run) -> dict[int, float]:
    """For each request, by its place in the workload: the share of its time that the most throttled device was held back.

    Requests of which nothing tells are missing.
    """
    lines = throttle_lines(run)
    found = ((one.prompt, most_throttled(lines, one.send_ns, one.end_ns)) for one in run.requests)
    return {prompt: share for prompt, share in found if share is not None} if lines else {}


def never_at_work(samples: Sequence[GpuSample]) -> bool:
    """Every sample says idle and none any utilisation: a card that the server doesn't use."""
    loads = [one.utilization_pct for one in samples if one.utilization_pct is not None]
    masks = [one.event_reasons for one in samples if one.event_reasons is not None]
    if any(loads):
        return False
    return all(mask & GPU_IDLE for mask in masks) if masks else bool(loads)


def while_at_work(samples: Sequence[GpuSample]) -> list[GpuSample]:
    """Those that don't say idle: what a card's clock is while it has nothing to do is no part of any measured time."""
    return [one for one in samples if not (one.event_reasons or 0) & GPU_IDLE]


def _readings(samples: Iterable[GpuSample], name: str) -> Iterable[tuple[int, int]]:
    return ((one.at_ns, value) for one in samples if (value := getattr(one, name)) is not None)


def _sampled(masks: Sequence[int]) -> Iterable[tuple[str, float]]:
    """Every reason's share of the samples, in the order of the bits."""
    bits = 0
    for mask in masks:
        bits |= mask
    for place in range(bits.bit_length()):
        bit = 1 << place
        if bits & bit:
            yield name_of(bit), sum(bool(mask & bit) for mask in masks) / len(masks)


def _mixed(held_ns: float, told_ns: float, window_ns: int, sampled: float | None) -> float:
    """A counter's share, with what it doesn't tell of filled in from samples where there are any."""
    untold_ns = max(window_ns - told_ns, 0.0)
    if sampled is None:
        return min(held_ns / told_ns, 1.0)
    return min((min(held_ns, told_ns) + untold_ns * sampled) / window_ns, 1.0)


def _union(slow: Mapping[str, float], masks: Sequence[int]) -> float | None:
    if not masks and not slow:
        return None
    largest = max(slow.values(), default=0.0)
    sampled = sum(bool(mask & THROTTLING) for mask in masks) / len(masks) if masks else largest
    return min(max(sampled, largest), sum(slow.values()), 1.0)


def _source(slow: Mapping[str, float], sources: Mapping[str, Source], masks: Sequence[int]) -> Source | None:
    if slow and (largest := max(slow, key=lambda name: (slow[name], sources[name] == "counters"))):
        return sources[largest]
    return "samples" if masks else None
