"""NVML on machines of every kind: what is missing reads as absent, and nothing ends a run."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from radixbench.records import GpuSample
from radixbench.telemetry import nvml
from radixbench.telemetry.lost import ProbeLostError, ProbeUnavailableError
from radixbench.telemetry.nvml import NvmlProbe
from tests.telemetry.fake_nvml import (
    FUNCTION_NOT_FOUND,
    LIBRARY_NOT_FOUND,
    LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    FakeGpu,
    FakeNvml,
)

EVENT, THROTTLE = "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"


def one(gpu: FakeGpu, **options: object) -> tuple[NvmlProbe, GpuSample]:
    probe = NvmlProbe(FakeNvml(gpu, **options))
    (sample,) = probe.read(77)
    return probe, sample


def test_a_whole_card_is_read_whole() -> None:
    """Every reading in its unit, the enforced power limit, the clock and power kinds named."""
    probe, sample = one(FakeGpu(reasons=0x4))
    assert sample == GpuSample(
        at_ns=77,
        device=0,
        sm_clock_mhz=1980,
        memory_clock_mhz=3201,
        event_reasons=0x4,
        power_mw=300_000,
        temperature_c=41,
        utilization_pct=97,
        memory_used_bytes=20 << 30,
        power_cap_ns=1_000,
        sync_boost_ns=2_000,
        sw_thermal_ns=3_000,
        hw_thermal_ns=4_000,
        power_brake_ns=5_000,
        energy_mj=5_000_000,
    )
    (info,) = probe.devices()
    assert (info.name, info.uuid, info.driver) == ("NVIDIA H200", "GPU-aaaa-1", "570.86.15")
    assert (info.max_sm_clock_mhz, info.max_memory_clock_mhz) == (1985, 3206)
    assert (info.power_limit_mw, info.memory_total_bytes) == (700_000, 150 << 30)
    assert (info.clock_source, info.power_kind, info.unsupported) == ("sm", "average", ())
    assert (probe.name, probe.note, probe.failed_reads) == ("nvml", None, 0)


@pytest.mark.parametrize("code", [NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND])
@pytest.mark.parametrize(
    ("function", "reading"),
    [
        ("memory", "memory_used_bytes"),
        ("utilization", "utilization_pct"),
        ("clock/2", "memory_clock_mhz"),
    ],
)
def test_a_refused_reading_is_absent(code: int, function: str, reading: str) -> None:
    """Faults 127, 128: on GB10 and under MIG calls are refused; the rest works, and nothing counts as failed."""
    probe, sample = one(FakeGpu(errors={function: code}))
    assert getattr(sample, reading) is None
    assert sample.sm_clock_mhz == 1980
    assert probe.devices()[0].unsupported == (reading,)
    assert probe.failed_reads == 0


def test_a_refused_reading_is_not_asked_again() -> None:
    """What is refused is found out once, at start."""
    binding = FakeNvml(FakeGpu(errors={"utilization": NOT_SUPPORTED}))
    probe = NvmlProbe(binding)
    binding.calls.clear()
    probe.read(1)
    assert "nvmlDeviceGetUtilizationRates" not in binding.calls


def test_old_bindings_know_throttle_reasons_only() -> None:
    """Fault 130: without the new function the old one is used, and the old binding is named."""
    probe, sample = one(FakeGpu(reasons=0x24), missing=(EVENT,))
    assert sample.event_reasons == 0x24
    assert "pip install nvidia-ml-py" in str(probe.note)


def test_old_drivers_lack_event_reasons() -> None:
    """Fault 130: a new binding on a driver below 535 finds no symbol and falls back."""
    probe, sample = one(FakeGpu(reasons=0x20, errors={"event": FUNCTION_NOT_FOUND}))
    assert (sample.event_reasons, probe.note) == (0x20, None)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": (EVENT, THROTTLE)},
        {"gpu": FakeGpu(errors={"event": NOT_SUPPORTED, "throttle": NOT_SUPPORTED})},
    ],
)
def test_without_any_reasons_they_are_unknown(options: dict[str, object]) -> None:
    """Unknown is not "none": a card that can't tell isn't a card that wasn't throttled."""
    gpu = options.pop("gpu", FakeGpu())
    assert isinstance(gpu, FakeGpu)
    probe, sample = one(gpu, **options)
    assert sample.event_reasons is None
    assert "event_reasons" in probe.devices()[0].unsupported


def test_unknown_bits_are_kept() -> None:
    """A newer driver's bits travel as they are."""
    assert one(FakeGpu(reasons=0x8000_0204))[1].event_reasons == 0x8000_0204


def test_the_graphics_clock_stands_in_for_the_sm_clock() -> None:
    """And is named, also for the maximum."""
    probe, sample = one(FakeGpu(errors={"clock/1": NOT_SUPPORTED}))
    assert sample.sm_clock_mhz == 1978
    assert probe.devices()[0].clock_source == "graphics"
    assert probe.devices()[0].max_sm_clock_mhz == 1983


def test_no_clock_at_all_has_no_source() -> None:
    """Jetson Thor tells no clocks; the source is then unknown too."""
    probe, sample = one(FakeGpu(errors={"clock": NOT_SUPPORTED, "max_clock": NOT_SUPPORTED}))
    info = probe.devices()[0]
    assert (sample.sm_clock_mhz, info.clock_source, info.max_sm_clock_mhz) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "architecture", "power", "kind"),
    [
        ({185: 300_000, 186: 310_000}, 9, 300_000, "average"),
        ({186: 310_000}, 9, 310_000, "instant"),
        ({}, 9, 290_000, "average"),
        ({}, 7, 290_000, None),
        ({}, 5, 290_000, "instant"),
    ],
)
def test_power_says_what_it_means(
    fields: dict[int, int], architecture: int, power: int, kind: str | None
) -> None:
    """Average and instantaneous power are told apart; the general call means one or the other by generation."""
    probe, sample = one(FakeGpu(fields=fields, architecture=architecture))
    assert (sample.power_mw, probe.devices()[0].power_kind) == (power, kind)


def test_no_power_no_kind() -> None:
    """A card without any power reading has no kind of it either."""
    probe, sample = one(FakeGpu(fields={}, errors={"power": NOT_SUPPORTED}))
    assert (sample.power_mw, probe.devices()[0].power_kind) == (None, None)


def test_the_old_temperature_call_is_enough() -> None:
    """Bindings before the new one read the same sensor."""
    assert one(FakeGpu(), missing=("nvmlDeviceGetTemperatureV",))[1].temperature_c == 42


def test_names_in_bytes_are_decoded() -> None:
    """Old bindings give bytes."""
    probe, _ = one(FakeGpu(name=b"Tesla V100", uuid=b"GPU-b"))
    assert (probe.devices()[0].name, probe.devices()[0].uuid) == ("Tesla V100", "GPU-b")


def test_a_failing_call_costs_one_reading() -> None:
    """A time-out in the run reads as absent and is counted; the next reading is there again."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors["utilization"] = 10
    assert probe.read(1)[0].utilization_pct is None
    del gpu.errors["utilization"]
    assert probe.read(2)[0].utilization_pct == 97
    assert probe.failed_reads == 1


def test_a_hiccup_at_start_does_not_disable_a_reading() -> None:
    """Only a refusal is for good; a time-out while starting isn't one."""
    gpu = FakeGpu(errors={"utilization": 10})
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors.clear()
    assert probe.read(1)[0].utilization_pct == 97
    assert probe.devices()[0].unsupported == ()


def test_a_lost_card_ends_its_own_samples() -> None:
    """The other card is read on, and the note says which one went."""
    first, second = FakeGpu(), FakeGpu(uuid="GPU-bbbb-2")
    probe = NvmlProbe(FakeNvml(first, second))
    assert [sample.device for sample in probe.read(1)] == [0, 1]
    first.errors["*"] = LOST
    assert [sample.device for sample in probe.read(2)] == [1]
    assert probe.note == "GPU 0: the GPU is lost"
    second.errors["*"] = LOST
    with pytest.raises(ProbeLostError, match="no GPU is left"):
        probe.read(3)
    assert len(probe.devices()) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (LIBRARY_NOT_FOUND, "libnvidia-ml"),
        (9, "driver isn't loaded"),
        (18, "without a restart"),
        (4711, "NVML error 4711"),
    ],
)
def test_without_nvml_there_is_a_reason(code: int, words: str) -> None:
    """Errors are told by number, since their texts come from the driver."""
    with pytest.raises(ProbeUnavailableError, match=words):
        NvmlProbe(FakeNvml(init_error=code))


def test_no_card_is_no_probe_and_leaves_nvml_closed() -> None:
    """Init and shutdown stay balanced on every way out."""
    binding = FakeNvml()
    with pytest.raises(ProbeUnavailableError, match="finds no GPU"):
        NvmlProbe(binding)
    assert binding.open == 0
    lost = FakeNvml(FakeGpu(errors={"*": LOST}))
    with pytest.raises(ProbeLostError):
        NvmlProbe(lost)
    assert lost.open == 0
    fine = FakeNvml(FakeGpu())
    NvmlProbe(fine).close()
    assert fine.open == 0


def test_only_visible_cards_are_read() -> None:
    """``CUDA_VISIBLE_DEVICES`` counts; samples carry NVML's own index."""
    cards = [FakeGpu(uuid=f"GPU-{place}") for place in range(3)]
    assert [sample.device for sample in NvmlProbe(FakeNvml(*cards), visible="2,0").read(1)] == [2, 0]
    assert [sample.device for sample in NvmlProbe(FakeNvml(*cards), visible="GPU-1").read(1)] == [1]
    with pytest.raises(ProbeUnavailableError, match="CUDA_VISIBLE_DEVICES= shows no GPU"):
        NvmlProbe(FakeNvml(*cards), visible="")


def test_mig_instances_stand_for_their_card() -> None:
    """Clocks of an instance are those of the whole card, and the note says so."""
    binding = FakeNvml(FakeGpu(), FakeGpu(uuid="GPU-b"), mig={"MIG-77": 1})
    probe = NvmlProbe(binding, visible="MIG-77")
    assert [sample.device for sample in probe.read(1)] == [1]
    assert "all MIG instances together" in str(probe.note)


def test_unequal_cards_by_number_are_doubtful() -> None:
    """CUDA may count the fastest first; with PCI order set there is no doubt."""
    cards = (FakeGpu(name="A"), FakeGpu(name="B", uuid="GPU-b"))
    assert "CUDA_DEVICE_ORDER" in str(NvmlProbe(FakeNvml(*cards), visible="0").note)
    assert NvmlProbe(FakeNvml(*cards), visible="0", pci_order=True).note is None


def test_another_projects_package_is_recognised(tmp_path: Path) -> None:
    """A directory named pynvml hides NVIDIA's module: it works with fallbacks, and the note says what to do."""
    binding = FakeNvml(FakeGpu(), missing=(EVENT,))
    binding.__path__ = [str(tmp_path)]  # type: ignore[attr-defined]  # only packages have one
    binding.__file__ = "/site/pynvml/__init__.py"  # type: ignore[attr-defined]  # as modules have
    note = str(NvmlProbe(binding).note)
    assert note.startswith("another project's pynvml package is in use (/site/pynvml/__init__.py)")


def test_no_binding_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the package goes on without it."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(ProbeUnavailableError, match="isn't installed"):
        nvml.load_binding()


def test_the_real_binding_has_what_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function named here exists in the installed binding: no fallback by misspelling."""
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    real = nvml.load_binding()
    assert isinstance(real, ModuleType)
    for name in (name for name in dir(FakeNvml) if name.startswith("nvml")):
        assert callable(getattr(real, name))


def test_nothing_slow_is_ever_asked() -> None:
    """Fault 131: no process lists, fans or PCIe counters, at start or later."""
    binding = FakeNvml(FakeGpu())
    NvmlProbe(binding).read(1)
    assert not [call for call in binding.calls if any(word in call for word in ("Process", "Fan", "Pcie"))]
