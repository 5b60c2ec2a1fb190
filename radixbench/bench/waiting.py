"""What is said while a server isn't ready: at once of one that should run already, later of one that is starting."""

from __future__ import annotations

from collections.abc import Callable

from radixbench.clock import Clock, MonotonicClock
from radixbench.units import Seconds, seconds

_EVERY_S = 5.0
_STARTING_S = 15.0  # an interpreter and a small model need less


class Waiting:
    """Called at every look that finds the server not ready, with what it said; speaks every few seconds."""

    def __init__(
        self,
        base_url: str,
        limit_s: Seconds,
        say: Callable[[str], None],
        *,
        ours: bool,
        clock: Clock | None = None,
    ) -> None:
        self._base_url = base_url
        self._limit_s = limit_s
        self._say = say
        self._ours = ours
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._start_ns = self._clock.now_ns()
        self._next_s = _STARTING_S if ours else 0.0

    def __call__(self, last: str) -> None:
        """The server isn't ready; ``last`` is why."""
        waited_s = seconds(self._clock.now_ns() - self._start_ns)
        if waited_s < self._next_s:
            return
        self._next_s = waited_s + (_STARTING_S if self._ours else _EVERY_S)
        if self._ours:
            self._say(f"the server is starting for {waited_s:.0f} s now")
        else:
            left_s = max(self._limit_s - waited_s, 0.0)
            self._say(f"waiting for {self._base_url} ({last}), {left_s:.0f} s more at most")
