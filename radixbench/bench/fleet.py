"""The servers of a sweep: which one an arm needs, started when it is needed, ended with the sweep.

An arm without reuse has a server of its own when it comes about by a flag; by salt or flush both arms share one.
So do the arms of a null test: two servers started alike where a flag would tell them apart. Servers of ours both stay
up when they fit, and are started anew when a cell needs other settings. A server that isn't ours is only looked at,
and is the same one for both arms of a null test.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from radixbench.bench.arm import Arm, connect
from radixbench.bench.identity import ServerFacts, read_facts
from radixbench.bench.ledger import Ledger, ledger_file
from radixbench.bench.log_part import LogTail
from radixbench.bench.maker import settle
from radixbench.bench.memory import fits_beside
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.progress import Stage
from radixbench.bench.stop import signals_held
from radixbench.bench.target import BundledServer, ExternalServer, Target
from radixbench.bench.waiting import Waiting
from radixbench.client.loop import run as run_loop
from radixbench.errors import IncompleteError, InterruptedRunError
from radixbench.model.cache_dir import cache_dir
from radixbench.model.load_tokenizer import load_tokenizer
from radixbench.model.tokenizer import Tokenizer
from radixbench.records import Mode
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.model import EngineSpec, Scenario
from radixbench.telemetry.probes import Probe

_READY_TIMEOUT_S = 1800.0
_FOREIGN_TIMEOUT_S = 60.0
_UNKNOWN_PAGE = 16


@dataclass(frozen=True, slots=True)
class Orders:
    """What a fleet is given: ``note`` hears in words what it does to which arm's server, and at what stage that is."""

    scenario: Scenario
    paths: OutputPaths
    server_arguments: Sequence[str]
    probe: Probe
    should_stop: Callable[[], bool]
    note: Callable[[Stage, str, ArmName], None]


class Fleet:
    """Running servers by the arm they are started for; one that both arms share stands under its mode."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._arms: dict[ArmName, Arm] = {}
        self._modes = arms(orders.scenario)
        self._keep_both: bool | None = None
        self._pools: dict[EngineSpec, int | None] = {}
        self.tokenizer = _tokenizer(orders.scenario)

    def close(self) -> None:
        """End every server that was started."""
        with signals_held():
            for place in tuple(self._arms):
                self._stop(place)

    def arm(self, name: ArmName, engine: EngineSpec) -> Arm:
        """The server for an arm with these settings, ready. Raises when it doesn't come up."""
        place = self._place(name)
        for other in tuple(self._arms):
            if self._arms[other].engine != engine or (other != place and self._keep_both is False):
                self._stop(other)
        if place not in self._arms:
            self._arms[place] = self._start(place, engine)
        return self._arms[place]

    def used(self, name: ArmName) -> None:
        """A run of this arm was measured on its server."""
        place = self._place(name)
        arm = self._arms[place]
        self._arms[place] = replace(arm, measured=arm.measured | {name})

    def serves(self, name: ArmName) -> bool:
        """Whether this arm's server is up and can still answer."""
        arm = self._arms.get(self._place(name))
        if arm is None or arm.server.has_ended():
            return False

        async def ask() -> bool:
            async with connect(arm.server, self._orders.scenario) as client:
                return await arm.server.is_alive(client)

        return run_loop(ask())

    @contextlib.contextmanager
    def explaining_death(self, server: Target) -> Iterator[None]:
        """An ``IncompleteError`` of a server that has ended is replaced by that server's own last word."""
        try:
            yield
        except IncompleteError as error:
            if self._orders.should_stop():
                raise InterruptedRunError("interrupted while a server was prepared") from error
            if not server.has_ended():
                raise
            raise server.death_error() from error

    def _place(self, name: ArmName) -> ArmName:
        """The arm whose server serves this one: its own where a flag makes the arms, else the one with its cache on."""
        scenario = self._orders.scenario
        if scenario.off_mode != "flag":
            return "on"
        return name if scenario.target.base_url is None else self._modes[name]

    def _start(self, place: ArmName, engine: EngineSpec) -> Arm:
        server = self._target(place, engine)
        server.start()
        try:
            facts = run_loop(self._await_ready(server, lambda text: self._orders.note("note", text, place)))
        except BaseException:
            server.stop()
            raise
        self._pools.setdefault(engine, facts.pool_tokens)
        if self._keep_both is None:
            ours = self._orders.scenario.target.base_url is None
            self._keep_both = not ours or fits_beside(facts, self._orders.probe)
        log = None if server.log_path is None else LogTail(server.log_path)
        if log is not None:
            log.skip()
        return Arm(server, facts, self._ledger(server, facts), log, engine)

    def _target(self, place: ArmName, engine: EngineSpec) -> Target:
        scenario = self._orders.scenario
        mode: Mode = self._modes.get(place, "off" if place == "off" else "on")
        if scenario.target.base_url is not None:
            return self._foreign(mode, scenario.target.base_url)
        self._orders.note("start-server", f"starting the server with the cache {place}", place)
        pool = engine.max_total_tokens or self._pools.get(engine)  # arms differ in the cache alone
        equal = replace(scenario, engine=replace(engine, max_total_tokens=pool))
        logs = self._orders.paths
        log = logs.server_log(place if place in logs.captures else next(iter(logs.captures)))
        return BundledServer(equal, mode, log, self._orders.server_arguments)

    def _foreign(self, mode: Mode, base_url: str) -> ExternalServer:
        target = self._orders.scenario.target
        if mode == "off" and target.off_base_url is not None:
            base_url = target.off_base_url
        self._orders.note("note", f"measuring the server at {base_url}", mode)
        log = None if target.server_log is None or base_url != target.base_url else Path(target.server_log)
        return ExternalServer(base_url, target.engine, log)

    def _ledger(self, server: Target, facts: ServerFacts) -> Ledger:
        page = facts.page_size or _UNKNOWN_PAGE
        if server.pid is not None:
            return Ledger(page)
        return Ledger(page, ledger_file(cache_dir(), server.base_url, facts.fingerprint))

    async def _await_ready(self, server: Target, say: Callable[[str], None]) -> ServerFacts:
        """Who answers, once it does; a server that isn't ours is treated as who it says it is."""
        should_stop, ours = self._orders.should_stop, server.pid is not None
        limit_s = _READY_TIMEOUT_S if ours else _FOREIGN_TIMEOUT_S
        async with connect(server, self._orders.scenario) as client:
            with self.explaining_death(server):
                await client.wait_ready(
                    limit_s,
                    lambda: not (server.has_ended() or should_stop()),
                    Waiting(server.base_url, limit_s, say, ours=ours),
                )
            facts = await read_facts(client, self.tokenizer)
        if not ours:
            version = facts.document.get("version")
            server.engine, note = settle(server.base_url, server.engine, facts.maker, version)
            if note is not None:
                say(note)
        return facts

    def _stop(self, place: ArmName) -> None:
        self._arms.pop(place).server.stop()


def _tokenizer(scenario: Scenario) -> Tokenizer | None:
    """What makes text into ids, where anything is text or a server doesn't tell its vocabulary; no weights."""
    name = scenario.target.tokenizer
    if name is None and scenario.workload.kind == "conversations" and scenario.target.base_url is None:
        name = scenario.model.name
    if name is None:
        return None
    return load_tokenizer(name, trust_remote_code=scenario.model.trust_remote_code)
