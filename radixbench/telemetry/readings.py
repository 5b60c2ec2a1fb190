"""How each field of a GPU sample is read from NVML: the ways, best first.

Functions are looked up when they are called, so that one the binding lacks shows as AttributeError then.
Numbers stand in for the binding's constants, which older bindings don't all have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Nvml: TypeAlias = Any
"""The module ``pynvml``, or something that looks like it."""

GRAPHICS, SM, MEMORY = 0, 1, 2
_POWER_AVERAGE, _POWER_INSTANT = 185, 186
_VALUE_TYPES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal")


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
    }


def _field(nvml: Nvml, handle: Any, field_id: int) -> int:
    """One field value; each carries a return code of its own."""
    (value,) = nvml.nvmlDeviceGetFieldValues(handle, [field_id])
    if value.nvmlReturn != 0:
        raise nvml.NVMLError(value.nvmlReturn)
    return int(getattr(value.value, _VALUE_TYPES[value.valueType]))
