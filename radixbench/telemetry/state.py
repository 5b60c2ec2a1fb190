"""The state of the cards in one line, for whoever watches a run.

Of several cards the one that is held back counts, else the slowest that isn't idle: the others wait for it. What no
device tells isn't mentioned, except throttling: that nobody can tell it is worth a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry.reasons import GPU_IDLE, THROTTLING, decode


def clock_words(samples: Sequence[GpuSample], devices: Sequence[DeviceInfo]) -> str:
    """``SM 1410/1980 MHz, 62 °C, SW power cap`` of one moment's samples; "" where they tell nothing."""
    cards = [sample for sample in samples if _is_gpu(sample)]
    if not cards:
        return ", ".join(part for sample in samples for part in _processor(sample))
    known = {info.index: info for info in devices}
    shown = min(cards, key=_urgency)
    words = ", ".join(_card(shown, known.get(shown.device)))
    return words if len(cards) == 1 else f"GPU {shown.device} of {len(cards)}: {words}"


def _is_gpu(sample: GpuSample) -> bool:
    read = (sample.sm_clock_mhz, sample.event_reasons, sample.power_mw, sample.temperature_c)
    return any(reading is not None for reading in read)


def _urgency(sample: GpuSample) -> tuple[bool, bool, float]:
    """Smallest first: held back, then at work, then slow."""
    mask = sample.event_reasons or 0
    clock = sample.sm_clock_mhz
    return not mask & THROTTLING, bool(mask & GPU_IDLE), float("inf") if clock is None else float(clock)


def _card(sample: GpuSample, info: DeviceInfo | None) -> Iterator[str]:
    if sample.sm_clock_mhz is not None:
        name = "graphics" if info is not None and info.clock_source == "graphics" else "SM"
        highest = None if info is None else info.max_sm_clock_mhz
        of = "" if highest is None else f"/{highest}"
        yield f"{name} {sample.sm_clock_mhz}{of} MHz"
    if sample.temperature_c is not None:
        yield f"{sample.temperature_c} °C"
    if sample.event_reasons is None:
        yield "throttling unknown"
    else:
        yield from decode(sample.event_reasons)


def _processor(sample: GpuSample) -> Iterator[str]:
    if sample.cpu_clock_mhz is not None:
        yield f"CPU {sample.cpu_clock_mhz:.0f} MHz"
    if sample.cpu_load_pct is not None:
        yield f"CPU load {sample.cpu_load_pct:.0f} %"
