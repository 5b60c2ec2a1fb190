"""Clock statistics of each device, cut to the measured window.

A card that slows down changes every time measured on it, so clocks are part of a measurement. Idle
isn't throttling, and fixed application clocks are somebody's choice; power, heat and brake are. Clocks are those of
samples in which the card had something to do: between requests it may rest at any clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter

from radixbench.capture.model import Run
from radixbench.metrics.residency import Source, never_at_work, timeline, while_at_work
from radixbench.records import DeviceInfo, GpuSample
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.telemetry.reasons import GPU_IDLE, name_of

FEW_SAMPLES = 10
"""Below so many sampling periods a window is too short for clock statistics."""

HIDDEN_SHARE = 0.75
"""A busy card below this share of its highest clock with no reason set is limited by something that sets none."""

NO_SAMPLE = "no clock sample falls into the measured window"

_TELL_NO_LIMITS = ("GB10",)
_BUSY_PCT = 50
_SELDOM = 0.1
_IDLE_NAME = name_of(GPU_IDLE)


@dataclass(frozen=True, slots=True)
class DeviceClocks:
    """One device in one run's window. Clocks in MHz, temperatures in °C, power in mW, shares 0 to 1.

    ``reasons`` is the share of the window of each event reason that occurred, by name; ``throttled_share`` that of at
    least one that slows the card down, and ``source`` what tells it (of each reason: ``reason_sources``). ``sm_clock_mean`` weighs every reading by the time
    it stood for. ``start_temperature_c`` is the last reading before the window opens, else the first within.
    ``unused`` is a card that never did anything; ``firmware_hidden`` one that may be limited below what NVML tells.
    """

    device: int
    samples: int
    sm_clock_median: float | None
    sm_clock_min: int | None
    max_sm_clock_mhz: int | None
    throttled_share: float | None
    idle_share: float | None
    reasons: dict[str, float]
    start_temperature_c: int | None
    name: str = "unnamed GPU"
    source: Source | None = None
    reason_sources: dict[str, Source] = field(default_factory=dict)
    sm_clock_mean: float | None = None
    sm_clock_max: int | None = None
    memory_clock_median: float | None = None
    power_limit_mw: int | None = None
    resets: int = 0
    unused: bool = False
    firmware_hidden: bool = False

    @property
    def too_short(self) -> bool:
        """Fewer samples than any statistics can rest on."""
        return self.samples < FEW_SAMPLES


def device_clocks(run: Run) -> tuple[DeviceClocks, ...] | Absent:
    """Statistics of every device that was read during the run's measured window."""
    if str(run.server.identity.get("device", "")).startswith("cpu"):
        return Absent("the model ran on the CPU")
    window = measured_window(run)
    if isinstance(window, Absent):
        return window
    if all(sample.sm_clock_mhz is None and sample.event_reasons is None for sample in run.gpu):
        return Absent(run.telemetry.unread or run.telemetry.ended_early or "no GPU clock was read")
    found = []
    for device in sorted({sample.device for sample in run.gpu}):
        samples = sorted((one for one in run.gpu if one.device == device), key=lambda one: one.at_ns)
        clocks = _statistics(run, device, samples, window)
        if clocks.samples or clocks.source == "counters":
            found.append(clocks)
    if found and all(one.unused for one in found):
        return Absent(
            "no card that was read did anything in the run: another one served it, or its work fell between samples"
        )
    return tuple(found) if found else Absent(NO_SAMPLE)


def at_work(clocks: Sequence[DeviceClocks]) -> tuple[DeviceClocks, ...]:
    """The devices that did something."""
    return tuple(one for one in clocks if not one.unused)


def measured_window(run: Run) -> tuple[int, int] | Absent:
    """First send and last token, in nanoseconds of the run's clock."""
    answered = list(filter(None, map(attrgetter("chunk_ns"), run.requests)))
    if not answered:
        return Absent("no token arrived")
    return min(map(attrgetter("send_ns"), run.requests)), max(map(itemgetter(-1), answered))


def _statistics(run: Run, device: int, samples: Sequence[GpuSample], window: tuple[int, int]) -> DeviceClocks:
    start, end = window
    inside = [one for one in samples if start <= one.at_ns <= end]
    info = next((one for one in run.telemetry.devices if one.index == device), None)
    working = while_at_work(inside)
    clocks = [one.sm_clock_mhz for one in working if one.sm_clock_mhz is not None]
    masks = [one.event_reasons for one in inside if one.event_reasons is not None]
    middle = _middle(clocks)
    held = timeline(run, device).residency(start, end)
    unused = bool(inside) and never_at_work(inside)
    return DeviceClocks(
        device=device,
        samples=len(inside),
        sm_clock_median=middle,
        sm_clock_min=min(clocks, default=None),
        max_sm_clock_mhz=None if info is None else info.max_sm_clock_mhz,
        throttled_share=held.throttled,
        idle_share=sum(bool(mask & GPU_IDLE) for mask in masks) / len(masks) if masks else None,
        reasons=dict(sorted(held.shares.items())),
        start_temperature_c=_start_temperature(samples, start),
        name="unnamed GPU" if info is None else info.name,
        source=held.source,
        reason_sources=held.sources,
        sm_clock_mean=_mean_over_time(samples, start, end),
        sm_clock_max=max(clocks, default=None),
        memory_clock_median=_middle(
            [one.memory_clock_mhz for one in working if one.memory_clock_mhz is not None]
        ),
        power_limit_mw=None if info is None else info.power_limit_mw,
        resets=held.resets,
        unused=unused,
        firmware_hidden=not unused and _limits_hidden(info, working, held.shares, middle),
    )


def _limits_hidden(
    info: DeviceInfo | None,
    working: Sequence[GpuSample],
    reasons: dict[str, float],
    middle: float | None,
) -> bool:
    """A device known for limits that set no reason, or one at work far below its highest clock without any."""
    if info is None:
        return False
    if any(name in info.name for name in _TELL_NO_LIMITS):
        return True
    if middle is None or info.max_sm_clock_mhz is None:
        return False
    masks = [one.event_reasons for one in working if one.event_reasons is not None]
    load = _middle([one.utilization_pct for one in working if one.utilization_pct is not None])
    busy = load is None or load >= _BUSY_PCT
    given = (share for name, share in reasons.items() if name != _IDLE_NAME)
    silent = bool(masks) and max(given, default=0.0) < _SELDOM
    return busy and silent and middle < HIDDEN_SHARE * info.max_sm_clock_mhz


def _middle(values: Sequence[int]) -> float | None:
    middle = median(Sample(tuple(float(value) for value in values)))
    return None if isinstance(middle, Absent) else middle


def _mean_over_time(samples: Sequence[GpuSample], start: int, end: int) -> float | None:
    """The SM clock's mean over the window's time at work, each reading weighed by the time until the next."""
    working = {one.at_ns for one in while_at_work(samples)}
    read = [(one.at_ns, one.sm_clock_mhz) for one in samples if one.sm_clock_mhz is not None]
    total = weight = 0
    for (at, clock), (until, _) in pairwise([*read, (end, 0)]):
        span = min(until, end) - max(at, start)
        if span > 0 and at in working:
            total += clock * span
            weight += span
    return total / weight if weight else None


def _start_temperature(samples: Sequence[GpuSample], start: int) -> int | None:
    read = [(one.at_ns, one.temperature_c) for one in samples if one.temperature_c is not None]
    before = [temperature for at, temperature in read if at <= start]
    if before:
        return before[-1]
    return read[0][1] if read else None
