"""A binding as ``pynvml`` looks from outside, for machines that nobody has at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

NOT_SUPPORTED, NO_PERMISSION, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND, LOST = 3, 4, 12, 13, 15


COUNTERS = {74: 1_000, 76: 2_000, 269: 3_000, 270: 4_000, 271: 5_000}
"""Time counters by field id, in nanoseconds: power cap, sync boost, SW and HW heat, power brake."""


class NVMLError(Exception):
    """Errors are told apart by ``value`` only, as the real ones must be."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML Error with code {value}")
        self.value = value


@dataclass
class FakeGpu:
    """One card; ``errors`` maps a function's name (or name/argument) to the code it fails with."""

    name: str | bytes = "NVIDIA H200"
    uuid: str | bytes = "GPU-aaaa-1"
    architecture: int = 9
    clocks: dict[int, int] = field(default_factory=lambda: {0: 1978, 1: 1980, 2: 3201})
    reasons: int = 0
    fields: dict[int, int] = field(default_factory=lambda: {185: 300_000, 186: 310_000} | COUNTERS)
    energy: int = 5_000_000
    limit: int = 700_000
    errors: dict[str, int] = field(default_factory=dict)


class FakeNvml:
    """Answers for ``gpus``. ``missing`` functions don't exist, as in an old binding; ``calls`` counts the rest.

    ``init_error`` is what ``nvmlInit`` fails with. ``mig`` maps a MIG instance's UUID to its card's index.
    ``asked_fields`` are the ids of every call for field values; ``value_types`` replaces the type a field comes in.
    """

    NVMLError = NVMLError

    def __init__(
        self,
        *gpus: FakeGpu,
        missing: tuple[str, ...] = (),
        init_error: int | None = None,
        mig: dict[str, int] | None = None,
    ) -> None:
        self.gpus = gpus
        self.missing = missing
        self.init_error = init_error
        self.mig = mig or {}
        self.calls: list[str] = []
        self.asked_fields: list[tuple[int, ...]] = []
        self.value_types: dict[int, int] = {}
        self.open = 0

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml"):
            if name in object.__getattribute__(self, "missing"):
                raise AttributeError(name)
            self.calls.append(name)
        return object.__getattribute__(self, name)

    def _try(self, handle: int, function: str, argument: object = None) -> FakeGpu:
        gpu = self.gpus[handle]
        for key in (function, f"{function}/{argument}", "*"):
            if key in gpu.errors:
                raise NVMLError(gpu.errors[key])
        return gpu

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's spelling, as are all names below
        if self.init_error is not None:
            raise NVMLError(self.init_error)
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "570.86.15"

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802
        if uuid not in self.mig:
            raise NVMLError(NOT_SUPPORTED)
        return self.mig[uuid]

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: int) -> int:  # noqa: N802
        return handle

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:  # noqa: N802
        return self._try(handle, "name").name

    def nvmlDeviceGetUUID(self, handle: int) -> str | bytes:  # noqa: N802
        return self._try(handle, "uuid").uuid

    def nvmlDeviceGetArchitecture(self, handle: int) -> int:  # noqa: N802
        return self._try(handle, "architecture").architecture

    def nvmlDeviceGetClockInfo(self, handle: int, kind: int) -> int:  # noqa: N802
        return self._try(handle, "clock", kind).clocks[kind]

    def nvmlDeviceGetMaxClockInfo(self, handle: int, kind: int) -> int:  # noqa: N802
        return self._try(handle, "max_clock", kind).clocks[kind] + 5

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: int) -> int:  # noqa: N802
        return self._try(handle, "event").reasons

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: int) -> int:  # noqa: N802
        return self._try(handle, "throttle").reasons

    def nvmlDeviceGetFieldValues(self, handle: int, ids: list[int]) -> list[SimpleNamespace]:  # noqa: N802
        gpu = self._try(handle, "field")
        self.asked_fields.append(tuple(ids))
        return [self._field_value(gpu, wanted) for wanted in ids]

    def _field_value(self, gpu: FakeGpu, wanted: int) -> SimpleNamespace:
        value = gpu.fields.get(wanted)
        code = gpu.errors.get(f"field/{wanted}", NOT_SUPPORTED if value is None else 0)
        kind = self.value_types.get(wanted, 3 if wanted in COUNTERS else 1)
        read = SimpleNamespace(uiVal=value or 0, ullVal=value or 0, dVal=-1.0)
        return SimpleNamespace(nvmlReturn=code, valueType=kind, value=read)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802
        return self._try(handle, "energy").energy

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802
        self._try(handle, "power")
        return 290_000

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: int) -> int:  # noqa: N802
        return self._try(handle, "limit").limit

    def nvmlDeviceGetTemperatureV(self, handle: int, sensor: int) -> int:  # noqa: N802
        self._try(handle, "temperature_v")
        return 41

    def nvmlDeviceGetTemperature(self, handle: int, sensor: int) -> int:  # noqa: N802
        self._try(handle, "temperature")
        return 42

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:  # noqa: N802
        self._try(handle, "utilization")
        return SimpleNamespace(gpu=97, memory=50)

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802
        self._try(handle, "memory")
        return SimpleNamespace(total=150 << 30, used=20 << 30, free=130 << 30)
