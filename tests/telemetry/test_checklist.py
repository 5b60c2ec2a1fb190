"""Twelve checks that a robust sampler passes, from a reading that is refused to a binding that isn't there."""

from __future__ import annotations

import pytest

from radixbench.clock import ManualClock
from radixbench.compare.comparison import compare
from radixbench.findings.cards import card_findings
from radixbench.records import GpuSample
from radixbench.telemetry.lost import ProbeUnavailableError
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.probes import Probe, ScriptedProbe, pick_probe
from radixbench.telemetry.readings import Nvml
from radixbench.telemetry.reasons import decode
from radixbench.telemetry.sampler import Sampler, Sampling
from radixbench.telemetry.state import clock_words
from tests.builders import CARD, gpu_samples, make_capture, make_request, make_run, make_sweep, ns
from tests.telemetry.fake_nvml import FUNCTION_NOT_FOUND, LOST, NOT_SUPPORTED, FakeGpu, FakeNvml

EVENT, THROTTLE = "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"


def sampled(probe: Probe, ticks: int, before: dict[int, FakeGpu] | None = None) -> Sampling:
    """Sample until so many ticks are done; before the tick of each key its card falls off the bus."""
    clock, done = ManualClock(), 0

    def wait(duration: int) -> bool:
        nonlocal done
        clock.advance(duration)
        done += 1
        if before and done in before:
            before[done].errors["*"] = LOST
        return done >= ticks - 1

    sampler = Sampler(probe, clock, 200, wait)
    sampler.start()
    sampler._thread.join(30)
    return sampler.stop()


def test_check_1_memory_not_supported() -> None:
    """The sampler works; memory is absent."""
    samples, info = sampled(NvmlProbe(FakeNvml(FakeGpu(errors={"memory": NOT_SUPPORTED}))), 3)
    assert [one.memory_used_bytes for one in samples] == [None] * 3
    assert [one.sm_clock_mhz for one in samples] == [1980] * 3
    assert (info.failed_reads, info.devices[0].unsupported) == (0, ("memory_used_bytes",))


def test_check_2_a_binding_without_event_reasons() -> None:
    """AttributeError: the older function is used."""
    (sample,) = NvmlProbe(FakeNvml(FakeGpu(reasons=0x20), missing=(EVENT,))).read(1)
    assert sample.event_reasons == 0x20


def test_check_3_no_function_for_reasons_at_all() -> None:
    """Unknown, and said so: not none."""
    for binding in (
        FakeNvml(FakeGpu(), missing=(EVENT, THROTTLE)),
        FakeNvml(FakeGpu(errors={"event": FUNCTION_NOT_FOUND, "throttle": NOT_SUPPORTED})),
    ):
        probe = NvmlProbe(binding)
        samples = probe.read(1)
        assert samples[0].event_reasons is None
        assert clock_words(samples, probe.devices()).endswith("throttling unknown")


def test_check_4_two_reasons_at_once() -> None:
    """Both are named."""
    assert ", ".join(decode(0x24)) == "SW power cap, SW thermal slowdown"


def test_check_5_an_unknown_bit() -> None:
    """Printed in hexadecimal."""
    assert decode(0x200) == ("unknown 0x200",)


def test_check_6_a_gpu_lost_after_five_samples() -> None:
    """Five samples are kept, the run isn't aborted, and its report says from when on nothing is known."""
    gpu = FakeGpu()
    samples, info = sampled(NvmlProbe(FakeNvml(gpu)), 50, {5: gpu})
    assert len(samples) == 5
    run = make_run(
        [make_request(output=2, gap_s=3.0)],
        gpu=samples,
        telemetry=info,
        identity={"device": "cuda"},
        end_ns=ns(4),
    )
    (finding,) = [one for one in card_findings(make_capture([run])) if one.code == "samples-end-early"]
    assert "after 5 samples of GPU 0, 0.8 s into a run of 4.0 s" in finding.text


def test_check_7_utilisation_not_supported() -> None:
    """Absent, never 0."""
    (sample,) = NvmlProbe(FakeNvml(FakeGpu(errors={"utilization": NOT_SUPPORTED}))).read(1)
    assert sample.utilization_pct is None


def test_check_8_a_name_in_bytes() -> None:
    """Decoded."""
    assert NvmlProbe(FakeNvml(FakeGpu(name=b"Tesla T4"))).devices()[0].name == "Tesla T4"


def test_check_9_graphics_clock_instead_of_the_sm_clock() -> None:
    """Used and named."""
    probe = NvmlProbe(FakeNvml(FakeGpu(errors={"clock/1": NOT_SUPPORTED})))
    samples = probe.read(1)
    assert (samples[0].sm_clock_mhz, probe.devices()[0].clock_source) == (1978, "graphics")
    assert clock_words(samples, probe.devices()).startswith("graphics 1978/1983 MHz")


def test_check_10_clocks_apart_are_marked() -> None:
    """1,965 against 1,580 MHz: every factor carries the caveat and its bound."""
    on, off = make_sweep(
        on_options={"gpu": gpu_samples(clock=1965), "devices": [CARD], "identity": {"device": "cuda"}},
        off_options={"gpu": gpu_samples(clock=1580), "devices": [CARD], "identity": {"device": "cuda"}},
    )
    comparison = compare(on, off)
    assert all("clock-gap" in change.caveats for change in comparison.changes)
    assert {row.bound for row in comparison.changes if row.factor and row.factor.value != 1.0} == {"upper"}
    assert "at most 1.25×" in comparison.clocks[0].text


def test_check_11_only_the_idle_bit_in_a_run() -> None:
    """Not throttling; told with its share."""
    samples = [
        GpuSample(0, sm_clock_mhz=1980, event_reasons=mask, utilization_pct=60) for mask in (1, 0, 1, 0, 0)
    ]
    read, info = sampled(ScriptedProbe([[one] for one in samples], described=(CARD,)), 5)
    run = make_run([make_request(output=2, gap_s=1.0)], gpu=read, telemetry=info, identity={"device": "cuda"})
    found = {one.code: one.text for one in card_findings(make_capture([run]))}
    assert found["gpu-idle"] == "GPU was idle in 40 % of samples"


def test_check_12_no_binding_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and the run goes on with what the processor tells."""

    def bind() -> Nvml:
        raise ProbeUnavailableError("the NVML binding isn't installed", remedy="pip install nvidia-ml-py")

    samples, info = sampled(pick_probe({}, bind), 3)
    assert (len(samples), info.probe, info.ended_early) == (3, "cpu", None)
    assert str(info.note).startswith("the NVML binding isn't installed: ")
    assert "\n" not in str(info.note)
