"""From a card that throttles to the words of a comparison: binding, sampler, file, verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from radixbench.capture.model import Capture
from radixbench.capture.store import load, save
from radixbench.clock import ManualClock
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.metrics.residency import residency
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.sampler import Sampler, Sampling
from tests.builders import make_sweep
from tests.telemetry.fake_nvml import LOST, FakeGpu, FakeNvml

MS = 1_000_000
WRAP = 2**32


def cool(gpu: FakeGpu, _passed_ns: int) -> None:
    """Runs at its full clock, and its counters stand still."""
    gpu.clocks[1] = 1980


def hot(gpu: FakeGpu, passed_ns: int) -> None:
    """Held back by power for 62 % of the time at 1,290 MHz; no sample catches the bit; the counter has 32 bits."""
    gpu.clocks[1] = 1290
    gpu.fields[74] = (gpu.fields[74] + passed_ns * 62 // 100) % WRAP


def sampled(behave: Callable[[FakeGpu, int], None], *, lost_after: int | None = None) -> Sampling:
    """Ten seconds of a card that behaves so, read every 200 ms; it may fall off the bus."""
    gpu = FakeGpu()
    gpu.fields[74] = WRAP - 300 * MS
    clock, ticks = ManualClock(at_ns=-1000 * MS), 0
    behave(gpu, 0)

    def wait(duration: int) -> bool:
        nonlocal ticks
        ticks += 1
        clock.advance(duration)
        behave(gpu, duration)
        if ticks == lost_after:
            gpu.errors["*"] = LOST
        return ticks >= 55

    sampler = Sampler(NvmlProbe(FakeNvml(gpu)), clock, 200, wait)
    sampler.start()
    sampler._thread.join(30)
    return sampler.stop()


def captures(on: Sampling, off: Sampling, folder: Path) -> tuple[Capture, Capture]:
    """A sweep's two captures with these readings, written to files and read again."""
    arms = make_sweep(
        on=0.3,
        on_options={"gpu": on.samples, "telemetry": on.info, "identity": {"device": "cuda"}},
        off_options={"gpu": off.samples, "telemetry": off.info, "identity": {"device": "cuda"}},
    )
    for name, capture in zip(("on.json", "off.json"), arms, strict=True):
        save(capture, folder / name)
    return load(folder / "on.json"), load(folder / "off.json")


def test_a_throttled_reference_from_card_to_verdict(tmp_path: Path) -> None:
    """Direction, share of time, slowness and limit come out as words, bounds and plain values, through a wrap."""
    on, off = captures(sampled(cool), sampled(hot), tmp_path)
    comparison = compare(on, off)
    words = (
        "the off side was throttled for 62 % of its time and ran 35 % slower: the factor is an upper bound;"
        " clocks alone could explain at most 1.54×"
    )
    assert comparison.clocks[0].text == words
    caveat = next(one for one in comparison.caveats if one.code == "throttled")
    assert caveat.severity == "serious"
    assert f"{words} (most in a run: SW power cap 62 % of its time)" in caveat.text
    row = next(one for one in comparison.changes if one.metric == "ttft_p50")
    assert (row.bound, "throttled" in row.caveats) == ("upper", True)
    (clocks,) = json.loads(json.dumps(to_document(comparison)))["clocks"]
    assert clocks["explains"] == pytest.approx(1980 / 1290)
    assert (clocks["b"]["source"], clocks["b"]["power_limit_mw"]) == ("counters", 700_000)
    assert "counter-reset" not in {one.code for one in comparison.caveats}


def test_readings_reach_around_the_run() -> None:
    """One more reading when sampling stops, so that the counters tell of the run to its end."""
    samples, info = sampled(cool)
    assert (samples[0].at_ns, samples[-1].at_ns) == (-1000 * MS, 10_000 * MS)
    assert len(samples) == info.ticks == 56


def test_a_gpu_lost_in_the_run_keeps_run_and_verdict(tmp_path: Path) -> None:
    """Five samples stay, factors stand, and the comparison says from when on the clocks are unknown."""
    on, off = captures(sampled(cool), sampled(cool, lost_after=5), tmp_path)
    assert [len(run.gpu) for run in off.runs] == [5, 5, 5]
    comparison = compare(on, off)
    assert next(one for one in comparison.changes if one.metric == "ttft_p50").factor is not None
    caveat = next(one for one in comparison.caveats if one.code == "samples-end-early")
    assert "after 5 samples of GPU 0" in caveat.text


def test_clocks_that_nobody_tells_bound_nothing(tmp_path: Path) -> None:
    """A card that refuses clocks and reasons: figures without bound, and why."""

    def silent(gpu: FakeGpu, _passed_ns: int) -> None:
        gpu.errors |= {"clock": 3, "event": 3, "throttle": 3, "field": 3}

    comparison = compare(*captures(sampled(silent), sampled(silent), tmp_path))
    assert {one.bound for one in comparison.changes} == {None}
    assert comparison.clocks[0].a.why_unknown == "no GPU clock was read"
    assert "clock-unknown" in {one.code for one in comparison.caveats}


def test_captures_of_before_there_were_counters_load() -> None:
    """Their samples have none, and their shares come from samples."""
    capture = load(Path(__file__).parents[1] / "golden" / "capture-1.json")
    run = next(run for run in capture.runs if run.gpu)
    assert {one.power_cap_ns for one in run.gpu} == {None}
    assert run.telemetry.ended_early is None
    held = residency(run, run.gpu[0].device, run.gpu[0].at_ns, run.gpu[-1].at_ns)
    assert held.source == "samples"
    assert held.samples == sum(one.event_reasons is not None for one in run.gpu)
