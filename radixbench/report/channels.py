"""What telemetry readings are drawn, and their samples thinned to what a panel can show.

A sample between two equal ones adds nothing to a stepped line and is dropped; above its budget a run
keeps the lowest and the highest sample of each stretch, so that a dip is never thinned away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.records import DeviceInfo, GpuSample
from radixbench.report import text
from radixbench.report.evidence import Evidence

_FEWEST = 4


class Channel(NamedTuple):
    """One reading of a sample, and how it is shown; ``limit`` is the device's own maximum of it."""

    key: str
    title: str
    unit: str
    read: Callable[[GpuSample], float | None]
    limit: Callable[[DeviceInfo], float | None] = lambda _: None


GPU_CHANNELS = (
    Channel("sm", "SM clock", "MHz", lambda s: s.sm_clock_mhz, lambda d: d.max_sm_clock_mhz),
    Channel("memory", "memory clock", "MHz", lambda s: s.memory_clock_mhz, lambda d: d.max_memory_clock_mhz),
    Channel("temperature", "temperature", "°C", lambda s: s.temperature_c),
    Channel("power", "power", "W", lambda s: _watts(s.power_mw), lambda d: _watts(d.power_limit_mw)),
)
CPU_CHANNELS = (
    Channel("cpu-clock", "CPU frequency", "MHz", lambda s: s.cpu_clock_mhz),
    Channel("cpu-load", "CPU load", "%", lambda s: s.cpu_load_pct),
)


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def samples(run: Run, channel: Channel, device: int | None) -> list[tuple[int, float]]:
    """Moments and values of one channel; a ``device`` of ``None`` takes every sample."""
    return [
        (sample.at_ns, float(value))
        for sample in run.gpu
        if (device is None or sample.device == device) and (value := channel.read(sample)) is not None
    ]


def thinned(values: Sequence[tuple[int, float]], budget: int) -> list[tuple[int, float]]:
    """At most about ``budget`` samples that draw the same stepped line, in time order."""
    corners = _corners(values)
    if len(corners) <= max(budget, _FEWEST):
        return corners
    stretches = max(budget // 2, _FEWEST // 2)
    kept: list[tuple[int, float]] = []
    for i in range(stretches):
        part = corners[i * len(corners) // stretches : (i + 1) * len(corners) // stretches]
        kept += sorted({min(part, key=lambda v: v[1]), max(part, key=lambda v: v[1])})
    return kept


def _corners(values: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    last = len(values) - 1
    return [
        values[i]
        for i in range(len(values))
        if i in {0, last} or not values[i - 1][1] == values[i][1] == values[i + 1][1]
    ]


class ArmReadings(NamedTuple):
    """All values of one channel in one arm, sorted."""

    arm: str
    values: list[float]

    @property
    def lowest(self) -> float:
        return self.values[0]

    @property
    def middle(self) -> float:
        return self.values[len(self.values) // 2]

    @property
    def highest(self) -> float:
        return self.values[-1]


def by_arm(sides: Sequence[Evidence], channel: Channel, device: int | None) -> Iterable[ArmReadings]:
    """The arms that have the channel at all."""
    for side in sides:
        values = sorted(value for run in side.capture.runs for _, value in samples(run, channel, device))
        if values:
            yield ArmReadings(side.arm.name, values)


def spoken(sides: Sequence[Evidence], channel: Channel, device: int | None) -> str:
    """Every arm's median, lowest and highest value in words."""
    return "; ".join(
        f"{arm.arm} median {text.number(arm.middle)} {channel.unit}, "
        f"lowest {text.number(arm.lowest)}, highest {text.number(arm.highest)}"
        for arm in by_arm(sides, channel, device)
    )


GRID_HEADER = ("device", "arm", "reading", "lowest", "median", "highest", "samples")


def grid_rows(
    sides: Sequence[Evidence], channels: Sequence[Channel], device: int | None
) -> list[tuple[str, ...]]:
    """The same as a table under ``GRID_HEADER``."""
    name = "CPU" if device is None else f"GPU {device}"
    return [
        (
            name,
            arm.arm,
            channel.title,
            *(f"{text.number(value)} {channel.unit}" for value in (arm.lowest, arm.middle, arm.highest)),
            text.count(len(arm.values)),
        )
        for channel in channels
        for arm in by_arm(sides, channel, device)
    ]
