"""Where readings come from: a GPU, else the CPU, else a script.

A probe reads its devices on request and keeps no time of its own. ``pick_probe`` takes NVML when it
answers and otherwise a probe that says openly what it can't see.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import psutil

from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry.lost import ProbeLostError, ProbeUnavailableError
from radixbench.telemetry.nvml import NvmlProbe, load_binding
from radixbench.telemetry.readings import Nvml
from radixbench.units import Seconds


class Probe(Protocol):
    """Something that reads devices.

    ``failed_reads`` counts single readings that failed after start and are ``None`` in their samples. ``unread`` is why
    there is no GPU among its devices, ``None`` where there is one.
    """

    name: str
    failed_reads: int
    unread: str | None

    @property
    def note(self) -> str | None:
        """What a reader of its samples should know, such as what it can't see."""
        ...

    def devices(self) -> tuple[DeviceInfo, ...]:
        """What stays the same for each device in a run; no devices without a GPU."""
        ...

    def renew(self) -> None:
        """Ask again what may change from run to run: the enforced power limit."""
        ...

    def read(self, at_ns: int) -> list[GpuSample]:
        """One sample per device, stamped ``at_ns``. Raises ``ProbeLostError`` once nothing is left to read."""
        ...

    def close(self) -> None:
        """Let go of the devices; nothing is read afterwards."""
        ...


class CpuProbe:
    """Mean CPU frequency and load: what a machine without a readable GPU can honestly tell.

    Load is that of the whole machine since the reading before, so the first reading has none.
    """

    name = "cpu"

    def __init__(self, why: str) -> None:
        self.unread: str | None = why
        self.note: str | None = (
            f"{why}: only this machine's CPU frequency and load are sampled, GPU clocks are unknown"
        )
        self.failed_reads = 0
        self._has_read = False
        self._tells_frequency = _cpu_mhz() is not None

    def devices(self) -> tuple[DeviceInfo, ...]:
        return ()

    def renew(self) -> None:
        """Nothing changes."""

    def read(self, at_ns: int) -> list[GpuSample]:
        load = psutil.cpu_percent(interval=None)
        sample = GpuSample(
            at_ns=at_ns,
            cpu_clock_mhz=_cpu_mhz() if self._tells_frequency else None,
            cpu_load_pct=load if self._has_read else None,
        )
        self._has_read = True
        return [sample]

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Company:
    """What the cores of this process do besides: ``others`` cores' worth of other processes' work, for a moment.

    ``load_average`` is the machine's over the last minute, what waits for a core included; ``None`` where there is none.
    """

    cores: int
    others: float
    load_average: float | None


def look_at_company(window_s: Seconds = 0.5) -> Company:
    """Watch the cores this process may use for ``window_s``; its own work isn't counted, its children's is."""
    mine = _cpu_s()
    busy = psutil.cpu_percent(interval=window_s, percpu=True)
    mine = _cpu_s() - mine
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(busy))
    ours = [share for core, share in enumerate(busy) if core in allowed] or busy
    try:
        load_average = psutil.getloadavg()[0]
    except (OSError, AttributeError):  # a system that keeps none
        load_average = None
    return Company(len(ours), max(0.0, sum(ours) / 100 - mine / window_s), load_average)


def _cpu_s() -> Seconds:
    """Processor time of this process so far."""
    times = os.times()
    return times.user + times.system


def _cpu_mhz() -> float | None:
    """Mean over the cores; ``None`` where the system hides it, as in some containers and virtual machines."""
    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError, RuntimeError):
        return None
    return frequency.current if frequency and frequency.current > 0 else None


@dataclass(slots=True)
class ScriptedProbe:
    """A probe that plays ``script``: for every read a list of samples, or an exception to raise.

    Samples get the moment of the read as their stamp. When the script is over its last entry is played
    on; an empty script reads nothing. ``on_read`` is called before each, to move a clock for instance.
    """

    script: Sequence[Sequence[GpuSample] | Exception]
    described: tuple[DeviceInfo, ...] = ()
    name: str = "scripted"
    note: str | None = None
    unread: str | None = None
    failed_reads: int = 0
    on_read: Callable[[], None] = lambda: None
    reads: int = field(default=0, init=False)
    closed: bool = field(default=False, init=False)

    def devices(self) -> tuple[DeviceInfo, ...]:
        return self.described

    def renew(self) -> None:
        """``described`` is what a test sets it to."""

    def read(self, at_ns: int) -> list[GpuSample]:
        self.on_read()
        self.reads += 1
        if not self.script:
            return []
        entry = self.script[min(self.reads, len(self.script)) - 1]
        if isinstance(entry, Exception):
            raise entry
        return [replace(sample, at_ns=at_ns) for sample in entry]

    def close(self) -> None:
        self.closed = True


def pick_probe(environment: Mapping[str, str] = os.environ, bind: Callable[[], Nvml] = load_binding) -> Probe:
    """NVML on the GPUs that ``CUDA_VISIBLE_DEVICES`` shows; without one a ``CpuProbe`` that says why."""
    try:
        return NvmlProbe(
            bind(),
            visible=environment.get("CUDA_VISIBLE_DEVICES"),
            pci_order=environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID",
        )
    except (ProbeUnavailableError, ProbeLostError) as error:
        return CpuProbe(error.message)
