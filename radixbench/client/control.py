"""Small calls around a measurement: is the server well, what is it, empty your cache.

Written over one abstract exchange, so that they know no HTTP library. Endpoints and their older names
are SGLang's (0.5.22); a server without them is treated as one that doesn't say.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from radixbench.client.flush import FlushOutcome, Patience, flush_by_engine
from radixbench.client.whole import Reply
from radixbench.clock import Clock
from radixbench.errors import IncompleteError
from radixbench.scenario.model import Engine
from radixbench.units import NS_PER_S

_LIMIT_S = 10.0


class ControlCalls(ABC):
    """What a client asks a server besides completions."""

    base_url: str
    clock: Clock
    engine: Engine

    @abstractmethod
    async def exchange(self, method: str, path: str, *, limit_s: float, body: bytes | None = None) -> Reply:
        """One small request and its whole answer, within ``limit_s``; never raises for a fault."""

    async def health(self) -> bool:
        """Whether the server says it is well; one without ``/health`` when it lists its models."""
        return (await self._health()).status == 200

    async def wait_ready(
        self,
        timeout_s: float,
        is_alive: Callable[[], bool] = lambda: True,
        on_wait: Callable[[str], None] = lambda _last: None,
    ) -> None:
        """Wait until the server is well; ``on_wait`` hears at every look that it isn't, and what it said.

        Raises ``IncompleteError`` when it isn't within ``timeout_s``, or once ``is_alive`` says that its
        process has ended, even if something else answers on its port.
        """
        deadline = self.clock.now_ns() + int(timeout_s * NS_PER_S)
        pause_s = 0.05
        while True:
            reply = await self._health()
            if not is_alive():
                raise IncompleteError(
                    f"the server for {self.base_url} ended before it was ready", remedy="see its log"
                )
            if reply.status == 200:
                return
            last = reply.text if reply.status is None else f"HTTP {reply.status}"
            if self.clock.now_ns() >= deadline:
                raise IncompleteError(
                    f"no server was ready at {self.base_url} within {timeout_s:g} s (last: {last})",
                    remedy="check the address, or see the server's log",
                )
            on_wait(last)
            await asyncio.sleep(pause_s)
            pause_s = min(1.5 * pause_s, 0.5)

    async def server_info(self) -> dict[str, Any] | None:
        """The server's resolved arguments and state; ``None`` if it has no such endpoint."""
        return await self._first_document("/server_info", "/get_server_info")

    async def model_info(self) -> dict[str, Any] | None:
        """What the server says of its model; ``None`` if it has no such endpoint."""
        return await self._first_document("/model_info", "/get_model_info")

    async def models(self) -> tuple[str, ...]:
        """The names of the models the server lists; empty if it lists none."""
        document = await self._first_document("/v1/models") or {}
        listed = document.get("data")
        names = [entry.get("id") for entry in listed if isinstance(entry, dict)] if listed else []
        return tuple(name for name in names if isinstance(name, str))

    async def metrics_text(self) -> str | None:
        """The server's counters as Prometheus text; ``None`` if it shows none."""
        reply = await self.exchange("GET", "/metrics", limit_s=_LIMIT_S)
        return reply.body.decode(errors="replace") if reply.status == 200 else None

    async def flush(self, *, limit_s: float = 30.0, pause_s: float = 0.05) -> FlushOutcome:
        """Ask the server to empty its cache, all its tiers, again with growing pauses while it refuses."""
        return await flush_by_engine(
            self.engine,
            lambda method, path: self.exchange(method, path, limit_s=max(limit_s, _LIMIT_S)),
            Patience(self.clock, limit_s, pause_s),
        )

    async def _health(self) -> Reply:
        reply = await self.exchange("GET", "/health", limit_s=_LIMIT_S)
        if reply.status == 404:
            reply = await self.exchange("GET", "/v1/models", limit_s=_LIMIT_S)
        return reply

    async def _first_document(self, *paths: str) -> dict[str, Any] | None:
        for path in paths:
            reply = await self.exchange("GET", path, limit_s=_LIMIT_S)
            if (document := reply.document()) is not None:
                return document
        return None
