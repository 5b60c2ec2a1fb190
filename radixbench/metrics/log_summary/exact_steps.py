"""Time from our own step records, whose start and end are exact.

Steps of one server follow each other, so the time at work is the sum of its steps. A server that prints only every
n-th decode step leaves gaps in the step numbers. Where requests ran throughout, such a gap is all work; where the next step found nothing
running, the missing steps are taken to have lasted as long as printed ones, and the rest of the gap was idle.
"""

from __future__ import annotations

from radixbench.records import StepRecord
from radixbench.units import NS_PER_S

_SLOWER = 2
"""Steps may take this many times as long as the printed ones before a gap is taken for idle."""


class ExactSteps:
    """Takes the steps of one rank in their order."""

    __slots__ = ("_busy_ns", "_decode_ns", "_end_ns", "_step", "_took_ns", "retracted", "steps")

    def __init__(self) -> None:
        self.steps = 0
        self.retracted = 0
        self._busy_ns = 0
        self._step: int | None = None
        self._end_ns = 0
        self._took_ns = 0
        self._decode_ns = 0

    def add(self, record: StepRecord) -> None:
        """One step. A step number that falls is a restarted server's."""
        self.steps += 1
        self.retracted += record.retracted_req
        took = record.end_ns - record.start_ns
        self._busy_ns += took + self._unseen_ns(record)
        self._step, self._end_ns, self._took_ns = record.step, record.end_ns, took
        if record.phase == "decode":
            self._decode_ns = took

    def rest_s(self, record: StepRecord) -> float | None:
        """Seconds before a step not added yet in which nothing ran; ``None`` where no step of the same run came before."""
        if self._step is None or record.step <= self._step:
            return None
        return max(record.start_ns - self._end_ns - self._unseen_ns(record), 0) / NS_PER_S

    @property
    def busy_s(self) -> float:
        """Time in steps."""
        return self._busy_ns / NS_PER_S

    def _unseen_ns(self, record: StepRecord) -> int:
        """What the steps between the last one and this took."""
        missing = 0 if self._step is None else record.step - self._step - 1
        gap = record.start_ns - self._end_ns
        if missing <= 0 or gap <= 0:
            return 0
        if record.phase == "decode" or record.running_req:
            return gap
        each = self._decode_ns or min(self._took_ns, record.end_ns - record.start_ns)
        likely = missing * each
        return gap if gap <= _SLOWER * likely else likely
