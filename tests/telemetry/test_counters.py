"""The driver's time counters: asked for in one call, each with a code of its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from radixbench.telemetry.lost import ProbeLostError
from radixbench.telemetry.nvml import NvmlProbe, load_binding
from radixbench.telemetry.readings import COUNTER_FIELDS, read_counters
from tests.telemetry.fake_nvml import COUNTERS, FUNCTION_NOT_FOUND, LOST, NOT_SUPPORTED, FakeGpu, FakeNvml


def test_all_counters_come_in_one_call_a_sample() -> None:
    """Five counters, one call; the energy counter has a function of its own."""
    binding = FakeNvml(FakeGpu())
    probe = NvmlProbe(binding)
    binding.asked_fields.clear()
    (sample,) = probe.read(1)
    assert [getattr(sample, name) for name in COUNTER_FIELDS] == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert sample.energy_mj == 5_000_000
    assert [ids for ids in binding.asked_fields if set(ids) & set(COUNTERS)] == [(74, 76, 269, 270, 271)]


@pytest.mark.parametrize("gone", sorted(COUNTERS))
def test_each_counter_is_found_out_alone(gone: int) -> None:
    """One that the device refuses isn't asked again, isn't 0, and takes no other with it."""
    binding = FakeNvml(FakeGpu(errors={f"field/{gone}": NOT_SUPPORTED}))
    probe = NvmlProbe(binding)
    binding.asked_fields.clear()
    (sample,) = probe.read(1)
    names = {field_id: name for name, field_id in COUNTER_FIELDS.items()}
    assert getattr(sample, names[gone]) is None
    assert sum(getattr(sample, name) is not None for name in COUNTER_FIELDS) == 4
    assert probe.devices()[0].unsupported == (names[gone],)
    assert all(gone not in ids for ids in binding.asked_fields)
    assert probe.failed_reads == 0


def test_a_binding_or_driver_without_field_values_has_no_counters() -> None:
    """Samples still come, and their power through the general call."""
    for binding in (
        FakeNvml(FakeGpu(), missing=("nvmlDeviceGetFieldValues",)),
        FakeNvml(FakeGpu(errors={"field": FUNCTION_NOT_FOUND})),
    ):
        probe = NvmlProbe(binding)
        (sample,) = probe.read(1)
        assert [getattr(sample, name) for name in COUNTER_FIELDS] == [None] * 5
        assert (sample.power_mw, sample.sm_clock_mhz) == (290_000, 1980)
        assert set(probe.devices()[0].unsupported) == set(COUNTER_FIELDS)
        assert probe.failed_reads == 0


def test_a_counter_that_fails_in_the_run_costs_itself_only() -> None:
    """A time-out of one value is counted; the others of the same call are there."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors["field/269"] = 10
    (sample,) = probe.read(1)
    assert (sample.sw_thermal_ns, sample.power_cap_ns, probe.failed_reads) == (None, 1_000, 1)
    gpu.errors.clear()
    assert probe.read(2)[0].sw_thermal_ns == 3_000


def test_a_call_for_counters_that_fails_costs_the_counters() -> None:
    """The power reading goes through the same function and is missing too; clocks are there."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors["field"] = 10
    (sample,) = probe.read(1)
    assert [getattr(sample, name) for name in COUNTER_FIELDS] == [None] * 5
    assert (sample.sm_clock_mhz, probe.failed_reads) == (1980, 2)


@pytest.mark.parametrize(("code", "kept"), [(2, False), (6, False), (999, False), (10, True), (27, True)])
def test_a_counter_must_answer_at_start_unless_it_is_only_late(code: int, kept: bool) -> None:
    """A driver that doesn't know a field says so in many ways; a time-out says nothing."""
    gpu = FakeGpu(errors={"field/270": code})
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors.clear()
    assert (probe.read(1)[0].hw_thermal_ns is not None) is kept


@pytest.mark.parametrize("key", ["field", "field/271"])
def test_a_card_lost_at_its_counters_is_lost(key: str) -> None:
    """Whether the call says so or one value of it."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors[key] = LOST
    with pytest.raises(ProbeLostError, match="no GPU is left"):
        probe.read(1)
    assert probe.note == "GPU 0: the GPU is lost"


def test_a_value_of_a_type_nobody_knows_is_not_guessed() -> None:
    """A later header may have more types: the counter counts as not supported."""
    binding = FakeNvml(FakeGpu())
    binding.value_types[74] = 99
    probe = NvmlProbe(binding)
    assert probe.read(1)[0].power_cap_ns is None
    assert probe.devices()[0].unsupported == ("power_cap_ns",)


def test_without_an_energy_counter_energy_is_absent() -> None:
    """Cards before Volta have none."""
    probe = NvmlProbe(FakeNvml(FakeGpu(errors={"energy": NOT_SUPPORTED})))
    assert probe.read(1)[0].energy_mj is None
    assert probe.devices()[0].unsupported == ("energy_mj",)


def test_the_real_binding_means_the_same() -> None:
    """Field ids are those of its constants, and its own structure is read with whatever type a value comes in."""
    nvml = load_binding()
    assert COUNTER_FIELDS == {
        "power_cap_ns": nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP,
        "sync_boost_ns": nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
        "sw_thermal_ns": nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
        "hw_thermal_ns": nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
        "power_brake_ns": nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
    }
    kinds = {
        "dVal": nvml.NVML_VALUE_TYPE_DOUBLE,
        "uiVal": nvml.NVML_VALUE_TYPE_UNSIGNED_INT,
        "ulVal": nvml.NVML_VALUE_TYPE_UNSIGNED_LONG,
        "ullVal": nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
        "sllVal": nvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG,
        "siVal": nvml.NVML_VALUE_TYPE_SIGNED_INT,
        "usVal": nvml.NVML_VALUE_TYPE_UNSIGNED_SHORT,
    }
    for name, kind in kinds.items():
        answer = nvml.c_nvmlFieldValue_t()
        answer.nvmlReturn, answer.valueType = 0, kind
        setattr(answer.value, name, 1234)
        answers = SimpleNamespace(nvmlDeviceGetFieldValues=lambda _handle, _ids, one=answer: [one])
        assert read_counters(answers, None, ("power_cap_ns",)) == {"power_cap_ns": 1234}
