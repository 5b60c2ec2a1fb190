"""Clock statistics of each device, cut to the measured window.

A card that slows down changes every time measured on it, so clocks are part of a measurement. Idle
isn't throttling, and fixed application clocks are somebody's choice; power, heat and brake are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from radixbench.capture.model import Run
from radixbench.records import DeviceInfo, GpuSample
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.telemetry.reasons import GPU_IDLE, THROTTLING, decode


@dataclass(frozen=True, slots=True)
class DeviceClocks:
    """One device in one run's window. Clocks in MHz, temperatures in °C, shares 0 to 1.

    ``reasons`` is the share of samples that carry each event reason, by name; ``throttled_share`` that
    of samples with at least one that slows the card down. ``start_temperature_c`` is the last reading
    before the window opens, else the first within.
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


def device_clocks(run: Run) -> tuple[DeviceClocks, ...] | Absent:
    """Statistics of every device that was read during the run's measured window."""
    if str(run.server.identity.get("device", "")).startswith("cpu"):
        return Absent("the model ran on the CPU")
    window = measured_window(run)
    if isinstance(window, Absent):
        return window
    if all(sample.sm_clock_mhz is None and sample.event_reasons is None for sample in run.gpu):
        return Absent("no GPU clock was read")
    start, end = window
    known = {info.index: info for info in run.telemetry.devices}
    found = []
    for device in sorted({sample.device for sample in run.gpu}):
        samples = [sample for sample in run.gpu if sample.device == device]
        inside = [sample for sample in samples if start <= sample.at_ns <= end]
        if inside:
            found.append(_statistics(device, samples, inside, known.get(device), start))
    return tuple(found) if found else Absent("no clock sample falls into the measured window")


def measured_window(run: Run) -> tuple[int, int] | Absent:
    """First send and last token, in nanoseconds of the run's clock."""
    ends = [request.chunk_ns[-1] for request in run.requests if request.chunk_ns]
    if not ends:
        return Absent("no token arrived")
    return min(request.send_ns for request in run.requests), max(ends)


def _statistics(
    device: int,
    samples: Sequence[GpuSample],
    inside: Sequence[GpuSample],
    info: DeviceInfo | None,
    start: int,
) -> DeviceClocks:
    clocks = [sample.sm_clock_mhz for sample in inside if sample.sm_clock_mhz is not None]
    masks = [sample.event_reasons for sample in inside if sample.event_reasons is not None]
    middle = median(Sample(tuple(float(clock) for clock in clocks)))
    return DeviceClocks(
        device=device,
        samples=len(inside),
        sm_clock_median=None if isinstance(middle, Absent) else middle,
        sm_clock_min=min(clocks, default=None),
        max_sm_clock_mhz=None if info is None else info.max_sm_clock_mhz,
        throttled_share=_share(masks, THROTTLING),
        idle_share=_share(masks, GPU_IDLE),
        reasons=_reason_shares(masks),
        start_temperature_c=_start_temperature(samples, start),
    )


def _share(masks: Sequence[int], bits: int) -> float | None:
    return sum(bool(mask & bits) for mask in masks) / len(masks) if masks else None


def _reason_shares(masks: Sequence[int]) -> dict[str, float]:
    counts = Counter(name for mask in masks for name in decode(mask))
    return {name: count / len(masks) for name, count in sorted(counts.items())}


def _start_temperature(samples: Sequence[GpuSample], start: int) -> int | None:
    read = sorted(
        (sample.at_ns, sample.temperature_c) for sample in samples if sample.temperature_c is not None
    )
    before = [temperature for at, temperature in read if at <= start]
    if before:
        return before[-1]
    return read[0][1] if read else None
