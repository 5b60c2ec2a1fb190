"""Where the tokens of one HTTP request come out, on the event loop's side."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


class EngineDownError(Exception):
    """No request can be answered any more: the engine crashed (500) or the server is leaving (503)."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Arrival:
    """One token of one answer. ``choice`` numbers the answers of the HTTP request."""

    choice: int
    token_id: int
    cached_tokens: int
    finish_reason: str | None


class Outlet:
    """Arrivals in the order they were made; one handler takes them. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._arrivals: list[Arrival] = []
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def put(self, arrival: Arrival) -> None:
        """One more arrival."""
        self._arrivals.append(arrival)
        self._wake()

    def fail(self, error: Exception) -> None:
        """Nothing more will come; ``take`` raises ``error`` from now on."""
        self._error = error
        self._wake()

    async def take(self) -> list[Arrival]:
        """Everything that has arrived since the last call, at least one."""
        while not self._arrivals:
            if self._error is not None:
                raise self._error
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        taken, self._arrivals = self._arrivals, []
        return taken

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
