"""Clocks and NVML: what slowed down, and what couldn't be read, is told and costs no result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from radixbench.capture.store import load, save
from radixbench.clock import ManualClock
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.errors import UsageError
from radixbench.metrics.gpu import device_clocks
from radixbench.records import GpuSample
from radixbench.report.clocks import clocks_figure
from radixbench.stats.sample import Absent
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.probes import ScriptedProbe
from radixbench.telemetry.sampler import Sampler
from tests.builders import CARD, gpu_samples, make_sweep, ns
from tests.report.evidence import side_of
from tests.telemetry.fake_nvml import FUNCTION_NOT_FOUND, NOT_SUPPORTED, FakeGpu, FakeNvml


def on_cards(on: tuple[GpuSample, ...], off: tuple[GpuSample, ...]) -> tuple[Any, Any]:
    """A sweep's captures with these samples in each run of an arm."""
    facts = {"devices": [CARD], "identity": {"device": "cuda"}}
    return make_sweep(on_options={"gpu": on} | facts, off_options={"gpu": off} | facts)


def test_fault_121_throttled_all_the_time_keeps_the_results() -> None:
    """Every sample throttled in both arms: all figures stand, marked, and no direction is claimed."""
    hot = gpu_samples(reasons=0x20)
    comparison = compare(*on_cards(hot, hot))
    row = next(change for change in comparison.changes if change.metric == "ttft_p50")
    assert row.factor is not None
    assert row.factor.value == pytest.approx(10.0)
    assert "both-throttled" in row.caveats
    assert row.bound is None


def test_fault_122_a_hot_start_is_told() -> None:
    """Start temperatures are kept; more than 15 °C apart is a caveat that names both."""
    comparison = compare(*on_cards(gpu_samples(temperature=40), gpu_samples(temperature=56)))
    assert "A started at 40 °C, B at 56 °C" in next(
        one.text for one in comparison.caveats if one.code == "temperature-gap"
    )
    assert [one.a.start_temperature_c for one in comparison.clocks] == [40]
    near = compare(*on_cards(gpu_samples(temperature=40), gpu_samples(temperature=55)))
    assert not [one for one in near.caveats if one.code == "temperature-gap"]


def test_fault_124_thermal_slowdown_is_shown_with_its_share() -> None:
    """Bit 0x20 in 5 % of samples is named and counted; the driver's counter tells of what samples miss."""
    on, off = on_cards(
        gpu_samples(seconds=9),
        tuple(
            GpuSample(at_ns=ns(i / 10), sm_clock_mhz=1900, event_reasons=0x20 if i % 20 == 7 else 0)
            for i in range(80)
        ),
    )
    caveat = next(one for one in compare(on, off).caveats if one.code == "throttled")
    assert "SW thermal slowdown 5.0 % of samples" in caveat.text
    notes = " ".join(clocks_figure([side_of(off)]).notes)
    assert "SW thermal slowdown" in notes
    counted = tuple(
        GpuSample(at_ns=ns(i / 10), sm_clock_mhz=1900, event_reasons=0, sw_thermal_ns=ns(i / 100))
        for i in range(100)
    )
    clocks = device_clocks(on_cards(counted, counted)[0].runs[0])
    assert not isinstance(clocks, Absent)
    assert clocks[0].reasons == {"SW thermal slowdown": pytest.approx(0.1)}
    assert clocks[0].source == "counters"


def test_fault_125_a_capture_tells_its_surroundings(tmp_path: Path) -> None:
    """The file has an environment block; what wasn't read is absent in it, and null in the comparison."""
    on, off = make_sweep()
    save(on, tmp_path / "on.json")
    document = json.loads((tmp_path / "on.json").read_text())
    assert {"python", "cpu", "cores", "packages", "host_id"} <= set(document["environment"])
    assert load(tmp_path / "on.json") == on
    (clocks,) = to_document(compare(on, off))["clocks"]
    assert (clocks["a"]["median"], clocks["a"]["throttled_share"], clocks["explains"]) == (None, None, None)
    assert clocks["a"]["why_unknown"] == "the model ran on the CPU"


def test_fault_127_memory_not_supported_ends_nothing() -> None:
    """GB10 refuses memory info: samples come, without it."""
    probe = NvmlProbe(FakeNvml(FakeGpu(name="NVIDIA GB10", errors={"memory": NOT_SUPPORTED})))
    samples = [probe.read(at)[0] for at in range(5)]
    assert [one.memory_used_bytes for one in samples] == [None] * 5
    assert all(one.sm_clock_mhz == 1980 for one in samples)
    assert (probe.devices()[0].memory_total_bytes, probe.failed_reads) == (None, 0)


@pytest.mark.parametrize("errors", [{}, {"memory": NOT_SUPPORTED}])
def test_fault_128_two_owners_of_one_device_see_different_things(errors: dict[str, int]) -> None:
    """The call is tried; the device's name decides nothing about it."""
    (sample,) = NvmlProbe(FakeNvml(FakeGpu(name="NVIDIA GB10", errors=errors))).read(1)
    assert (sample.memory_used_bytes is None) == bool(errors)
    assert sample.event_reasons == 0


@pytest.mark.parametrize(
    "binding",
    [
        FakeNvml(FakeGpu(reasons=0x24), missing=("nvmlDeviceGetCurrentClocksEventReasons",)),
        FakeNvml(FakeGpu(reasons=0x24, errors={"event": FUNCTION_NOT_FOUND})),
    ],
    ids=["old-binding", "old-driver"],
)
def test_fault_130_bindings_and_drivers_of_different_age(binding: FakeNvml) -> None:
    """Names of neither spelling are needed: the older function is asked and bits are read by our own table."""
    assert not [name for name in dir(binding) if "Reason" in name and not name.startswith("nvmlDevice")]
    (sample,) = NvmlProbe(binding).read(1)
    assert sample.event_reasons == 0x24


def test_fault_131_sampling_stays_out_of_the_way() -> None:
    """200 ms by default and 100 at least; no process list, fan or PCIe call; what a reading costs is measured and shown."""
    binding = FakeNvml(FakeGpu())
    probe = NvmlProbe(binding)
    clock = ManualClock()
    for _ in range(3):
        probe.read(1)
    assert not [call for call in binding.calls if any(word in call for word in ("Process", "Fan", "Pcie"))]
    with pytest.raises(UsageError, match="use 100 ms or more"):
        Sampler(probe, clock, 99)
    slow = ScriptedProbe([[GpuSample(0, sm_clock_mhz=1)]], on_read=lambda: clock.advance(2_500_000))
    sampler = Sampler(slow, clock, wait=lambda _: True)
    sampler.start()
    sampler._thread.join(30)
    samples, info = sampler.stop()
    assert info.interval_ns == 200_000_000
    assert info.read_ns_mean == 2_500_000
    on, _ = on_cards(gpu_samples(), gpu_samples())
    shown = clocks_figure([side_of(replace(on, runs=(replace(on.runs[0], telemetry=info),)))])
    assert len(samples) == 2
    assert "a reading took 2.50 ms" in " ".join(shown.notes)
