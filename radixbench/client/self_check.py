"""Whether the client, and not the server, sets the numbers: watched from inside while it measures.

A timer ticks on the client's own event loop. A tick that comes late means that everything else came late
too: no byte was stamped and no request sent in the meantime. CPU time is the whole process's, so that work
of other threads (the sampler of clocks, garbage collection) counts as what it is: time taken from the client.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol, Self

from radixbench.client.flight import Traffic
from radixbench.clock import Clock, process_cpu_ns
from radixbench.records import ClientRecord
from radixbench.units import NS_PER_S

TICK_NS = 10_000_000
STALL_NS = 5_000_000


class Watched(Protocol):
    """A client whose streams can be counted."""

    clock: Clock
    traffic: Traffic


class SelfCheck:
    """Watches ``client`` while inside ``async with``; ``record`` then says what it cost."""

    def __init__(self, client: Watched) -> None:
        self._clock = client.clock
        self._traffic = client.traffic
        self._seen = Traffic()
        self._cpu_ns = 0
        self._ticks = self._stalls = self._stall_max_ns = 0
        self._due_ns = 0
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._seen = Traffic().plus(self._traffic, -1)
        self._cpu_ns = -process_cpu_ns()
        self._arm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cpu_ns += process_cpu_ns()
        self._seen = self._seen.plus(self._traffic, 1)
        self._look()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def record(self) -> ClientRecord:
        """What the client did while it was watched; for after the ``async with``."""
        return ClientRecord(
            cpu_ns=self._cpu_ns,
            reads=self._seen.reads,
            chunks=self._seen.chunks,
            coalesced_chunks=self._seen.coalesced_chunks,
            ticks=self._ticks,
            tick_interval_ns=TICK_NS,
            stalls=self._stalls,
            stall_threshold_ns=STALL_NS,
            stall_max_ns=self._stall_max_ns,
        )

    def _arm(self) -> None:
        self._due_ns = self._clock.now_ns() + TICK_NS
        self._timer = asyncio.get_running_loop().call_later(TICK_NS / NS_PER_S, self._tick)

    def _tick(self) -> None:
        self._ticks += 1
        self._look()
        self._arm()

    def _look(self) -> None:
        """How late it is now for the tick that was due; a stall that is still going on when the watch ends counts."""
        late_ns = self._clock.now_ns() - self._due_ns
        self._stall_max_ns = max(self._stall_max_ns, late_ns)
        if late_ns > STALL_NS:
            self._stalls += 1
