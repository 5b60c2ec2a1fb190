"""Clock statistics, cut to the measured window."""

from __future__ import annotations

import pytest

from radixbench.capture.model import Run
from radixbench.metrics.gpu import DeviceClocks, device_clocks
from radixbench.records import GpuSample
from radixbench.stats.sample import Absent
from tests.builders import CARD, gpu_samples, make_request, make_run, ns

REQUESTS = [make_request(0, ttft_s=1.0, output=2, gap_s=1.0)]


def gpu_run(*samples: GpuSample, device: str = "cuda") -> Run:
    """A run of 2 s on one card."""
    return make_run(REQUESTS, gpu=samples, devices=[CARD], identity={"device": device})


def clocks(run: Run) -> DeviceClocks:
    """The only device's statistics."""
    found = device_clocks(run)
    assert not isinstance(found, Absent), found
    (one,) = found
    return one


def sample(
    at_s: float, clock: int | None = 1900, reasons: int | None = 0, temperature: int | None = None
) -> GpuSample:
    """One reading of device 0."""
    return GpuSample(at_ns=ns(at_s), sm_clock_mhz=clock, event_reasons=reasons, temperature_c=temperature)


def test_only_the_window_counts() -> None:
    """Slow samples before the first send and after the last token aren't the run's."""
    run = gpu_run(sample(-1, 300), sample(0.5, 1900), sample(1, 1800), sample(1.5, 1700), sample(2.5, 300))
    found = clocks(run)
    assert (found.sm_clock_median, found.sm_clock_min, found.samples) == (1800.0, 1700, 3)
    assert found.max_sm_clock_mhz == 1980


def test_reasons_by_name_and_share() -> None:
    """Power cap in one of four samples, heat in two, idle in one: idle isn't throttling."""
    run = gpu_run(sample(0.1, reasons=0x24), sample(0.2, reasons=0x20), sample(0.3, reasons=1), sample(0.4))
    found = clocks(run)
    assert found.throttled_share == 0.5
    assert found.idle_share == 0.25
    assert found.reasons == {"GPU idle": 0.25, "SW power cap": 0.25, "SW thermal slowdown": 0.5}


def test_start_temperature_is_the_last_before_the_window() -> None:
    """Else the first reading within."""
    before = gpu_run(sample(-1, temperature=40), sample(-0.1, temperature=45), sample(1, temperature=70))
    assert clocks(before).start_temperature_c == 45
    assert clocks(gpu_run(sample(0.5, temperature=60), sample(1, temperature=70))).start_temperature_c == 60


def test_unknown_readings_stay_unknown() -> None:
    """A card that tells clocks but no reasons has no throttled share, not one of 0."""
    found = clocks(gpu_run(sample(1, reasons=None)))
    assert (found.throttled_share, found.idle_share, found.start_temperature_c) == (None, None, None)
    assert clocks(gpu_run(sample(1, clock=None))).sm_clock_median is None


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (gpu_run(), "no GPU clock was read"),
        (gpu_run(GpuSample(at_ns=0, cpu_clock_mhz=3000.0)), "no GPU clock was read"),
        (gpu_run(sample(99)), "no clock sample falls into the measured window"),
        (gpu_run(sample(1), device="cpu"), "the model ran on the CPU"),
        (make_run([], gpu=[sample(1)], identity={"device": "cuda"}), "no token arrived"),
    ],
)
def test_no_statistics_without_readings(run: Run, reason: str) -> None:
    """Whatever is missing is named; a card that idles beside a run on the CPU says nothing about it."""
    assert device_clocks(run) == Absent(reason)


def test_several_cards_are_kept_apart() -> None:
    """Each device has its own line."""
    run = gpu_run(*gpu_samples(clock=1900), *gpu_samples(clock=1400, device=1))
    found = device_clocks(run)
    assert not isinstance(found, Absent)
    assert [(one.device, one.sm_clock_median) for one in found] == [(0, 1900.0), (1, 1400.0)]
