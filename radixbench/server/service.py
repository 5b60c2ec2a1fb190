"""What every endpoint of one running server shares."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from radixbench.clock import Clock, ClockAnchor
from radixbench.model.tokenizer import Tokenizer
from radixbench.server.backend import Identity
from radixbench.server.config import ServerConfig
from radixbench.server.exposition import Exposition
from radixbench.server.loop import EngineLoop
from radixbench.server.steplog import StepLog
from radixbench.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Service:
    """One server, ready. ``created_s`` is its start in seconds since the Unix epoch."""

    config: ServerConfig
    identity: Identity
    tokenizer: Tokenizer
    loop: EngineLoop
    log: StepLog
    exposition: Exposition
    clock: Clock
    anchor: ClockAnchor

    @property
    def created_s(self) -> int:
        return self.anchor.wall_ns // NS_PER_S

    def now_s(self) -> int:
        """The present time in seconds since the Unix epoch."""
        return self.anchor.wall_at(self.clock.now_ns()) // NS_PER_S

    def is_busy(self) -> bool:
        """Whether requests were waiting or running after the latest step."""
        stats = self.loop.stats
        return bool(stats.running_req or stats.queue_req)


SERVICE: web.AppKey[Service] = web.AppKey("service", Service)
