"""What is due next, for thousands of streams: one heap and one alarm instead of a task for each."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from radixbench.clock import Clock
from radixbench.mock.alarm import make_alarm

_AT_ONCE = 128

Call = Callable[[], int | None]


class Agenda:
    """Calls that are due at moments of the clock, made in their order and never before their time.

    A call returns when it wants to be made again, or ``None``. After 128 calls in a row the event loop gets to read what
    came in. Belongs to the event loop it was made on.
    """

    def __init__(self, clock: Clock) -> None:
        self._now_ns = clock.now_ns
        self._heap: list[tuple[int, int, Call]] = []
        self._count = itertools.count()
        self._armed_ns: int | None = None
        self._alarm = make_alarm(self._ring, clock)

    def put(self, due_ns: int, call: Call) -> None:
        """Make ``call`` when it is due."""
        heapq.heappush(self._heap, (due_ns, next(self._count), call))
        if self._armed_ns is None or due_ns < self._armed_ns:
            self._arm(due_ns)

    def close(self) -> None:
        """Forget everything."""
        self._heap.clear()
        self._alarm.close()

    def _arm(self, due_ns: int | None) -> None:
        self._armed_ns = due_ns
        self._alarm.set(due_ns)

    def _ring(self) -> None:
        try:
            self._make_due_calls()
        finally:
            self._arm(self._heap[0][0] if self._heap else None)

    def _make_due_calls(self) -> None:
        heap = self._heap
        for _ in range(_AT_ONCE):
            if not heap or heap[0][0] > self._now_ns():
                return
            _, _, call = heapq.heappop(heap)
            again_ns = call()
            if again_ns is not None:
                heapq.heappush(heap, (again_ns, next(self._count), call))
