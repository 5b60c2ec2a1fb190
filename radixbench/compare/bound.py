"""Which way a factor errs when the clocks of the two arms weren't alike.

An arm is handicapped when its card was throttled or clocked lower than the other's. Without the
handicap its figures would be better; so a factor (above 1: A better) is an upper bound where only B
was handicapped and a lower bound where only A was. Where A is faster that reads: slower side
handicapped, upper; faster side, lower.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from radixbench.compare.arm import ArmRun
from radixbench.compare.change import Bound
from radixbench.compare.pairing import CellPairs
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample

THROTTLED_SHARE = 0.05
CLOCK_GAP = 0.02


@dataclass(frozen=True, slots=True)
class Pace:
    """One arm's card in one cell: largest share of throttled samples of a run, median SM clock in MHz."""

    throttled_share: float | None
    sm_clock: float | None

    @property
    def throttled(self) -> bool:
        """At least 5 % of a run's samples carry a throttle reason; single ones at its edges are noise."""
        return self.throttled_share is not None and self.throttled_share >= THROTTLED_SHARE


@dataclass(frozen=True, slots=True)
class Paces:
    """Both arms' cards in one cell."""

    a: Pace
    b: Pace

    @property
    def clock_gap(self) -> float | None:
        """How far the medians are apart, as a share of the faster."""
        if self.a.sm_clock is None or self.b.sm_clock is None:
            return None
        faster = max(self.a.sm_clock, self.b.sm_clock)
        return abs(self.a.sm_clock - self.b.sm_clock) / faster if faster > 0 else None

    @property
    def bound(self) -> Bound | None:
        """The bound every factor of the cell is, ``None`` with both or neither arm handicapped."""
        a, b = self.a.throttled, self.b.throttled
        if a and b:
            return None
        if self.clock_gap is not None and self.clock_gap > CLOCK_GAP:
            lower = _lower(self.a) < _lower(self.b)
            a, b = a or lower, b or not lower
        if a == b:
            return None
        return "lower" if a else "upper"


def paces(cell: CellPairs) -> Paces:
    """The cards' behaviour in the pairs that count, or in all where none does."""
    pairs = cell.pairs or cell.set_aside
    return Paces(a=_pace(pair.a for pair in pairs), b=_pace(pair.b for pair in pairs))


def _lower(pace: Pace) -> float:
    return 0.0 if pace.sm_clock is None else pace.sm_clock


def _pace(runs: Iterable[ArmRun]) -> Pace:
    runs = tuple(runs)
    shares = [one.throttled_share for one in runs if one.throttled_share is not None]
    clock = median(Sample(tuple(one.sm_clock for one in runs if one.sm_clock is not None)))
    return Pace(
        throttled_share=max(shares, default=None),
        sm_clock=None if isinstance(clock, Absent) else clock,
    )
