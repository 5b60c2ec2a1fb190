"""When conversations start: a place in a closed loop, or a moment on an absolute schedule.

The schedule is fixed before the first request: due times are one start plus offsets, and never move,
however late anything is sent. Waiting ends at the deadline, not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from radixbench.clock import Clock
from radixbench.errors import UsageError
from radixbench.scenario.model import LoadSpec
from radixbench.units import NS_PER_MS, NS_PER_S, Nanoseconds, Seconds
from radixbench.workloads.arrivals import constant, gamma, poisson, recorded
from radixbench.workloads.conversation import Conversation

CLOSED_CONCURRENCY = 8
_SPARE_NS = 2 * NS_PER_MS  # a deadline this close leaves no time for anything else


def offsets(
    conversations: Sequence[Conversation], load: LoadSpec, *, seed: int
) -> tuple[Seconds, ...] | None:
    """When each conversation is due, from the start of the load; ``None`` for a closed loop."""
    if load.arrival == "closed":
        return None
    if load.arrival == "trace":
        moments = [conversation.due_s for conversation in conversations]
        known = [moment for moment in moments if moment is not None]
        if len(known) < len(moments):
            raise UsageError("this workload has no timestamps", remedy="choose another --arrival than trace")
        return recorded(known, speed=load.speed)
    if load.request_rate is None:
        raise UsageError(f"{load.arrival} arrivals need a rate", remedy="give --request-rate")
    if load.arrival == "constant":
        return constant(len(conversations), load.request_rate)
    if load.arrival == "poisson":
        return poisson(len(conversations), load.request_rate, seed=seed)
    return gamma(len(conversations), load.request_rate, burstiness=load.burstiness, seed=seed)


class Pace:
    """Lets one conversation after the other begin, as ``load`` says.

    Times are the clock's; ``begin`` fixes the start. At most ``max_concurrency`` conversations hold a place at once,
    in a closed loop 8 unless it says otherwise, in an open one as many as are due.
    """

    def __init__(self, load: LoadSpec, clock: Clock) -> None:
        _refuse_nonsense(load)
        self.closed = load.arrival == "closed"
        self._clock = clock
        self._duration_ns = None if load.duration_s is None else round(load.duration_s * NS_PER_S)
        self._start_ns = clock.now_ns()
        cap = CLOSED_CONCURRENCY if self.closed and load.max_concurrency is None else load.max_concurrency
        self._places = None if cap is None else asyncio.Semaphore(cap)

    def begin(self) -> None:
        """The load starts now."""
        self._start_ns = self._clock.now_ns()

    def due_ns(self, offset_s: Seconds | None) -> Nanoseconds | None:
        """The moment ``offset_s`` after the start; ``None`` for what has none, in a closed loop."""
        return None if offset_s is None else self._start_ns + round(offset_s * NS_PER_S)

    def over(self, at_ns: Nanoseconds) -> bool:
        """Whether the bound by time has passed then: from that moment on nothing is sent."""
        return self._duration_ns is not None and at_ns >= self._start_ns + self._duration_ns

    def spare(self, offset_s: Seconds | None) -> bool:
        """Whether there is time to prepare something before a conversation with this offset begins."""
        if self._places is not None and self._places.locked():
            return True
        due_ns = self.due_ns(offset_s)
        return due_ns is not None and due_ns - self._clock.now_ns() > _SPARE_NS

    async def until(self, moment_ns: Nanoseconds) -> None:
        """Wait for a moment of the clock, not less; the timer alone may be a millisecond early."""
        while (left_ns := moment_ns - self._clock.now_ns()) > 0:  # noqa: ASYNC110 - no event happens then
            await asyncio.sleep(left_ns / NS_PER_S)

    async def place(self) -> bool:
        """Take a place once one is free; ``False`` when the bound by time comes first.

        What was due within the bound and finds a place at once gets it, though the timer woke it after the bound.
        """
        if self.closed and self.over(self._clock.now_ns()):
            return False
        if self._places is None:
            return True
        try:
            async with asyncio.timeout(self._left_s() if self._places.locked() else None):
                return await self._places.acquire()
        except TimeoutError:
            return False

    def free(self, _: object = None) -> None:
        """Give a place back."""
        if self._places is not None:
            self._places.release()

    def _left_s(self) -> Seconds | None:
        if self._duration_ns is None:
            return None
        return (self._start_ns + self._duration_ns - self._clock.now_ns()) / NS_PER_S


def _refuse_nonsense(load: LoadSpec) -> None:
    if load.max_concurrency is not None and load.max_concurrency < 1:
        raise UsageError(f"max concurrency is {load.max_concurrency}", remedy="give 1 or more")
    if load.num_prompts is not None and load.num_prompts < 1:
        raise UsageError(f"a load of {load.num_prompts} conversations is none", remedy="give 1 or more")
    if load.duration_s is not None and not load.duration_s > 0:
        raise UsageError(f"a load of {load.duration_s:g} s is none", remedy="give more than 0")
