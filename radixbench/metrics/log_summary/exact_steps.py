"""Time from our own step records, whose start and end are exact.

Steps of one server follow each other, so the time at work is the sum of its steps. A server that prints only every
n-th decode step leaves gaps in the step numbers; there the time between two printed steps counts as work.
"""

from __future__ import annotations

from radixbench.records import StepRecord
from radixbench.units import NS_PER_S


class ExactSteps:
    """Takes the steps of one rank in their order."""

    __slots__ = ("_busy_ns", "_end_ns", "_step", "retracted", "steps")

    def __init__(self) -> None:
        self.steps = 0
        self.retracted = 0
        self._busy_ns = 0
        self._step: int | None = None
        self._end_ns = 0

    def add(self, record: StepRecord) -> None:
        """One step. A step number that falls is a restarted server's."""
        self.steps += 1
        self.retracted += record.retracted_req
        start = record.start_ns
        unseen = self._step is not None and record.step > self._step + 1
        self._busy_ns += max(record.end_ns - (self._end_ns if unseen else start), 0)
        self._step, self._end_ns = record.step, record.end_ns

    @property
    def busy_s(self) -> float:
        """Time in steps."""
        return self._busy_ns / NS_PER_S
