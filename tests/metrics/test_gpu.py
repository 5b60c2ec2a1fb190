"""Clock statistics, cut to the measured window."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.capture.model import Run
from radixbench.metrics.gpu import DeviceClocks, at_work, device_clocks
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


def test_counters_outweigh_samples() -> None:
    """No sample saw the 600 ms of heat in 2 s that the driver counted; where it stands is told."""
    heat = [
        GpuSample(at_ns=ns(t), sm_clock_mhz=1900, event_reasons=0, sw_thermal_ns=ns(min(t, 0.6) + 5))
        for t in (0.0, 0.5, 1.0, 1.5, 2.0)
    ]
    found = clocks(gpu_run(*heat))
    assert found.throttled_share == pytest.approx(0.3, abs=0.03)
    assert (found.source, found.reason_sources) == ("counters", {"SW thermal slowdown": "counters"})


def test_the_mean_weighs_time() -> None:
    """1,900 MHz for 1.5 s and 1,100 MHz for 0.5 s: the median hides what the mean shows. The window is cut."""
    found = clocks(gpu_run(sample(-1, 300), sample(0, 1900), sample(1.5, 1100), sample(3, 300)))
    assert found.sm_clock_mean == pytest.approx(1700)
    assert (found.sm_clock_min, found.sm_clock_max) == (1100, 1900)
    assert found.too_short


@pytest.mark.parametrize(
    ("readings", "name", "hidden"),
    [
        ({"clock": 1200, "reasons": 0}, "H200", True),  # busy, far below 1,980, no reason
        ({"clock": 1600, "reasons": 0}, "H200", False),  # not so far
        ({"clock": 1200, "reasons": 0x4}, "H200", False),  # a reason tells why
        ({"clock": 1200, "reasons": 0x2}, "H200", False),  # somebody chose so
        ({"clock": 1900, "reasons": 0}, "NVIDIA GB10", True),  # known to tell nothing
    ],
)
def test_no_reason_is_no_proof(readings: dict[str, int], name: str, hidden: bool) -> None:
    """Limits of firmware and locked clocks set no bit: a low clock at work without one is told."""
    run = make_run(
        REQUESTS,
        gpu=gpu_samples(**readings),
        devices=[replace(CARD, name=name)],
        identity={"device": "cuda"},
    )
    assert clocks(run).firmware_hidden is hidden


def test_a_low_clock_with_little_to_do_hides_nothing() -> None:
    """A card at 20 % load may clock low by itself."""
    slack = [replace(one, utilization_pct=20) for one in gpu_samples(clock=1200)]
    assert not clocks(gpu_run(*slack)).firmware_hidden
    assert clocks(gpu_run(*(replace(one, utilization_pct=90) for one in slack))).firmware_hidden


@pytest.mark.parametrize(
    ("mask", "load", "unused"),
    [(1, None, True), (1, 0, True), (1, 3, False), (0, 0, False), (None, 0, True), (None, None, False)],
)
def test_a_card_that_does_nothing_is_known_by_it(mask: int | None, load: int | None, unused: bool) -> None:
    """Idle in every sample and never any load; of a card that tells neither nothing is claimed."""
    card = [replace(sample(t / 5, reasons=mask), utilization_pct=load) for t in range(10)]
    busy = [replace(one, device=1, event_reasons=0, utilization_pct=90) for one in card]
    found = device_clocks(gpu_run(*card, *busy))
    assert not isinstance(found, Absent)
    assert [one.unused for one in found] == [unused, False]
    assert [one.device for one in at_work(found)] == ([1] if unused else [0, 1])


def test_cards_that_did_nothing_did_not_serve() -> None:
    """Idle from end to end beside answered requests: another card did the work, or none; no clock is claimed."""
    found = device_clocks(
        gpu_run(*gpu_samples(clock=345, reasons=1), *gpu_samples(clock=210, reasons=1, device=1))
    )
    assert isinstance(found, Absent)
    assert found.reason.startswith("no card that was read did anything in the run")


def test_what_a_card_does_at_rest_is_no_part_of_its_clocks() -> None:
    """Between requests it falls to 345 MHz and says idle: medians, means and floors are those at work."""
    rest = [replace(sample(t / 5, 345, reasons=1), memory_clock_mhz=800) for t in range(0, 10, 2)]
    work = [replace(sample(t / 5, 1900), memory_clock_mhz=2600) for t in range(1, 10, 2)]
    found = clocks(gpu_run(*rest, *work))
    assert (found.sm_clock_median, found.sm_clock_mean, found.sm_clock_min) == (1900.0, 1900.0, 1900)
    assert (found.memory_clock_median, found.idle_share) == (2600.0, 0.5)
    assert not found.firmware_hidden


def test_a_card_that_is_read_only_at_rest_has_no_clock_at_work() -> None:
    """Its load shows that it worked, between the samples."""
    found = clocks(gpu_run(*(replace(one, utilization_pct=3) for one in gpu_samples(clock=345, reasons=1))))
    assert (found.sm_clock_median, found.sm_clock_mean, found.sm_clock_min) == (None, None, None)


def test_why_no_card_was_read_is_the_reason() -> None:
    """As the probe said it, such as a server on another machine."""
    run = gpu_run(GpuSample(at_ns=ns(0.5), cpu_clock_mhz=2600.0))
    far = replace(run, telemetry=replace(run.telemetry, unread="the server is at gpu7"))
    assert device_clocks(far) == Absent("the server is at gpu7")
    assert device_clocks(run) == Absent("no GPU clock was read")


def test_a_window_between_two_samples_is_told_by_counters_alone() -> None:
    """Half a second held back of the second that passed; of the clock nothing is known."""
    ends = [
        GpuSample(at_ns=ns(t), sm_clock_mhz=1900, event_reasons=0, power_cap_ns=ns(held))
        for t, held in ((-1, 0), (3, 2))
    ]
    found = clocks(gpu_run(*ends))
    assert (found.samples, found.sm_clock_median, found.source) == (0, None, "counters")
    assert found.throttled_share == pytest.approx(0.5)
    untold = device_clocks(gpu_run(*(replace(one, power_cap_ns=None) for one in ends)))
    assert untold == Absent("no clock sample falls into the measured window")


def test_several_cards_are_kept_apart() -> None:
    """Each device has its own line."""
    run = gpu_run(*gpu_samples(clock=1900), *gpu_samples(clock=1400, device=1))
    found = device_clocks(run)
    assert not isinstance(found, Absent)
    assert [(one.device, one.sm_clock_median) for one in found] == [(0, 1900.0), (1, 1400.0)]
