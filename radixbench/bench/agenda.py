"""The runs of a sweep as they come up: all that are planned, then those that ``--until`` adds pair by pair.

Whatever is planned is told at once to those who count: the captures say how many runs they shall hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from radixbench.bench.beginning import Settled
from radixbench.bench.deadline import Deadline
from radixbench.bench.schedule import RunPlan
from radixbench.bench.shelf import Shelf
from radixbench.bench.tracker import Tracker
from radixbench.bench.until import Ending, Until

_OUT_OF_TIME = "--max-time is reached"


class Agenda:
    """What is still to be measured of a settled sweep; ``until`` is ``None`` where nothing is added."""

    def __init__(
        self, settled: Settled, until: Until | None, shelf: Shelf, tracker: Tracker, deadline: Deadline
    ) -> None:
        self.plans = settled.plans
        self._done = settled.done
        self._until = until
        self._shelf = shelf
        self._tracker = tracker
        self._deadline = deadline
        self._promised: set[int] = set()
        self._cut: str | None = "the sweep was cut short"
        self._tell()

    def coming(self) -> Iterator[RunPlan]:
        """Every run that isn't measured yet. Whether one is added is decided when all before it are over."""
        yield from (plan for plan in self.plans if plan.order not in self._done)
        while self._until is not None and (added := self._until.more(self.plans)):
            if not self._deadline.allows(self._expected_s(added)):
                self._cut = _OUT_OF_TIME
                return
            self._promised.update(plan.order for plan in added)
            self.plans = (*self.plans, *added)
            self._tell()
            yield from added
        self._cut = None

    def may_begin(self, plan: RunPlan) -> bool:
        """Whether a run ends in time, as far as that can be told; an added pair that was begun is finished."""
        return plan.order in self._promised or self._deadline.allows(self._tracker.expected_s(plan))

    def ending(self, go_on: str) -> Ending | None:
        """How ``--until`` ended; by itself, unless what was coming wasn't all taken.

        ``go_on`` says how the same sweep is gone on with, which is told where time ended it.
        """
        if self._until is None:
            return None
        ending = self._until.ending(self.plans, self._cut)
        if self._cut != _OUT_OF_TIME or ending.reached:
            return ending
        return replace(ending, text=f"{ending.text}; {go_on}")

    def _expected_s(self, plans: tuple[RunPlan, ...]) -> float | None:
        known = [self._tracker.expected_s(plan) for plan in plans]
        times = [time for time in known if time is not None]
        return sum(times) if len(times) == len(known) else None

    def _tell(self) -> None:
        """All that is known by now, to whoever counts."""
        self._tracker.plan(self.plans, self._done)
        until = self._until
        if until is not None:
            self._shelf.plan(self.plans)
            self._tracker.aim(until.target, lambda: until.further(self.plans))
