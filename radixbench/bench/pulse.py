"""How a measured window stands, told a few times a second: what it costs, the measurement must not feel.

Counting an answer is all that is done when one comes. Everything else waits for the next beat.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from radixbench.units import Seconds

BEAT_S: Seconds = 0.25


@dataclass(frozen=True, slots=True)
class Pulse:
    """``done`` of ``total`` requests are answered, ``failed`` ones among them; ``clock`` is the cards' state in words."""

    done: int
    total: int
    failed: int
    clock: str | None


OnPulse = Callable[[Pulse], None]


class Count:
    """Requests as they end; ``total`` is known with the first one that does."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.failed = 0

    def answered(self, done: int, total: int) -> None:
        """So many of all have a record."""
        self.done, self.total = done, total

    def fault(self) -> None:
        """One of them failed."""
        self.failed += 1


@contextlib.asynccontextmanager
async def beating(count: Count, clock: Callable[[], str | None], on_pulse: OnPulse) -> AsyncIterator[None]:
    """Tell how ``count`` and ``clock`` stand, at once and then with every beat, as long as the context lasts."""

    def tell() -> None:
        on_pulse(Pulse(count.done, count.total, count.failed, clock()))

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            tell()

    tell()
    beats = asyncio.create_task(beat())
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.wait({beats})
    if not beats.cancelled() and (error := beats.exception()) is not None:
        raise error
