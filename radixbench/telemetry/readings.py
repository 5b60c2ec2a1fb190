"""How each field of a GPU sample is read from NVML: the ways, best first.

Functions are looked up when they are called, so that one the binding lacks shows as AttributeError then.
Numbers stand in for the binding's constants, which older bindings don't all have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

Nvml: TypeAlias = Any
"""The module ``pynvml``, or something that looks like it."""

GRAPHICS, SM, MEMORY = 0, 1, 2
_POWER_AVERAGE, _POWER_INSTANT = 185, 186
_VALUE_TYPES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
_NOT_SUPPORTED = 3

COUNTER_FIELDS = {
    "power_cap_ns": 74,
    "sync_boost_ns": 76,
    "sw_thermal_ns": 269,
    "hw_thermal_ns": 270,
    "power_brake_ns": 271,
}
"""The driver's counters of held-back time by field of a sample: NVML's field ids."""


class NvmlCode(NamedTuple):
    """Why one value of several isn't there, by NVML's number."""

    code: int


class Reader(NamedTuple):
    """One way to take a reading; ``source`` names which of the ways it is."""

    source: str
    call: Callable[[], int]


def ways_to_read(nvml: Nvml, handle: Any) -> dict[str, tuple[Reader, ...]]:
    """For each field of a sample the ways to read it, best first. Names are looked up when called."""
    return {
        "sm_clock_mhz": (
            Reader("sm", lambda: nvml.nvmlDeviceGetClockInfo(handle, SM)),
            Reader("graphics", lambda: nvml.nvmlDeviceGetClockInfo(handle, GRAPHICS)),
        ),
        "memory_clock_mhz": (Reader("memory", lambda: nvml.nvmlDeviceGetClockInfo(handle, MEMORY)),),
        "event_reasons": (
            Reader("event", lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),
            Reader("throttle", lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        ),
        "power_mw": (
            Reader("average", lambda: _field(nvml, handle, _POWER_AVERAGE)),
            Reader("instant", lambda: _field(nvml, handle, _POWER_INSTANT)),
            Reader("usage", lambda: nvml.nvmlDeviceGetPowerUsage(handle)),
        ),
        "temperature_c": (
            Reader("current", lambda: nvml.nvmlDeviceGetTemperatureV(handle, 0)),
            Reader("deprecated", lambda: nvml.nvmlDeviceGetTemperature(handle, 0)),
        ),
        "utilization_pct": (Reader("rates", lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu),),
        "memory_used_bytes": (Reader("info", lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used),),
        "energy_mj": (Reader("total", lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle)),),
    }


def ways_to_count(nvml: Nvml, handle: Any) -> dict[str, Reader]:
    """Each counter alone: how to find out at start which of them a device keeps."""
    return {
        name: Reader("field", partial(_field, nvml, handle, field_id))
        for name, field_id in COUNTER_FIELDS.items()
    }


def read_counters(nvml: Nvml, handle: Any, names: Sequence[str]) -> dict[str, int | NvmlCode]:
    """These counters in one call; where one of them fails its NVML code instead of it."""
    values = nvml.nvmlDeviceGetFieldValues(handle, [COUNTER_FIELDS[name] for name in names])
    return {name: _value(value) for name, value in zip(names, values, strict=True)}


def _field(nvml: Nvml, handle: Any, field_id: int) -> int:
    """One field value; each carries a return code of its own."""
    (answer,) = nvml.nvmlDeviceGetFieldValues(handle, [field_id])
    value = _value(answer)
    if isinstance(value, NvmlCode):
        raise nvml.NVMLError(value.code)
    return value


def _value(answer: Any) -> int | NvmlCode:
    if answer.nvmlReturn != 0:
        return NvmlCode(answer.nvmlReturn)
    if answer.valueType >= len(_VALUE_TYPES):  # a type of a later header
        return NvmlCode(_NOT_SUPPORTED)
    return int(getattr(answer.value, _VALUE_TYPES[answer.valueType]))
