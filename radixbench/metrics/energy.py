"""Energy of a window: the driver's counter where there is one, else power over time, and said so.

The counter is exact; power readings are means over a second on most cards, so that their integral smears a short burst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from radixbench.capture.model import Run
from radixbench.stats.sample import Absent
from radixbench.units import NS_PER_S

_FEWEST = 2
_LEAST_COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Energy:
    """Joules that one device took in a window; ``integrated`` from power readings, or counted by the driver."""

    joules: float
    integrated: bool


def energy(run: Run, device: int, start_ns: int, end_ns: int) -> Energy | Absent:
    """What the device took in the window; what readings at its ends miss, at most a tenth, is taken to be like the rest."""
    samples = sorted((one for one in run.gpu if one.device == device), key=lambda one: one.at_ns)
    counted = [(one.at_ns, one.energy_mj / 1000) for one in samples if one.energy_mj is not None]
    if (part := _covered(counted, start_ns, end_ns)) and all(a[1] <= b[1] for a, b in pairwise(counted)):
        return Energy((_at(counted, end_ns) - _at(counted, start_ns)) / part, integrated=False)
    power = [(one.at_ns, one.power_mw / 1000) for one in samples if one.power_mw is not None]
    if not (part := _covered(power, start_ns, end_ns)):
        return Absent("neither energy nor power was read over the whole window")
    return Energy(_integral(power, start_ns, end_ns) / part, integrated=True)


def _covered(readings: Sequence[tuple[int, float]], start: int, end: int) -> float:
    """The share of the window between the first and the last reading; 0 where that is too little."""
    if len(readings) < _FEWEST or start >= end:
        return 0.0
    share = (min(readings[-1][0], end) - max(readings[0][0], start)) / (end - start)
    return share if share >= _LEAST_COVERED else 0.0


def _at(readings: Sequence[tuple[int, float]], at: int) -> float:
    for (t0, v0), (t1, v1) in pairwise(readings):
        if t0 <= at <= t1 and t0 < t1:
            return v0 + (v1 - v0) * (at - t0) / (t1 - t0)
    return readings[0][1] if at < readings[0][0] else readings[-1][1]


def _integral(power: Sequence[tuple[int, float]], start: int, end: int) -> float:
    """Trapezes between neighbouring readings, cut at the window's ends and theirs."""
    start, end = max(start, power[0][0]), min(end, power[-1][0])
    inside = [
        (start, _at(power, start)),
        *(one for one in power if start < one[0] < end),
        (end, _at(power, end)),
    ]
    return sum((v0 + v1) / 2 * (t1 - t0) / NS_PER_S for (t0, v0), (t1, v1) in pairwise(inside))
