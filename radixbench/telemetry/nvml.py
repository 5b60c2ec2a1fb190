"""NVIDIA's management library through ``pynvml``, where any call may be missing on some machine.

What a device refuses is found out once, at start, call by call: a function that the binding (AttributeError),
the driver (FunctionNotFound) or the device (NotSupported) lacks is replaced by the next best one or reads
as ``None`` for good. After that a failing call costs one reading and is counted; a lost GPU ends its own
samples only. Process lists, fans and PCIe counters are never read: they block the driver for too long.

The binding is an argument, so that machines nobody has can be tested.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry.lost import ProbeLostError, ProbeUnavailableError
from radixbench.telemetry.readings import (
    GRAPHICS,
    MEMORY,
    SM,
    Nvml,
    NvmlCode,
    Reader,
    read_counters,
    ways_to_count,
    ways_to_read,
)
from radixbench.telemetry.visible import visible_devices

_AMPERE = 7
_COHERENT = ("GH200", "GB200", "GB300")
"""Their memory is a node of the operating system's, whose pages stay after a process ends."""

# Codes after which asking again is pointless: invalid argument, not supported, no permission, function not
# found, argument version mismatch, deprecated.
_REFUSED = frozenset({2, 3, 4, 13, 25, 26})
_LOST = frozenset({15, 16})
_FOR_NOW = frozenset({10, 27})
"""Time-out and not ready: the next try may succeed."""

_WORDS = {
    1: "NVML isn't initialised",
    3: "not supported",
    4: "no permission",
    9: "the NVIDIA driver isn't loaded",
    10: "time-out",
    12: "there is no NVIDIA driver library (libnvidia-ml)",
    13: "the driver lacks the function",
    15: "the GPU is lost",
    16: "the GPU needs a reset",
    17: "the operating system blocks the GPU",
    18: "the driver was updated without a restart (library and kernel module differ)",
    28: "GPU not found",
    999: "unknown NVML error",
}


@dataclass(frozen=True, slots=True)
class _Device:
    """One GPU and how each field of a sample is read from it; fields and ``counters`` it refuses are missing."""

    index: int
    handle: Any
    readers: dict[str, Reader]
    counters: tuple[str, ...]


def load_binding() -> Nvml:
    """Import ``pynvml``; ``ProbeUnavailableError`` without it."""
    try:
        return importlib.import_module("pynvml")
    except ImportError as error:
        raise ProbeUnavailableError(
            "the NVML binding isn't installed", remedy="pip install nvidia-ml-py"
        ) from error


class NvmlProbe:
    """GPUs as NVML sees them: those that ``visible`` (``CUDA_VISIBLE_DEVICES``) names, all for ``None``.

    Raises ``ProbeUnavailableError`` when NVML doesn't answer or no GPU is left to read.
    """

    name = "nvml"
    unread: str | None = None

    def __init__(self, binding: Nvml, visible: str | None = None, *, pci_order: bool = False) -> None:
        self._nvml = binding
        self.failed_reads = 0
        self._notes: list[str] = [] if (old := _old_binding(binding)) is None else [old]
        try:
            binding.nvmlInit()
        except binding.NVMLError as error:
            raise ProbeUnavailableError(_words(error.value)) from error
        self._infos: dict[int, DeviceInfo] = {}
        self._lost: list[str] = []
        try:
            self._devices = self._open(visible, pci_order)
        except BaseException:
            self.close()
            raise
        self._alive = list(self._devices)

    @property
    def note(self) -> str | None:
        """What a reader of the samples should know; ``None`` if nothing."""
        return "; ".join([*self._notes, *self._lost]) or None

    def devices(self) -> tuple[DeviceInfo, ...]:
        return tuple(self._infos.values())

    def renew(self) -> None:
        """A GPU that was lost is asked again too: it may have come back."""
        self._alive, self._lost = list(self._devices), []
        for device in self._devices:
            if (limit := self._power_limit(device.handle)) is not None:
                self._infos[device.index] = replace(self._infos[device.index], power_limit_mw=limit)

    def read(self, at_ns: int) -> list[GpuSample]:
        samples = []
        for device in list(self._alive):
            try:
                samples.append(self._sample(device, at_ns))
            except ProbeLostError as error:
                self._alive.remove(device)
                self._lost.append(error.message)
        if not self._alive:
            raise ProbeLostError("no GPU is left to read")
        return samples

    def close(self) -> None:
        with contextlib.suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()

    def _open(self, visible: str | None, pci_order: bool) -> list[_Device]:
        nvml = self._nvml
        count = self._fact(nvml.nvmlDeviceGetCount) or 0
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        uuids = [self._text("nvmlDeviceGetUUID", handle) for handle in handles]
        chosen = visible_devices(visible, uuids, self._card_of_mig)
        if not chosen:
            why = "NVML finds no GPU" if not count else f"CUDA_VISIBLE_DEVICES={visible} shows no GPU"
            raise ProbeUnavailableError(why)
        devices = [self._describe(index, handles[index], uuids[index]) for index in chosen]
        if any(name in info.name for info in self._infos.values() for name in _COHERENT):
            self._notes.append(
                "memory is shared with the operating system here: what is told of its use isn't reliable"
            )
        if visible is not None and "MIG-" in visible:
            self._notes.append("clocks and power are those of the whole card, all MIG instances together")
        elif visible is not None and "GPU-" not in visible and not pci_order:
            names = {self._text("nvmlDeviceGetName", handle) for handle in handles}
            if len(names) > 1:
                self._notes.append(
                    "GPUs differ and CUDA may number them otherwise: set CUDA_DEVICE_ORDER=PCI_BUS_ID"
                )
        return devices

    def _describe(self, index: int, handle: Any, uuid: str | None) -> _Device:
        nvml = self._nvml
        readers = {}
        for name, ways in ways_to_read(nvml, handle).items():
            if (reader := self._first_that_works(ways, index)) is not None:
                readers[name] = reader
        countable = ways_to_count(nvml, handle)
        counters = tuple(name for name, way in countable.items() if self._counts(way, index))
        clock = readers["sm_clock_mhz"].source if "sm_clock_mhz" in readers else None
        clock_type = GRAPHICS if clock == "graphics" else SM
        self._infos[index] = DeviceInfo(
            index=index,
            name=self._text("nvmlDeviceGetName", handle) or "unnamed GPU",
            uuid=uuid,
            max_sm_clock_mhz=self._fact(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, clock_type)),
            max_memory_clock_mhz=self._fact(lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, MEMORY)),
            power_limit_mw=self._power_limit(handle),
            memory_total_bytes=self._fact(lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total),
            driver=self._text("nvmlSystemGetDriverVersion"),
            clock_source=None if clock is None else "graphics" if clock == "graphics" else "sm",
            power_kind=self._power_kind(readers.get("power_mw"), handle),
            unsupported=(
                *(name for name in ways_to_read(nvml, handle) if name not in readers),
                *(name for name in countable if name not in counters),
            ),
        )
        return _Device(index=index, handle=handle, readers=readers, counters=counters)

    def _power_limit(self, handle: Any) -> int | None:
        return self._fact(lambda: self._nvml.nvmlDeviceGetEnforcedPowerLimit(handle))

    def _sample(self, device: _Device, at_ns: int) -> GpuSample:
        def value(name: str) -> int | None:
            reader = device.readers.get(name)
            return None if reader is None else self._value(reader, device.index)

        return GpuSample(
            at_ns=at_ns,
            device=device.index,
            sm_clock_mhz=value("sm_clock_mhz"),
            memory_clock_mhz=value("memory_clock_mhz"),
            event_reasons=value("event_reasons"),
            power_mw=value("power_mw"),
            temperature_c=value("temperature_c"),
            utilization_pct=value("utilization_pct"),
            memory_used_bytes=value("memory_used_bytes"),
            energy_mj=value("energy_mj"),
            **self._counters(device),
        )

    def _counters(self, device: _Device) -> dict[str, int]:
        """The counters that answered; a call or a value that fails costs one reading."""
        if not device.counters:
            return {}
        try:
            values = read_counters(self._nvml, device.handle, device.counters)
        except self._nvml.NVMLError as error:
            self._raise_if_lost(error.value, device.index)
            self.failed_reads += 1
            return {}
        told: dict[str, int] = {}
        for name, value in values.items():
            if isinstance(value, NvmlCode):
                self._raise_if_lost(value.code, device.index)
                self.failed_reads += 1
            else:
                told[name] = value
        return told

    def _value(self, reader: Reader, index: int) -> int | None:
        try:
            return int(reader.call())
        except self._nvml.NVMLError as error:
            self._raise_if_lost(error.value, index)
            self.failed_reads += 1
            return None

    def _first_that_works(self, ways: tuple[Reader, ...], index: int) -> Reader | None:
        for way in ways:
            try:
                way.call()
            except AttributeError:
                continue
            except self._nvml.NVMLError as error:
                self._raise_if_lost(error.value, index)
                if error.value in _REFUSED:
                    continue
            return way
        return None

    def _counts(self, counter: Reader, index: int) -> bool:
        """Whether a device keeps a counter; drivers that don't know one refuse it in more ways than any other call."""
        try:
            counter.call()
        except AttributeError:
            return False
        except self._nvml.NVMLError as error:
            self._raise_if_lost(error.value, index)
            return error.value in _FOR_NOW
        return True

    def _raise_if_lost(self, code: int, index: int) -> None:
        if code in _LOST:
            raise ProbeLostError(f"GPU {index}: {_words(code)}")

    def _fact(self, call: Callable[[], int]) -> int | None:
        """A number that is asked for once; ``None`` if the binding, driver or device doesn't tell."""
        try:
            return int(call())
        except (AttributeError, self._nvml.NVMLError):
            return None

    def _text(self, function: str, *arguments: Any) -> str | None:
        """A name; old bindings give bytes."""
        try:
            text = getattr(self._nvml, function)(*arguments)
        except (AttributeError, self._nvml.NVMLError):
            return None
        return text.decode(errors="replace") if isinstance(text, bytes) else str(text)

    def _card_of_mig(self, uuid: str) -> str | None:
        nvml = self._nvml
        try:
            instance = nvml.nvmlDeviceGetHandleByUUID(uuid)
            card = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance)
        except (AttributeError, nvml.NVMLError):
            return None
        return self._text("nvmlDeviceGetUUID", card)

    def _power_kind(self, reader: Reader | None, handle: Any) -> Literal["average", "instant"] | None:
        """What a power reading means: the general call averages over 1 s since Ampere, GA100 excepted."""
        if reader is None:
            return None
        if reader.source == "average":
            return "average"
        if reader.source == "instant":
            return "instant"
        generation = self._fact(lambda: self._nvml.nvmlDeviceGetArchitecture(handle))
        if generation is None or generation == _AMPERE:
            return None
        return "average" if generation > _AMPERE else "instant"


def _old_binding(nvml: Nvml) -> str | None:
    """What is wrong with the binding; another project's old ``pynvml`` package hides NVIDIA's module."""
    if hasattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons"):
        return None
    kind = "another project's pynvml package" if hasattr(nvml, "__path__") else "an old pynvml"
    place = getattr(nvml, "__file__", None) or "an unknown place"
    return f"{kind} is in use ({place}): pip uninstall pynvml, then pip install nvidia-ml-py"


def _words(code: int) -> str:
    """An NVML error by its number: the text of codes above 20 depends on the driver."""
    return _WORDS.get(code, f"NVML error {code}")
