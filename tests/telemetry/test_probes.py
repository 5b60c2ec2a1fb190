"""Which probe is taken, and what one without a GPU says."""

from __future__ import annotations

import os

import psutil
import pytest

from radixbench.records import GpuSample
from radixbench.telemetry.lost import ProbeUnavailableError
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.probes import CpuProbe, Probe, ScriptedProbe, look_at_company, pick_probe
from radixbench.telemetry.readings import Nvml
from tests.telemetry.fake_nvml import LIBRARY_NOT_FOUND, LOST, FakeGpu, FakeNvml


def test_a_gpu_is_taken_when_it_answers() -> None:
    """NVML first, on the cards the environment shows."""
    cards = FakeNvml(FakeGpu(), FakeGpu(uuid="GPU-b"))
    probe = pick_probe({"CUDA_VISIBLE_DEVICES": "1"}, lambda: cards)
    assert isinstance(probe, NvmlProbe)
    assert [device.index for device in probe.devices()] == [1]


@pytest.mark.parametrize(
    ("binding", "why"),
    [
        (FakeNvml(init_error=LIBRARY_NOT_FOUND), "no NVIDIA driver library"),
        (FakeNvml(), "NVML finds no GPU"),
        (FakeNvml(FakeGpu(errors={"*": LOST})), "GPU 0: the GPU is lost"),
    ],
)
def test_without_a_gpu_the_cpu_is_read_and_says_why(binding: FakeNvml, why: str) -> None:
    """The reason and what is therefore unknown stand in the note; nothing is raised."""
    probe = pick_probe({}, lambda: binding)
    assert (probe.name, probe.devices()) == ("cpu", ())
    assert why in str(probe.note)
    assert "GPU clocks are unknown" in str(probe.note)


def test_without_a_binding_too() -> None:
    """No package at all is one line, not an error."""

    def bind() -> Nvml:
        raise ProbeUnavailableError("the NVML binding isn't installed")

    assert pick_probe({}, bind).name == "cpu"


def test_the_cpu_probe_claims_nothing_about_a_gpu() -> None:
    """GPU readings are absent; load needs two readings, since it is the share of the time between them."""
    probe: Probe = CpuProbe("no GPU")
    first, second = probe.read(1)[0], probe.read(2)[0]
    assert first.cpu_load_pct is None
    assert second.cpu_load_pct is not None
    assert second == GpuSample(at_ns=2, cpu_clock_mhz=second.cpu_clock_mhz, cpu_load_pct=second.cpu_load_pct)
    probe.close()


@pytest.mark.parametrize("hidden", [None, NotImplementedError, FileNotFoundError])
def test_a_hidden_cpu_frequency_is_absent(
    monkeypatch: pytest.MonkeyPatch, hidden: type[Exception] | None
) -> None:
    """Containers hide it by None or by an error; load is still there."""

    def cpu_freq() -> None:
        if hidden is not None:
            raise hidden

    monkeypatch.setattr(psutil, "cpu_freq", cpu_freq)
    probe = CpuProbe("no GPU")
    probe.read(1)
    (sample,) = probe.read(2)
    assert sample.cpu_clock_mhz is None
    assert sample.cpu_load_pct is not None


def test_a_script_is_played_and_its_end_repeated() -> None:
    """Samples are stamped when read; an exception in the script is raised; an empty script reads nothing."""
    probe = ScriptedProbe([[GpuSample(0, sm_clock_mhz=1)], OSError("x"), [GpuSample(0, sm_clock_mhz=3)]])
    assert probe.read(10) == [GpuSample(10, sm_clock_mhz=1)]
    with pytest.raises(OSError, match="x"):
        probe.read(20)
    assert probe.read(30) == probe.read(30) == [GpuSample(30, sm_clock_mhz=3)]
    assert ScriptedProbe([]).read(1) == []
    probe.close()
    assert (probe.reads, probe.closed) == (4, True)


def test_company_is_what_others_do_on_our_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores that this process may not use are nobody's matter; so is its own work."""
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval, percpu: [90.0, 60.0, 100.0, 100.0])
    monkeypatch.setattr(psutil, "getloadavg", lambda: (3.5, 2.0, 1.0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    monkeypatch.setattr(os, "times", lambda: os.times_result((1.0, 1.0, 0.0, 0.0, 0.0)))
    company = look_at_company(0.5)
    assert (company.cores, company.others, company.load_average) == (2, pytest.approx(1.5), 3.5)


def test_a_look_at_this_machine_is_sane() -> None:
    """No more cores' worth of work than there are cores."""
    company = look_at_company(0.05)
    assert 0 <= company.others <= company.cores
    assert company.load_average is None or company.load_average >= 0
