"""When a server started, was ready and started again; what it did between is its own warm-up."""

from __future__ import annotations

from radixbench.metrics.log_summary.phases import StartUp
from radixbench.metrics.log_summary.server import START_EVENTS

_MOST_WARM_UP = 50
_SHORTEST_S = 1.0


class Starts:
    """Takes the start-up events of one server. ``lines`` below: how many batch lines it had printed by then."""

    __slots__ = ("_began", "_lines_before", "_ready", "_stated", "restarts", "start_ups")

    def __init__(self) -> None:
        self.restarts = 0
        self.start_ups: list[StartUp] = []
        self._began: float | None = None
        self._stated = False
        self._ready = False
        self._lines_before = 0

    def begins_again(self, event: str, at_s: float | None, lines: int) -> bool:
        """Whether the event tells of a start after the server had already worked.

        A log may begin in the middle of a run: a server that is ready after a long work was started anew, unseen.
        """
        worked = lines > self._lines_before
        if event in START_EVENTS:
            again = worked and (self._ready or not self._stated)
            if again or not self._stated or self._ready:
                self._begin(at_s, lines)
            self._stated = True
        else:
            again = worked and (self._ready or (not self._stated and lines > _MOST_WARM_UP))
            if again:
                self._begin(at_s, lines)
        self.restarts += again
        return again

    def ready(self, at_s: float | None, first_s: float | None) -> None:
        """The server takes requests from here on; ``first_s`` is the log's first moment."""
        began = self._began if self._began is not None else first_s
        if at_s is not None and began is not None and not self._ready and at_s - began >= _SHORTEST_S:
            self.start_ups.append(StartUp(began, at_s))
        self._ready = True

    @property
    def warming_up(self) -> bool:
        """A start was seen, or nothing yet."""
        return not self._ready

    def _begin(self, at_s: float | None, lines: int) -> None:
        self._began = at_s
        self._lines_before = lines
        self._ready = False
