"""Why a GPU doesn't run at its highest clock: NVML's event reasons, bit by bit.

A table of our own, since the names changed with driver 535 (throttle reasons became event reasons), only
in part of the header, and bindings know one spelling, the other or both. The bits never changed.
Several at once are normal. No bit doesn't prove that nothing limits: locked clocks and firmware
limits may set none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One bit of the mask; ``nvml_names`` are its constants, the spelling since driver 535 first.

    ``throttles``: the card is slower than its user asked for.
    """

    bit: int
    name: str
    nvml_names: tuple[str, str]
    throttles: bool


def _reason(bit: int, name: str, stem: str, *, throttles: bool) -> Reason:
    return Reason(bit, name, (f"nvmlClocksEventReason{stem}", f"nvmlClocksThrottleReason{stem}"), throttles)


GPU_IDLE = 0x001
SW_POWER_CAP = 0x004

REASONS: tuple[Reason, ...] = (
    _reason(GPU_IDLE, "GPU idle", "GpuIdle", throttles=False),
    _reason(0x002, "application clocks setting", "ApplicationsClocksSetting", throttles=False),
    _reason(SW_POWER_CAP, "SW power cap", "SwPowerCap", throttles=True),
    _reason(0x008, "HW slowdown", "HwSlowdown", throttles=True),
    _reason(0x010, "sync boost", "SyncBoost", throttles=False),
    _reason(0x020, "SW thermal slowdown", "SwThermalSlowdown", throttles=True),
    _reason(0x040, "HW thermal slowdown", "HwThermalSlowdown", throttles=True),
    _reason(0x080, "HW power brake slowdown", "HwPowerBrakeSlowdown", throttles=True),
    _reason(0x100, "display clock setting", "DisplayClockSetting", throttles=False),
)

THROTTLING = sum(reason.bit for reason in REASONS if reason.throttles)
"""All bits that mean: slower than asked for."""


def decode(mask: int) -> tuple[str, ...]:
    """The names of the bits set in ``mask``, lowest first; bits nobody knows as ``unknown 0x200``."""
    names = [reason.name for reason in REASONS if mask & reason.bit]
    known = sum(reason.bit for reason in REASONS)
    unknown = mask & ~known
    names += [f"unknown {1 << place:#x}" for place in range(unknown.bit_length()) if unknown >> place & 1]
    return tuple(names)


def name_of(bit: int) -> str:
    """The name of a single bit, as ``decode`` gives it."""
    (name,) = decode(bit)
    return name
