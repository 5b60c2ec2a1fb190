"""Which way a factor errs when the clocks of the two arms weren't alike, and by how much at most.

An arm is handicapped when its card was throttled or clocked lower than the other's. Without the
handicap its figures would be better; so a factor (above 1: A better) is an upper bound where only B
was handicapped and a lower bound where only A was. Where A is faster that reads: slower side
handicapped, upper; faster side, lower.

A factor is a geometric mean over pairs of runs, and so are the clocks here: one slow run of five counts as much in
one as in the other. What clocks could explain is a matter of time on the card: where requests come at a pace of their
own, waiting grows faster than the time they are served in, and nothing bounds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from radixbench.compare.arm import ArmRun
from radixbench.compare.change import Bound
from radixbench.compare.pairing import CellPairs
from radixbench.findings.cards import THROTTLED_SHARE
from radixbench.metrics.residency import Source

CLOCK_GAP = 0.02


class Clock(NamedTuple):
    """One clock of both arms in MHz, by name."""

    name: str
    a: float
    b: float

    @property
    def gap(self) -> float:
        """How far they are apart, as a share of the faster."""
        return abs(self.a - self.b) / max(self.a, self.b)


@dataclass(frozen=True, slots=True)
class Pace:
    """One arm's card in one cell. Clocks in MHz of the slowest device, means over runs; shares of a run 0 to 1.

    ``throttled_share`` is the largest of a run, ``mean_share`` the mean over runs, told by ``source``; ``sm_clock`` is of
    medians, ``mean_clock`` weighs every reading by its time, and so shows what a median hides: slowness in under half of it.
    """

    throttled_share: float | None
    sm_clock: float | None
    mean_share: float | None = None
    mean_clock: float | None = None
    memory_clock: float | None = None
    source: Source | None = None

    @property
    def unknown(self) -> bool:
        """Nothing tells how this card ran."""
        return self.throttled_share is None and self.sm_clock is None and self.memory_clock is None

    @property
    def throttled(self) -> bool:
        """Held back for at least 5 % of a run; single samples at its edges are noise."""
        return self.throttled_share is not None and self.throttled_share >= THROTTLED_SHARE


@dataclass(frozen=True, slots=True)
class Paces:
    """Both arms' cards in one cell. ``open_loop``: requests come at a pace of their own, so that they may queue."""

    a: Pace
    b: Pace
    open_loop: bool = False

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clocks that both arms tell: the SMs', by medians and by means over time, and the memory's."""
        both = (
            ("median SM clock", self.a.sm_clock, self.b.sm_clock),
            ("mean SM clock", self.a.mean_clock, self.b.mean_clock),
            ("memory clock", self.a.memory_clock, self.b.memory_clock),
        )
        return tuple(Clock(name, a, b) for name, a, b in both if a and b)

    @property
    def clock_gap(self) -> float | None:
        """How far the SMs' medians are apart, as a share of the faster."""
        if not self.a.sm_clock or not self.b.sm_clock:
            return None
        return Clock("", self.a.sm_clock, self.b.sm_clock).gap

    @property
    def apart(self) -> tuple[Clock, ...]:
        """The clocks that are further apart than clocks are by themselves; a mean only where its median isn't."""
        found = [clock for clock in self.clocks if clock.gap > CLOCK_GAP]
        names = {clock.name for clock in found}
        return tuple(
            clock for clock in found if clock.name != "mean SM clock" or "median SM clock" not in names
        )

    @property
    def handicapped(self) -> tuple[bool, bool]:
        """Whether A's and B's cards were held back or slower than the other's; both may be, each in its way."""
        apart = self.apart
        return (
            self.a.throttled or any(clock.a < clock.b for clock in apart),
            self.b.throttled or any(clock.b < clock.a for clock in apart),
        )

    @property
    def bound(self) -> Bound | None:
        """The bound every factor of the cell is, ``None`` with both or neither arm handicapped or one unknown."""
        a, b = self.handicapped
        if a == b or self.a.unknown or self.b.unknown:
            return None
        return "lower" if a else "upper"

    @property
    def widest(self) -> Clock | None:
        """The clock that could make the largest factor; ``None`` where none is told or shows a loss.

        With one arm handicapped its clock is measured against the other's, else the slower against the faster.
        """
        widest = max(self.clocks, key=self._ratio, default=None)
        return widest if widest is not None and self._ratio(widest) > 1 / (1 - CLOCK_GAP) else None

    @property
    def slowdown(self) -> float | None:
        """How many times as long work on the card took at most for its clocks' sake; never within 2 % of 1."""
        return None if self.widest is None else self._ratio(self.widest)

    @property
    def explains(self) -> float | None:
        """The largest factor that clocks alone could make: ``slowdown``, or ``None`` in an open loop."""
        return None if self.open_loop else self.slowdown

    def _ratio(self, clock: Clock) -> float:
        if self.bound == "upper":
            return clock.a / clock.b
        if self.bound == "lower":
            return clock.b / clock.a
        return max(clock.a, clock.b) / min(clock.a, clock.b)


def paces(cell: CellPairs) -> Paces:
    """The cards' behaviour in the pairs that count, or in all where none does."""
    pairs = cell.pairs or cell.set_aside
    return Paces(
        a=_pace([pair.a for pair in pairs]),
        b=_pace([pair.b for pair in pairs]),
        open_loop=cell.open_loop,
    )


def _pace(runs: Sequence[ArmRun]) -> Pace:
    shares = [one.throttled_share for one in runs if one.throttled_share is not None]
    return Pace(
        throttled_share=max(shares, default=None),
        sm_clock=mean_clock([one.sm_clock for one in runs if one.sm_clock is not None]),
        mean_share=sum(shares) / len(shares) if shares else None,
        mean_clock=mean_clock([clock for one in runs if (clock := _mean_clock(one)) is not None]),
        memory_clock=mean_clock([clock for one in runs if (clock := _memory_clock(one)) is not None]),
        source=throttle_source(runs),
    )


def throttle_source(runs: Sequence[ArmRun]) -> Source | None:
    """``counters`` where they tell of every run of which anything tells."""
    sources = {card.source for one in runs for card in one.cards if card.source is not None}
    if not sources:
        return None
    return "counters" if sources == {"counters"} else "samples"


def _mean_clock(one: ArmRun) -> float | None:
    return min((card.sm_clock_mean for card in one.cards if card.sm_clock_mean is not None), default=None)


def _memory_clock(one: ArmRun) -> float | None:
    known = (card.memory_clock_median for card in one.cards if card.memory_clock_median is not None)
    return min(known, default=None)


def mean_clock(clocks: Sequence[float]) -> float | None:
    """The geometric mean over runs, to the kilohertz; ``None`` of none or of a clock that stood still."""
    if not clocks or min(clocks) <= 0:
        return None
    return round(exp(sum(map(log, clocks)) / len(clocks)), 3)
