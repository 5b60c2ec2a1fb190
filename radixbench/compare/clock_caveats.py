"""What clocks and temperatures say against a cell's figures."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.compare.arm import ArmRun
from radixbench.compare.bound import Clock, Paces
from radixbench.compare.clocks import direction_words, side_names, why_unknown
from radixbench.compare.pairing import CellPairs, Pair
from radixbench.findings.cards import COOL_DOWN, reason_words, watts
from radixbench.findings.cell import cell_name
from radixbench.findings.model import Finding
from radixbench.findings.words import percent

FLOOR_SHARE = 0.5
TEMPERATURE_GAP_C = 15


def clock_findings(cell: CellPairs, paces: Paces, floor_mhz: float | None) -> Iterator[Finding]:
    """Throttling, low or unequal clocks, unequal starts, or no clocks at all."""
    yield from _throttled(cell, paces)
    yield from _gap(cell, paces)
    yield from _sources(cell, paces)
    yield from _limits(cell)
    for pair in cell.all_pairs:
        yield from _temperatures(cell, pair)
        for side, one in zip(cell.sides, pair.runs, strict=True):
            yield from _floor(cell, side, one, floor_mhz)
            yield from _unknown(cell, side, one)


def _throttled(cell: CellPairs, paces: Paces) -> Iterator[Finding]:
    slow = [pace for pace in (paces.a, paces.b) if pace.throttled]
    if not slow:
        return
    yield Finding(
        code="both-throttled" if len(slow) == 2 else "throttled",
        severity="serious",
        text=f"{direction_words(cell, paces)} (most in a run: {_reasons(cell, paces)})",
        remedy=COOL_DOWN,
        place=cell_name(cell.key),
        cell=cell.key,
    )


def _reasons(cell: CellPairs, paces: Paces) -> str:
    """Event reasons of the throttled sides with their largest share; both sides apart where both are."""
    pairs = cell.pairs or cell.set_aside
    told = [
        (name, reason_words([card for one in runs for card in one.cards]))
        for name, pace, runs in (
            (side_names(cell)[0], paces.a, [pair.a for pair in pairs]),
            (side_names(cell)[1], paces.b, [pair.b for pair in pairs]),
        )
        if pace.throttled
    ]
    return told[0][1] if len(told) == 1 else "; ".join(f"{name}: {words}" for name, words in told)


def _gap(cell: CellPairs, paces: Paces) -> Iterator[Finding]:
    """Clocks that are apart; where the direction's words have the numbers of one already, they stand for it."""
    if not paces.apart:
        return
    throttled = paces.a.throttled or paces.b.throttled
    direction = "" if throttled else direction_words(cell, paces)
    said = paces.widest if direction and paces.bound else None
    told = [_apart(clock, cell.sides) for clock in paces.apart if clock != said]
    yield Finding(
        code="clock-gap",
        severity="warning",
        text="; ".join([*told, *([direction] if direction else [])]),
        remedy="lock the clock of both arms to one value (nvidia-smi -lgc) and rerun",
        place=cell_name(cell.key),
        cell=cell.key,
    )


def _apart(clock: Clock, sides: tuple[str, str]) -> str:
    return f"{clock.name} {clock.a:,.0f} MHz in {sides[0]}, {clock.b:,.0f} MHz in {sides[1]}, {percent(clock.gap)} apart"


def _floor(cell: CellPairs, side: str, one: ArmRun, floor_mhz: float | None) -> Iterator[Finding]:
    for device in one.cards:
        floor = floor_mhz
        if floor is None and device.max_sm_clock_mhz is not None:
            floor = FLOOR_SHARE * device.max_sm_clock_mhz
        if floor is None or device.sm_clock_median is None or device.sm_clock_median >= floor:
            continue
        yield Finding(
            code="clock-floor",
            severity="serious",
            text=(
                f"{side}, {one.name}: median SM clock {device.sm_clock_median:,.0f} MHz,"
                f" below the floor of {floor:,.0f} MHz"
            ),
            remedy="find what holds the card back (nvidia-smi -q -d PERFORMANCE), or lower --clock-floor",
            cell=cell.key,
        )


def _temperatures(cell: CellPairs, pair: Pair) -> Iterator[Finding]:
    starts = [_start_temperature(one) for one in pair.runs]
    if starts[0] is None or starts[1] is None or abs(starts[0] - starts[1]) <= TEMPERATURE_GAP_C:
        return
    a, b = cell.sides
    yield Finding(
        code="temperature-gap",
        severity="warning",
        text=f"{cell_name(cell.key)}, seed {pair.seed}: {a} started at {starts[0]} °C, {b} at {starts[1]} °C",
        remedy="let the card reach the same temperature before each run, and alternate the arms",
        cell=cell.key,
    )


def _start_temperature(one: ArmRun) -> int | None:
    return max((c.start_temperature_c for c in one.cards if c.start_temperature_c is not None), default=None)


def _sources(cell: CellPairs, paces: Paces) -> Iterator[Finding]:
    """Time counters see what samples miss, so that arms told by one and the other aren't told alike."""
    counted = [source == "counters" for source in (paces.a.source, paces.b.source)]
    if None in (paces.a.source, paces.b.source) or counted[0] == counted[1]:
        return
    by_counters, by_samples = cell.sides if counted[0] else reversed(cell.sides)
    yield Finding(
        code="clock-source",
        severity="info",
        text=f"throttling is told by the driver's time counters in {by_counters}, by samples in {by_samples}, which miss what is short",
        remedy="measure both arms with one driver on one kind of card",
        place=cell_name(cell.key),
        cell=cell.key,
    )


def _limits(cell: CellPairs) -> Iterator[Finding]:
    """A card may draw less in one arm than in the other: told, as it needn't show in any reason."""
    limits = [
        {card.power_limit_mw for one in runs for card in one.cards if card.power_limit_mw is not None}
        for runs in ([pair.a for pair in cell.all_pairs], [pair.b for pair in cell.all_pairs])
    ]
    if not all(limits) or limits[0] == limits[1]:
        return
    told = [
        f"{' and '.join(watts(limit) for limit in sorted(found))} in {side}"
        for side, found in zip(cell.sides, limits, strict=True)
    ]
    yield Finding(
        code="power-limit",
        severity="warning",
        text=f"enforced power limit {', '.join(told)}",
        remedy="set one limit for both arms (nvidia-smi -pl) and rerun",
        place=cell_name(cell.key),
        cell=cell.key,
    )


def _unknown(cell: CellPairs, side: str, one: ArmRun) -> Iterator[Finding]:
    if (why := why_unknown(one)) is None:
        return
    yield Finding(
        code="clock-unknown",
        severity="info",
        text=f"{side}: {why}, so that nothing shows whether both arms ran at the same speed",
        remedy="run on the server's machine, where NVML tells clocks and event reasons; on a CPU, keep the machine otherwise idle",
        cell=cell.key,
    )
