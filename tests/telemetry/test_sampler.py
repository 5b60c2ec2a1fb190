"""Sampling at a steady pace: on a clock that tests move, then once on the real one."""

from __future__ import annotations

import threading

import pytest

from radixbench.clock import ManualClock
from radixbench.errors import UsageError
from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry import sampler
from radixbench.telemetry.lost import ProbeLostError
from radixbench.telemetry.nvml import NvmlProbe
from radixbench.telemetry.probes import Probe, ScriptedProbe
from radixbench.telemetry.sampler import Sampler, Sampling, Tally, sample_until
from tests.telemetry.fake_nvml import LOST, FakeGpu, FakeNvml

MS = 1_000_000
SAMPLE = GpuSample(0, sm_clock_mhz=1980)


def sample_for(probe: Probe, clock: ManualClock, waits: int) -> Tally:
    """Sample every 200 ms until the loop has waited ``waits`` times; the last reading comes after that."""
    tally = Tally()
    waited = 0

    def wait(duration: int) -> bool:
        nonlocal waited
        clock.advance(duration)
        waited += 1
        return waited >= waits

    sample_until(probe, clock, 200 * MS, wait, tally)
    return tally


def test_ticks_lie_on_an_absolute_schedule() -> None:
    """Reads of 3 ms don't add up: the stamps stay at start + k x 200 ms."""
    clock = ManualClock(at_ns=50 * MS)
    probe = ScriptedProbe([[SAMPLE]], on_read=lambda: clock.advance(3 * MS))
    tally = sample_for(probe, clock, waits=3)
    assert [sample.at_ns // MS for sample in tally.samples] == [50, 250, 450, 650]
    assert (tally.ticks, tally.missed_ticks, tally.read_ns) == (4, 0, 12 * MS)


def test_slow_reads_miss_ticks_and_are_counted() -> None:
    """A read of 450 ms begun at 0 covers the ticks at 200 and 400; the next is at 600, not later."""
    clock = ManualClock()
    durations = iter([450, 1, 200, 1])
    probe = ScriptedProbe([[SAMPLE]], on_read=lambda: clock.advance(next(durations) * MS))
    tally = sample_for(probe, clock, waits=3)
    assert [sample.at_ns // MS for sample in tally.samples] == [0, 600, 800, 1000]
    assert tally.missed_ticks == 2


def test_a_probe_that_raises_costs_its_samples_only() -> None:
    """Whatever is raised, the loop goes on; the first reason is noted."""
    clock = ManualClock()
    probe = ScriptedProbe([[SAMPLE], ValueError("odd"), OSError("worse"), [SAMPLE]])
    tally = sample_for(probe, clock, waits=3)
    assert [sample.at_ns // MS for sample in tally.samples] == [0, 600]
    assert (tally.ticks, tally.failed_ticks) == (4, 2)
    assert tally.notes == ["a reading failed: ValueError: odd"]


def test_a_lost_device_ends_sampling_and_keeps_the_samples() -> None:
    """Five samples, then the GPU is gone: five samples are kept, nothing is asked again."""
    clock = ManualClock()
    probe = ScriptedProbe([*[[SAMPLE]] * 5, ProbeLostError("the GPU is lost")])
    tally = sample_for(probe, clock, waits=50)
    assert len(tally.samples) == 5
    assert probe.reads == 6
    assert tally.notes == ["sampling ended early: the GPU is lost"]


def run_in_thread(probe: Probe, clock: ManualClock, ticks: int) -> Sampling:
    """A sampler whose waits end so that there are ``ticks`` readings, the last when it is stopped."""
    left = threading.Semaphore(ticks - 2)
    over = threading.Event()

    def wait(duration: int) -> bool:
        clock.advance(duration)
        if left.acquire(blocking=False):
            return False
        over.set()
        return True

    sampler = Sampler(probe, clock, 200, wait)
    sampler.start()
    assert over.wait(30)
    return sampler.stop()


def test_a_sampler_tells_how_its_samples_came_about() -> None:
    """Probe, interval, ticks, cost, devices and notes travel with the samples."""
    clock = ManualClock()
    device = DeviceInfo(index=0, name="card")
    probe = ScriptedProbe(
        [[SAMPLE], OSError("x"), [SAMPLE]],
        described=(device,),
        note="be careful",
        on_read=lambda: clock.advance(2 * MS),
    )
    samples, info = run_in_thread(probe, clock, ticks=3)
    assert [sample.at_ns // MS for sample in samples] == [0, 400]
    assert (info.probe, info.interval_ns, info.devices) == ("scripted", 200 * MS, (device,))
    assert (info.ticks, info.missed_ticks, info.failed_reads, info.read_ns_mean) == (3, 0, 1, 2 * MS)
    assert info.note == "be careful; a reading failed: OSError: x"
    assert not probe.closed


def test_failed_readings_are_counted_per_run() -> None:
    """One probe serves many runs; each run's count starts at 0."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors["utilization"] = 10
    assert run_in_thread(probe, ManualClock(), ticks=3).info.failed_reads == 3
    assert run_in_thread(probe, ManualClock(), ticks=2).info.failed_reads == 2


def test_a_gpu_lost_in_a_run_is_told_once() -> None:
    """Fault list of NVML: samples so far are kept, the run goes on, the note says why there are no more."""
    gpu = FakeGpu()
    clock = ManualClock()
    probe = NvmlProbe(FakeNvml(gpu))
    reads = 0

    def wait(duration: int) -> bool:
        nonlocal reads
        reads += 1
        if reads == 5:
            gpu.errors["*"] = LOST
        clock.advance(duration)
        return False

    sampler = Sampler(probe, clock, 200, wait)
    sampler.start()
    sampler._thread.join(30)
    samples, info = sampler.stop()
    assert len(samples) == 5
    assert info.note == "GPU 0: the GPU is lost; sampling ended early: no GPU is left to read"


def test_a_gpu_that_comes_back_is_read_in_the_next_run() -> None:
    """Lost in the first run only: that one says so, the next has its samples and no such note."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    gpu.errors["*"] = LOST
    first = Sampler(probe, ManualClock(), 200, lambda _: False)
    first.start()
    first._thread.join(30)
    assert first.stop().info.ended_early == "no GPU is left to read"
    gpu.errors.clear()
    samples, info = run_in_thread(probe, ManualClock(), ticks=3)
    assert (len(samples), info.note, info.ended_early) == (3, None, None)


def test_every_run_has_the_power_limit_it_began_under() -> None:
    """Somebody lowers it between two runs; one that can't be read again keeps what was known."""
    gpu = FakeGpu()
    probe = NvmlProbe(FakeNvml(gpu))
    limits = []
    for limit in (700_000, 500_000):
        gpu.limit = limit
        limits += [one.power_limit_mw for one in run_in_thread(probe, ManualClock(), ticks=2).info.devices]
    gpu.errors["limit"] = 10
    limits += [one.power_limit_mw for one in run_in_thread(probe, ManualClock(), ticks=2).info.devices]
    assert limits == [700_000, 500_000, 500_000]


def test_a_probe_that_can_not_renew_is_read_all_the_same() -> None:
    """Telemetry may fail, the run may not."""

    class Stubborn(ScriptedProbe):
        def renew(self) -> None:
            raise OSError("no")

    samples, _ = run_in_thread(Stubborn([[SAMPLE]]), ManualClock(), ticks=2)
    assert len(samples) == 2


def test_a_tick_takes_few_calls() -> None:
    """Nine for a card that tells everything, all counters in one of them; a run adds one for its power limit."""
    binding = FakeNvml(FakeGpu())
    probe = NvmlProbe(binding)
    binding.calls.clear()
    run_in_thread(probe, ManualClock(), ticks=5)
    calls = [call for call in binding.calls if call.startswith("nvmlDevice")]
    assert calls.count("nvmlDeviceGetEnforcedPowerLimit") == 1
    assert len(calls) == 1 + 5 * 9


def test_intervals_that_disturb_are_refused() -> None:
    """Fault 131: less than 100 ms takes locks the workload waits for."""
    with pytest.raises(UsageError, match="use 100 ms or more"):
        Sampler(ScriptedProbe([]), interval_ms=99)


def test_a_probe_that_hangs_does_not_hold_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver call that never returns: the samples so far are handed over, with a note."""
    monkeypatch.setattr(sampler, "_JOIN_S", 0.05)
    hung, free = threading.Event(), threading.Event()

    def hang() -> None:
        hung.set()
        free.wait(60)

    sampling = Sampler(ScriptedProbe([[SAMPLE]], on_read=hang))
    sampling.start()
    assert hung.wait(30)
    samples, info = sampling.stop()
    free.set()
    assert samples == ()
    assert info.note == "the probe hasn't answered for 0.05 s"


def test_the_real_clock_samples_at_once_and_stops_at_once() -> None:
    """The first reading doesn't wait for the first interval, and stopping, with the last, doesn't wait for the next."""
    read = threading.Event()
    sampling = Sampler(ScriptedProbe([[SAMPLE]], on_read=read.set), interval_ms=60_000)
    sampling.start()
    assert read.wait(30)
    samples, info = sampling.stop()
    assert len(samples) == info.ticks == 2
    assert info.read_ns_mean is not None


def test_the_last_good_reading_can_be_watched() -> None:
    """Nothing before the first; a reading that fails leaves the one before."""
    clock = ManualClock()
    sampling = Sampler(ScriptedProbe([[SAMPLE]]), clock, 200, lambda _: True)
    assert sampling.latest() is None
    tally = sample_for(ScriptedProbe([[SAMPLE], OSError("x")]), clock, waits=1)
    assert tally.latest == (tally.samples[0],)
    sampling.start()
    sampling.stop()
    assert sampling.latest() is not None
