"""Reading a probe at a steady pace beside a run, without ever disturbing it.

Ticks lie on an absolute schedule, start + k x interval; a tick that comes while the one before is still
being read is counted as missed, not made up for. Whatever a probe raises costs at most its own samples.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from radixbench.clock import Clock, MonotonicClock
from radixbench.errors import UsageError
from radixbench.records import GpuSample, TelemetryInfo
from radixbench.telemetry.lost import ProbeLostError
from radixbench.telemetry.probes import Probe
from radixbench.units import NS_PER_MS, NS_PER_S

MIN_INTERVAL_MS = 100
"""Faster polling takes locks in the driver that the workload waits for."""

_JOIN_S = 5.0

Wait = Callable[[int], bool]
"""Lets that many nanoseconds pass, or fewer when sampling shall end; says whether it shall."""


class Sampling(NamedTuple):
    """What a sampler read, in the order it read it, and how that came about."""

    samples: tuple[GpuSample, ...]
    info: TelemetryInfo


@dataclass(slots=True)
class Tally:
    """What a sampling loop has so far; grows while it runs. ``latest`` is replaced as a whole, so any thread may read it."""

    samples: list[GpuSample] = field(default_factory=list)
    ticks: int = 0
    missed_ticks: int = 0
    failed_ticks: int = 0
    read_ns: int = 0
    latest: tuple[GpuSample, ...] | None = None
    notes: list[str] = field(default_factory=list)
    ended_early: str | None = None


def sample_until(probe: Probe, clock: Clock, interval_ns: int, wait: Wait, tally: Tally) -> None:
    """Read ``probe`` at once and then at every tick, until the devices are gone or ``wait`` says stop.

    Then it is read once more: counters tell of the time between readings, and so of the run to its end.
    """
    start_ns = clock.now_ns()
    place = 0
    stopping = False
    while True:
        begin_ns = clock.now_ns()
        going = _read_once(probe, begin_ns, tally)
        end_ns = clock.now_ns()
        tally.read_ns += end_ns - begin_ns
        if stopping or not going:
            return
        next_place = max(place + 1, -((start_ns - end_ns) // interval_ns))
        tally.missed_ticks += next_place - place - 1
        place = next_place
        stopping = wait(start_ns + place * interval_ns - end_ns)


def _read_once(probe: Probe, at_ns: int, tally: Tally) -> bool:
    """One tick; whether there will be another."""
    tally.ticks += 1
    try:
        read = tuple(probe.read(at_ns))
        tally.samples += read
        tally.latest = read
    except ProbeLostError as error:
        tally.ended_early = error.message
        tally.notes.append(f"sampling ended early: {error.message}")
        return False
    except Exception as error:  # noqa: BLE001 - telemetry may fail in ways nobody foresaw, the run may not
        tally.failed_ticks += 1
        if tally.failed_ticks == 1:
            tally.notes.append(f"a reading failed: {type(error).__name__}: {error}")
    return True


class Sampler:
    """A thread that reads ``probe`` every ``interval_ms`` (at least 100) between ``start`` and ``stop``.

    Used once; the probe stays open, for the next run. ``wait`` replaces the real waiting in tests.
    """

    def __init__(
        self, probe: Probe, clock: Clock | None = None, interval_ms: int = 200, wait: Wait | None = None
    ) -> None:
        if interval_ms < MIN_INTERVAL_MS:
            raise UsageError(
                f"a telemetry interval of {interval_ms} ms would disturb the run",
                remedy=f"use {MIN_INTERVAL_MS} ms or more",
            )
        self._probe = probe
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._interval_ns = interval_ms * NS_PER_MS
        self._end = threading.Event()
        self._wait: Wait = self._really_wait if wait is None else wait
        self._failed_before = probe.failed_reads
        self._tally = Tally()
        self._thread = threading.Thread(target=self._run, name="radixbench-telemetry", daemon=True)

    def start(self) -> None:
        """Begin sampling; the first reading is taken at once."""
        self._failed_before = self._probe.failed_reads
        self._thread.start()

    def latest(self) -> tuple[GpuSample, ...] | None:
        """What the last good tick read, one sample a device, for a live view; ``None`` before the first. From any thread."""
        return self._tally.latest

    def stop(self) -> Sampling:
        """End sampling and hand over what was read, even from a probe that no longer answers."""
        self._end.set()
        self._thread.join(_JOIN_S)
        tally, notes = self._tally, list(self._tally.notes)
        if self._thread.is_alive():
            notes.append(f"the probe hasn't answered for {_JOIN_S:g} s")
        if self._probe.note is not None:
            notes.insert(0, self._probe.note)
        samples = tuple(tally.samples)
        return Sampling(
            samples=samples,
            info=TelemetryInfo(
                probe=self._probe.name,
                interval_ns=self._interval_ns,
                ticks=tally.ticks,
                missed_ticks=tally.missed_ticks,
                failed_reads=self._probe.failed_reads - self._failed_before + tally.failed_ticks,
                read_ns_mean=tally.read_ns // tally.ticks if tally.ticks else None,
                devices=self._probe.devices(),
                note="; ".join(notes) or None,
                ended_early=tally.ended_early,
                unread=self._probe.unread,
            ),
        )

    def _run(self) -> None:
        with contextlib.suppress(Exception):  # then what was known of the devices before stays
            self._probe.renew()
        sample_until(self._probe, self._clock, self._interval_ns, self._wait, self._tally)

    def _really_wait(self, duration: int) -> bool:
        return self._end.wait(max(duration, 0) / NS_PER_S)
