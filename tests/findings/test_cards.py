"""What cards say against a capture's figures, one sentence a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Capture, Run
from radixbench.findings.capture import all_findings
from radixbench.findings.cards import card_findings, throttle_findings
from radixbench.findings.model import Finding
from radixbench.metrics.summary import summarise
from radixbench.records import GpuSample, TelemetryInfo
from tests.builders import CARD, make_capture, make_request, make_run, ns

REQUESTS = [make_request(0, ttft_s=1.0, output=2, gap_s=1.0)]


def samples(count: int = 20, step_s: float = 0.1, **readings: Any) -> tuple[GpuSample, ...]:
    """Even readings from the first send on."""
    facts: dict[str, Any] = {"sm_clock_mhz": 1900, "event_reasons": 0} | readings
    return tuple(GpuSample(at_ns=ns(i * step_s), **facts) for i in range(count))


def gpu_run(gpu: Sequence[GpuSample], **overrides: Any) -> Run:
    """Two seconds on one card."""
    facts: dict[str, Any] = {"devices": [CARD], "identity": {"device": "cuda"}, "end_ns": ns(2)}
    return make_run(REQUESTS, gpu=gpu, **(facts | overrides))


def found(capture: Capture) -> dict[str, Finding]:
    """The findings by code."""
    return {finding.code: finding for finding in card_findings(capture)}


def test_a_cool_busy_card_says_nothing() -> None:
    """And the CPU has no card."""
    assert found(make_capture([gpu_run(samples())])) == {}
    assert found(make_capture([make_run(REQUESTS)])) == {}


def test_idle_in_a_run_is_told_with_its_share() -> None:
    """Over all runs of a cell: 8 of 20 samples."""
    gpu = samples(8, event_reasons=1) + tuple(replace(one, at_ns=one.at_ns + ns(0.8)) for one in samples(12))
    idle = found(make_capture([gpu_run(gpu), gpu_run(gpu, seed=1)]))["gpu-idle"]
    assert idle.text == "GPU was idle in 40 % of samples"
    assert idle.cell == (("shared_tokens", 0),)


def test_a_single_idle_sample_is_no_news() -> None:
    """Between two requests a card may rest."""
    gpu = (*samples(19), replace(samples(20)[19], event_reasons=1))
    assert found(make_capture([gpu_run(gpu)])) == {}


def test_too_few_samples() -> None:
    """Nine are too few; the interval is told."""
    assert found(make_capture([gpu_run(samples(9, 0.2))]))["clock-too-short"].text == (
        "9 samples in the shortest run, one every 200 ms: too short for clock statistics, which take 10"
    )
    assert "clock-too-short" not in found(make_capture([gpu_run(samples(10, 0.2))]))


def test_a_still_clock_may_be_a_locked_one() -> None:
    """No reason at 1,200 of 1,980 MHz: hidden limits, or a lock that sets no reason either."""
    still = found(make_capture([gpu_run(samples(sm_clock_mhz=1200))]))["firmware-limits-hidden"].text
    assert "ran at 1,200 of 1,980 MHz with no reason set" in still
    assert "the clock never moved" in still
    moving = (*samples(19, sm_clock_mhz=1200), replace(samples(20)[19], sm_clock_mhz=1210))
    told = found(make_capture([gpu_run(moving)]))["firmware-limits-hidden"].text
    assert "the clock never moved" not in told


def test_a_counter_that_fell_is_told() -> None:
    """Its stretch is told by samples."""
    gpu = tuple(replace(one, power_cap_ns=ns(90 if i < 9 else 0)) for i, one in enumerate(samples()))
    assert "told by samples" in found(make_capture([gpu_run(gpu)]))["counter-reset"].text


def test_a_limit_that_changes_between_runs() -> None:
    """How many runs had which."""
    runs = [
        gpu_run(samples(), seed=seed, devices=[replace(CARD, power_limit_mw=watts * 1000)])
        for seed, watts in enumerate((700, 700, 450))
    ]
    assert found(make_capture(runs))["power-limit"].text == (
        "the enforced power limit of GPU 0 changed between runs: 700 W in 2 runs, 450 W in 1 run"
    )


def ended(why: str | None) -> TelemetryInfo:
    """How sampling came about in a run that lost its card."""
    return TelemetryInfo("nvml", ns(0.1), 6, 0, 0, None, (CARD,), ended_early=why)


def test_a_card_lost_in_the_run() -> None:
    """How many samples there are, and from when on nothing is known; the run is in the finding's place."""
    lost = gpu_run(samples(5), telemetry=ended("GPU 0: the GPU is lost"))
    finding = found(make_capture([lost]))["samples-end-early"]
    assert finding.text == (
        "GPU 0: the GPU is lost after 5 samples of GPU 0, 0.4 s into a run of 2.0 s: its clocks from then on are unknown"
    )
    assert "seed 0" in finding.place


def test_one_of_two_cards_lost() -> None:
    """The other goes on; the one that fell silent is named."""
    second = [replace(one, device=1) for one in samples(5)]
    finding = found(make_capture([gpu_run((*samples(), *second), telemetry=ended(None))]))[
        "samples-end-early"
    ]
    assert finding.text.startswith("GPU 1 gave no more readings after 5 samples of GPU 1")


@pytest.mark.parametrize(("held", "told"), [(0, 0), (1, 1), (20, 1)])
def test_throttling_of_a_capture_alone(held: int, told: int) -> None:
    """From one sample in twenty on, whatever the share: a run that throttled all the time keeps its figures too."""
    gpu = samples(held, event_reasons=0x20) + tuple(
        replace(one, at_ns=one.at_ns + ns(held / 10)) for one in samples(20 - held)
    )
    capture = make_capture([gpu_run(gpu)])
    assert len(list(throttle_findings(capture))) == told
    codes = [finding.code for finding in all_findings(capture, [summarise(run) for run in capture.runs])]
    assert codes.count("throttled") == told


def test_a_capture_alone_names_reason_and_share() -> None:
    """The device that was held back most, by reason."""
    (finding,) = throttle_findings(make_capture([gpu_run(samples(event_reasons=0x24))]))
    assert finding.text == (
        "throttled in 100 % of samples (SW power cap 100 % of samples, SW thermal slowdown 100 % of samples)"
    )


def test_a_driver_that_counts_speaks_of_time() -> None:
    """Bits in no sample, 300 of 1,000 ms by the counter."""
    gpu = tuple(replace(one, sw_thermal_ns=one.at_ns * 3 // 10) for one in samples(21))
    (finding,) = throttle_findings(make_capture([gpu_run(gpu)]))
    assert finding.text == "throttled for 30 % of its time (SW thermal slowdown 30 % of its time)"
