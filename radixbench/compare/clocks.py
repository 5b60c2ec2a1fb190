"""Both arms' clocks in a cell, and in words what they mean for its factors.

The words say the direction and the size: what clocks alone could explain is at most the ratio of the clocks, of the SMs'
or the memory's, since no time on a card falls faster than both rise; what requests wait in a queue is no such time. A
card that was held back while its clock reading shows no loss bounds the factor too, but by how much nobody can tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.compare.arm import ArmRun
from radixbench.compare.bound import Clock, Pace, Paces, mean_clock, paces, throttle_source
from radixbench.compare.change import CellClocks, Clocks
from radixbench.compare.pairing import CellPairs
from radixbench.findings.cards import held_for
from radixbench.findings.words import percent
from radixbench.metrics.gpu import NO_SAMPLE, DeviceClocks
from radixbench.stats.sample import Absent

_MUCH_UNLIKE = 0.05


def cell_clocks(cell: CellPairs) -> CellClocks:
    """What the cards of both arms did in the pairs that count, else in all runs there are."""
    pairs = cell.pairs or cell.set_aside
    both = paces(cell)
    return CellClocks(
        cell=dict(cell.key),
        a=_clocks([pair.a for pair in pairs] or cell.a_runs),
        b=_clocks([pair.b for pair in pairs] or cell.b_runs),
        gap=both.clock_gap,
        bound=both.bound,
        explains=both.explains,
        text=direction_words(cell, both),
    )


def side_names(cell: CellPairs) -> tuple[str, str]:
    """``the on side``, ``the off side`` where the arms differ in mode, else ``side A``, ``side B``."""
    a = {one.run.mode for one in cell.a_runs}
    b = {one.run.mode for one in cell.b_runs}
    if len(a) == len(b) == 1 and a != b:
        return f"the {a.pop()} side", f"the {b.pop()} side"
    one, other = cell.sides
    return f"side {one}", f"side {other}"


def direction_words(cell: CellPairs, both: Paces) -> str:
    """``the off side was throttled in 62 % of samples and ran 35 % slower: the factor is an upper bound; clocks alone
    could explain at most 1.54×``; "" where nothing speaks against the factors.
    """
    a, b = both.handicapped
    if not (a or b):
        return ""
    names = side_names(cell)
    if a and b:
        return f"{_both_handicapped(names, both)}: which way the factor errs can't be told{_at_most(both)}"
    name, pace = (names[0], both.a) if a else (names[1], both.b)
    if both.bound is None:
        other = names[1] if a else names[0]
        return f"{name} {_throttled(pace)}, and of {other} nothing is known: which way the factor errs can't be told"
    kind = "an upper" if both.bound == "upper" else "a lower"
    what = f"{name} {_handicap(pace, both)}: the factor is {kind} bound"
    if both.slowdown is not None:
        return what + _at_most(both)
    return f"{what}, but how much the throttling cost can't be told"


def _handicap(pace: Pace, both: Paces) -> str:
    """What is wrong with the one arm whose card was held back or slower."""
    slower = "" if both.slowdown is None else f"ran {percent(1 - 1 / both.slowdown)} slower"
    held = _throttled(pace) if pace.throttled else ""
    if held and slower:
        return f"{held} and {slower}"
    if slower and both.widest is not None:
        seen = "throttling isn't told" if pace.throttled_share is None else "no throttling was seen"
        return f"{slower}, though {seen} ({_against(both.widest, both)})"
    sm_clock = next(iter(both.clocks), None)
    if sm_clock is None:
        whose = "its clock" if pace.sm_clock is None else "the other side's clock"
        return f"{held}, and {whose} isn't told"
    return f"{held}, though its clock shows no loss ({_against(sm_clock, both)})"


def _against(clock: Clock, both: Paces) -> str:
    """``median SM clock 1,560 against 1,950 MHz``, the handicapped arm's first."""
    own, other = (clock.a, clock.b) if both.bound == "lower" else (clock.b, clock.a)
    return f"{clock.name} {own:,.0f} against {other:,.0f} MHz"


def _throttled(pace: Pace) -> str:
    """``was throttled in 20 % of samples (up to 60 % of a run's)``."""
    mean, most = pace.mean_share or 0.0, pace.throttled_share or 0.0
    worst = f" (up to {percent(most)} of a run)" if most - mean > _MUCH_UNLIKE else ""
    return f"was throttled {held_for(mean, pace.source)}{worst}"


def _both_handicapped(names: tuple[str, str], both: Paces) -> str:
    if not (both.a.throttled or both.b.throttled):
        return "each side ran slower by one of its clocks"
    told = [
        f"{name} {_throttled(pace) if pace.throttled else 'ran slower'}"
        for name, pace in zip(names, (both.a, both.b), strict=True)
    ]
    return " and ".join(told)


def _at_most(both: Paces) -> str:
    """Rounded up: a bound may not shrink by its own printing."""
    if both.slowdown is None:
        return ""
    most = f"{math.ceil(100 * both.slowdown - 1e-9) / 100:.2f}×"
    if both.open_loop:
        return (
            f"; clocks alone could explain at most {most} of the time on the card, and more of what requests wait,"
            " since they come at a pace of their own"
        )
    return f"; clocks alone could explain at most {most}"


def _clocks(runs: Sequence[ArmRun]) -> Clocks:
    cards = [card for one in runs for card in one.cards]
    return Clocks(
        devices=_devices(runs),
        median=mean_clock([one.sm_clock for one in runs if one.sm_clock is not None]),
        floor=min((card.sm_clock_min for card in cards if card.sm_clock_min is not None), default=None),
        maximum=min((card.max_sm_clock_mhz for card in cards if card.max_sm_clock_mhz), default=None),
        throttled_share=max(
            (one.throttled_share for one in runs if one.throttled_share is not None), default=None
        ),
        source=throttle_source(runs),
        reasons=_reasons(cards),
        start_temperature_c=max(
            (card.start_temperature_c for card in cards if card.start_temperature_c is not None), default=None
        ),
        power_limit_mw=min((card.power_limit_mw for card in cards if card.power_limit_mw), default=None),
        firmware_hidden=any(card.firmware_hidden for card in cards),
        why_unknown=_why_unknown(runs),
    )


def _reasons(cards: Sequence[DeviceClocks]) -> dict[str, float]:
    """Every reason with its largest share of a run, the largest first."""
    largest: dict[str, float] = {}
    for card in cards:
        for name, share in card.reasons.items():
            largest[name] = max(share, largest.get(name, 0.0))
    return dict(sorted(largest.items(), key=lambda item: (-item[1], item[0])))


def _devices(runs: Sequence[ArmRun]) -> tuple[str, ...]:
    """Every device by number and name; those that did nothing say so, as they count for nothing."""
    known = [card for one in runs if not isinstance(one.clocks, Absent) for card in one.clocks]
    busy = {card.device for one in runs for card in one.cards}
    names = {
        card.device: f"GPU {card.device}: {card.name}{'' if card.device in busy else ' (idle, left out)'}"
        for card in known
    }
    return tuple(name for _, name in sorted(names.items()))


def _why_unknown(runs: Sequence[ArmRun]) -> str | None:
    if not runs:
        return "the arm has no run of this cell"
    return next((why for one in runs if (why := why_unknown(one)) is not None), None)


def why_unknown(one: ArmRun) -> str | None:
    """Why a run's clocks or throttling aren't known; ``None`` where both are."""
    if isinstance(one.clocks, Absent):
        return one.clocks.reason
    if not any(card.samples for card in one.cards):
        return NO_SAMPLE
    if one.sm_clock is None:
        told = any(sample.sm_clock_mhz is not None for sample in one.run.gpu)
        return "no sample saw the card at work" if told else "the device doesn't tell its SM clock"
    if one.throttled_share is None:
        return "the device doesn't tell its throttle reasons"
    return None
