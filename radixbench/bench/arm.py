"""A running server with all that is known of it: what a run of one arm works with."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.bench.identity import ServerFacts
from radixbench.bench.ledger import Ledger
from radixbench.bench.log_part import LogTail
from radixbench.bench.target import Target
from radixbench.client.http import ServerClient
from radixbench.scenario.arms import ArmName
from radixbench.scenario.model import EngineSpec, LoadSpec, Scenario


@dataclass(frozen=True, slots=True)
class Arm:
    """One server; ``log`` is ``None`` where its log isn't known.

    ``engine`` are the settings it runs with, as far as they are ours to choose. ``measured`` are the arms that had a run
    on it: the first of each is warmed up at length, so that arms that share a server are prepared alike.
    """

    server: Target
    facts: ServerFacts
    ledger: Ledger
    log: LogTail | None
    engine: EngineSpec
    measured: frozenset[ArmName] = frozenset()


def connect(
    target: Target, scenario: Scenario, *, model: str | None = None, keep_text: bool = False
) -> ServerClient:
    """A client for a server of ``scenario``; ``model`` is the name sent along."""
    load: LoadSpec = scenario.load
    return ServerClient(
        target.base_url,
        model=model,
        api_key=target.api_key,
        stall_timeout_s=load.stall_timeout_s,
        keep_text=keep_text,
        endpoint=scenario.target.endpoint,
        engine=target.engine,
    )
