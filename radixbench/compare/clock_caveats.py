"""What clocks and temperatures say against a cell's figures."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.compare.arm import ArmRun
from radixbench.compare.bound import CLOCK_GAP, Pace, Paces
from radixbench.compare.pairing import CellPairs, Pair
from radixbench.findings.cell import cell_name
from radixbench.findings.model import Finding
from radixbench.stats.sample import Absent

FLOOR_SHARE = 0.5
TEMPERATURE_GAP_C = 15


def clock_findings(cell: CellPairs, paces: Paces, floor_mhz: float | None) -> Iterator[Finding]:
    """Throttling, low or unequal clocks, unequal starts, or no clocks at all."""
    yield from _throttled(cell, paces)
    yield from _gap(cell, paces)
    for pair in cell.all_pairs:
        yield from _temperatures(cell, pair)
        for side, one in zip("AB", pair.runs, strict=True):
            yield from _floor(cell, side, one, floor_mhz)
            yield from _unknown(cell, side, one)


def _throttled(cell: CellPairs, paces: Paces) -> Iterator[Finding]:
    slow = [(side, pace) for side, pace in (("A", paces.a), ("B", paces.b)) if pace.throttled]
    if not slow:
        return
    shares = " and ".join(
        f"{side} in up to {pace.throttled_share:.0%} of a run's samples" for side, pace in slow
    )
    reasons = ", ".join(_reasons(cell, [side for side, _ in slow]))
    yield Finding(
        code="both-throttled" if len(slow) == 2 else "throttled",
        severity="serious",
        text=f"{cell_name(cell.key)}: {shares} ({reasons}){_direction(slow)}",
        remedy="cool the card, raise its power limit or lock a clock it can hold (nvidia-smi -lgc), then rerun",
        cell=cell.key,
    )


def _direction(slow: list[tuple[str, Pace]]) -> str:
    if len(slow) == 2:
        return "; which way the factors err can't be told"
    return f"; the factors are {'lower' if slow[0][0] == 'A' else 'upper'} bounds"


def _reasons(cell: CellPairs, sides: list[str]) -> list[str]:
    """Event reasons of the throttled sides with their largest share."""
    largest: dict[str, float] = {}
    for pair in cell.all_pairs:
        for side, one in zip("AB", pair.runs, strict=True):
            if side not in sides or isinstance(one.clocks, Absent):
                continue
            for device in one.clocks:
                for name, share in device.reasons.items():
                    largest[name] = max(share, largest.get(name, 0.0))
    return [f"{name} {share:.0%}" for name, share in sorted(largest.items(), key=lambda item: -item[1])]


def _gap(cell: CellPairs, paces: Paces) -> Iterator[Finding]:
    gap = paces.clock_gap
    if gap is None or gap <= CLOCK_GAP:
        return
    yield Finding(
        code="clock-gap",
        severity="warning",
        text=(
            f"{cell_name(cell.key)}: median SM clock {paces.a.sm_clock:.0f} MHz in A,"
            f" {paces.b.sm_clock:.0f} MHz in B, {gap:.1%} apart"
        ),
        remedy="lock the clock of both arms to one value (nvidia-smi -lgc) and rerun",
        cell=cell.key,
    )


def _floor(cell: CellPairs, side: str, one: ArmRun, floor_mhz: float | None) -> Iterator[Finding]:
    if isinstance(one.clocks, Absent):
        return
    for device in one.clocks:
        floor = floor_mhz
        if floor is None and device.max_sm_clock_mhz is not None:
            floor = FLOOR_SHARE * device.max_sm_clock_mhz
        if floor is None or device.sm_clock_median is None or device.sm_clock_median >= floor:
            continue
        yield Finding(
            code="clock-floor",
            severity="serious",
            text=(
                f"{side}, {one.name}: median SM clock {device.sm_clock_median:.0f} MHz,"
                f" below the floor of {floor:.0f} MHz"
            ),
            remedy="find what holds the card back (nvidia-smi -q -d PERFORMANCE), or lower --clock-floor",
            cell=cell.key,
        )


def _temperatures(cell: CellPairs, pair: Pair) -> Iterator[Finding]:
    starts = [_start_temperature(one) for one in pair.runs]
    if starts[0] is None or starts[1] is None or abs(starts[0] - starts[1]) <= TEMPERATURE_GAP_C:
        return
    yield Finding(
        code="temperature-gap",
        severity="warning",
        text=f"{cell_name(cell.key)}, seed {pair.seed}: A started at {starts[0]} °C, B at {starts[1]} °C",
        remedy="let the card reach the same temperature before each run, and alternate the arms",
        cell=cell.key,
    )


def _start_temperature(one: ArmRun) -> int | None:
    if isinstance(one.clocks, Absent):
        return None
    return max((c.start_temperature_c for c in one.clocks if c.start_temperature_c is not None), default=None)


def _unknown(cell: CellPairs, side: str, one: ArmRun) -> Iterator[Finding]:
    if isinstance(one.clocks, Absent):
        why = one.clocks.reason
    elif one.sm_clock is None:
        why = "the device doesn't tell its SM clock"
    elif one.throttled_share is None:
        why = "the device doesn't tell its throttle reasons"
    else:
        return
    yield Finding(
        code="clock-unknown",
        severity="info",
        text=f"{side}: {why}, so that nothing shows whether both arms ran at the same speed",
        remedy="run where NVML tells clocks and event reasons; on a CPU, keep the machine otherwise idle",
        cell=cell.key,
    )
