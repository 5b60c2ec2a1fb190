"""When a sweep shall be over. Its time runs from the start of the command, so servers and calibration count."""

from __future__ import annotations

from radixbench.clock import Clock
from radixbench.units import Nanoseconds, Seconds, seconds


class Deadline:
    """``limit_s`` from now; without a limit never."""

    def __init__(self, clock: Clock, limit_s: Seconds | None) -> None:
        self._clock = clock
        self._limit_s = limit_s
        self._start_ns: Nanoseconds = clock.now_ns()
        self._prepared_s: Seconds = 0.0
        self._missed_s: Seconds | None = None

    def begun(self) -> None:
        """Everything is ready for the first run."""
        self._prepared_s = self._spent_s()

    def left_s(self) -> Seconds | None:
        """How long runs may still begin; ``None`` without a limit."""
        return None if self._limit_s is None else self._limit_s - self._spent_s()

    def allows(self, expected_s: Seconds | None) -> bool:
        """Whether a run of that length still ends in time; one of unknown length may be tried while there is some."""
        left_s = self.left_s()
        if left_s is None:
            return True
        allowed = left_s > 0 if expected_s is None else expected_s <= left_s
        self._missed_s = None if allowed else expected_s
        return allowed

    def words(self, done: int, planned: int) -> str:
        """Why the sweep ends with ``done`` of ``planned`` runs."""
        if not done:
            return (
                f"nothing was measured: --max-time {self._limit_s:g} s was up before the first of {planned} runs;"
                f" servers and calibration count, and took {self._prepared_s:.1f} s"
            )
        expected = "" if self._missed_s is None else f", the next takes about {self._missed_s:.1f} s"
        return (
            f"--max-time {self._limit_s:g} s ends here: {done} of {planned} runs are measured{expected}"
            f" (servers and calibration took {self._prepared_s:.1f} s of it)"
        )

    def _spent_s(self) -> Seconds:
        return seconds(self._clock.now_ns() - self._start_ns)
