"""One measured run against a server that runs already, on the running event loop."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radixbench.bench.arm import Arm, connect
from radixbench.bench.identity import ServerFacts, read_facts
from radixbench.bench.ledger import Ledger
from radixbench.bench.log_part import LogTail
from radixbench.bench.protocol.probing import Probe
from radixbench.bench.protocol.salt import unsalted
from radixbench.bench.protocol.sender import Sender
from radixbench.bench.pulse import OnPulse
from radixbench.bench.run import measure
from radixbench.bench.schedule import schedule
from radixbench.bench.target import ExternalServer
from radixbench.bench.traffic import Asked, Traffic
from radixbench.bench.window import Bench
from radixbench.capture.model import Run
from radixbench.client.http import ServerClient
from radixbench.records import Mode
from radixbench.scenario.model import EngineSpec, Scenario
from radixbench.scenario.resolve import resolve
from radixbench.telemetry.probes import ScriptedProbe
from radixbench.workloads.tokens import TokenSource


@dataclass
class Bencher:
    """Measures runs of one scenario on one server, as a sweep would."""

    base_url: str
    scenario: Scenario
    ledger: Ledger = field(default_factory=lambda: Ledger(16))
    log: Path | None = None
    should_stop: Callable[[], bool] = lambda: False
    on_pulse: OnPulse = lambda pulse: None

    async def run(self, mode: Mode = "on", seed: int = 0) -> Run:
        """The run of an arm's first cell."""
        scenario = resolve(self.scenario, on_cpu=False)
        server = ExternalServer(self.base_url, scenario.target.engine)
        async with connect(server, scenario) as client:
            facts = await read_facts(client)
        log = None if self.log is None else LogTail(self.log)
        arm = Arm(server, facts, self.ledger, log, EngineSpec(), measured=frozenset({"on", "off"}))
        plan = next(plan for plan in schedule(scenario) if (plan.mode, plan.seed) == (mode, seed))
        bench = Bench(scenario, ScriptedProbe([]), keep_text=False, should_stop=self.should_stop)
        return await measure(plan, bench, arm, self._asked(seed, facts), self.on_pulse)

    async def asked(self, seed: int = 0) -> Asked:
        """What seed ``seed`` of the first cell asks."""
        async with ServerClient(self.base_url) as client:
            return self._asked(seed, await read_facts(client))

    def _asked(self, seed: int, facts: ServerFacts) -> Asked:
        scenario = resolve(self.scenario, on_cpu=False)
        plan = next(plan for plan in schedule(scenario) if plan.seed == seed)
        return Traffic(scenario, None).asked(plan, facts)


@contextlib.asynccontextmanager
async def sender_to(
    base_url: str, *, body: Callable[..., Any] = unsalted, engine: Any = "sglang"
) -> AsyncIterator[Sender]:
    """Somebody who prepares the server at ``base_url``."""
    tokens = TokenSource.of(8192, families=8)
    async with ServerClient(base_url, engine=engine) as client:
        yield Sender(client, tokens, 0, 2, body, Ledger(16))


def probe_for(sender: Sender, page_size: int | None = 1) -> Probe:
    """The sender's probe on a server with such pages."""
    return Probe.of(sender, page_size, None)
