"""Machines by name, each with the calls that are known to fail there: what is refused is absent, the rest is read."""

from __future__ import annotations

import threading

import pytest

from radixbench.clock import ManualClock
from radixbench.records import GpuSample
from radixbench.telemetry.lost import ProbeUnavailableError
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.probes import CpuProbe, pick_probe
from radixbench.telemetry.sampler import Sampler
from tests.telemetry.fake_nvml import LOST, NO_PERMISSION, NOT_SUPPORTED, FakeGpu, FakeNvml

READINGS = {
    "sm_clock_mhz",
    "memory_clock_mhz",
    "event_reasons",
    "power_mw",
    "temperature_c",
    "utilization_pct",
    "memory_used_bytes",
}
COUNTED = {f"field/{field}": NOT_SUPPORTED for field in (74, 76, 269, 270, 271)} | {"energy": NOT_SUPPORTED}


def refusing(*functions: str, code: int = NOT_SUPPORTED) -> dict[str, int]:
    """Errors of a device that refuses these and has no counters."""
    return COUNTED | dict.fromkeys(functions, code)


def read(gpu: FakeGpu, **options: object) -> tuple[NvmlProbe, GpuSample]:
    """Start a probe on one device and read once."""
    probe = NvmlProbe(FakeNvml(gpu, **options))
    (sample,) = probe.read(1)
    assert probe.failed_reads == 0
    return probe, sample


def told(sample: GpuSample) -> set[str]:
    """The readings that aren't absent."""
    return {name for name in READINGS if getattr(sample, name) is not None}


@pytest.mark.parametrize("memory", [(), ("memory",)], ids=["memory-told", "memory-refused"])
def test_dgx_spark_gb10(memory: tuple[str, ...]) -> None:
    """No power limit, no memory clock; memory itself by the driver's mood: the call is tried, no name is matched."""
    probe, sample = read(
        FakeGpu(name="NVIDIA GB10", errors=refusing("limit", "clock/2", "max_clock/2", *memory))
    )
    (info,) = probe.devices()
    assert (info.power_limit_mw, info.max_memory_clock_mhz) == (None, None)
    missing = {"memory_clock_mhz"} | ({"memory_used_bytes"} if memory else set())
    assert told(sample) == READINGS - missing
    assert (info.memory_total_bytes is None) == bool(memory)


def test_jetson_orin() -> None:
    """JetPack 6: a name and nearly nothing else; sampling goes on and claims nothing."""
    gpu = FakeGpu(
        name="Orin (nvgpu)",
        fields={},
        errors=refusing(
            *("clock", "max_clock", "event", "throttle", "power", "limit"),
            *("temperature", "temperature_v", "utilization", "memory"),
        ),
    )
    probe, sample = read(gpu)
    assert probe.devices()[0].name == "Orin (nvgpu)"
    assert told(sample) == set()
    assert set(probe.devices()[0].unsupported) >= READINGS


@pytest.mark.parametrize("code", [12, 18], ids=["jetson-or-container-without-library", "driver-updated"])
def test_no_library_or_a_stale_one(code: int) -> None:
    """Jetson before JetPack 6, a container without the driver, a driver updated without a restart: the CPU and a reason."""
    with pytest.raises(ProbeUnavailableError):
        NvmlProbe(FakeNvml(init_error=code))
    probe = pick_probe({}, lambda: FakeNvml(init_error=code))
    assert isinstance(probe, CpuProbe)
    assert "GPU clocks are unknown" in str(probe.note)
    assert "\n" not in str(probe.note)


def test_jetson_thor() -> None:
    """Memory, clocks and power refused: utilisation and the name are there, no clock has a source."""
    gpu = FakeGpu(
        name="NVIDIA Thor", fields={}, errors=refusing("clock", "max_clock", "power", "limit", "memory")
    )
    probe, sample = read(gpu)
    assert {"utilization_pct", "event_reasons", "temperature_c"} == told(sample)
    assert (probe.devices()[0].name, probe.devices()[0].clock_source) == ("NVIDIA Thor", None)


@pytest.mark.parametrize("name", ["NVIDIA GH200 480GB", "NVIDIA GB200"])
def test_coherent_memory(name: str) -> None:
    """The call succeeds, but the memory is the operating system's too: a note says that its use isn't reliable."""
    probe, sample = read(FakeGpu(name=name))
    assert told(sample) == READINGS
    assert "memory is shared with the operating system" in str(probe.note)


def test_mig() -> None:
    """No utilisation, memory only with rights; clocks are those of all instances, and the note says so."""
    gpu = FakeGpu(errors={"utilization": NOT_SUPPORTED, "memory": NO_PERMISSION})
    probe, sample = read(gpu, mig={"MIG-1": 0})
    assert told(sample) == READINGS - {"utilization_pct", "memory_used_bytes"}
    instance = NvmlProbe(FakeNvml(gpu, mig={"MIG-1": 0}), visible="MIG-1")
    assert "those of the whole card" in str(instance.note)
    assert instance.read(1)[0].sm_clock_mhz == 1980
    assert probe.note is None


def test_vgpu_guest() -> None:
    """Supported reasons and PCIe throughput, which a guest refuses, are never asked for; reasons themselves are tried."""
    binding = FakeNvml(FakeGpu(errors={"event": NOT_SUPPORTED, "throttle": NOT_SUPPORTED}))
    (sample,) = NvmlProbe(binding).read(1)
    assert sample.event_reasons is None
    assert not [call for call in binding.calls if "Supported" in call or "Pcie" in call]


def test_wsl2() -> None:
    """Older drivers refuse utilisation; memory works; process lists are never asked for."""
    binding = FakeNvml(FakeGpu(errors={"utilization": NOT_SUPPORTED}))
    (sample,) = NvmlProbe(binding).read(1)
    assert told(sample) == READINGS - {"utilization_pct"}
    assert not [call for call in binding.calls if "Process" in call]


def test_laptop() -> None:
    """No power limit; everything else as on any card."""
    probe, sample = read(FakeGpu(name="NVIDIA GeForce RTX 2070 with Max-Q", errors={"limit": NOT_SUPPORTED}))
    assert told(sample) == READINGS
    assert probe.devices()[0].power_limit_mw is None


def test_off_the_bus_in_the_run() -> None:
    """Every call fails from the fourth tick on: three samples stay, sampling ends with a reason, nothing is raised."""
    gpu, clock, over = FakeGpu(), ManualClock(), threading.Event()
    ticks = 0

    def wait(duration: int) -> bool:
        nonlocal ticks
        clock.advance(duration)
        ticks += 1
        if ticks == 3:
            gpu.errors["*"] = LOST
            over.set()
        return ticks > 20

    sampler = Sampler(NvmlProbe(FakeNvml(gpu)), clock, 200, wait)
    sampler.start()
    assert over.wait(30)
    sampler._thread.join(30)
    samples, info = sampler.stop()
    assert len(samples) == 3
    assert info.ended_early == "no GPU is left to read"
    assert "GPU 0: the GPU is lost" in str(info.note)
