"""From a server in any state to one in the declared state: warm-up, probes, flush, and what is put in on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.bench.protocol.flushing import Flushed, empty
from radixbench.bench.protocol.priming import Primed, prime, warm
from radixbench.bench.protocol.probing import Probe, Probed, ask
from radixbench.bench.protocol.sender import Sender
from radixbench.bench.protocol.state import State
from radixbench.scenario.model import Engine, LoadSpec
from radixbench.units import Tokens
from radixbench.workloads.conversation import Render, Workload


@dataclass(frozen=True, slots=True)
class Preparation:
    """What was seen while a server was prepared."""

    warmup_requests: int
    probed: Probed
    flushed: Flushed
    primed: Primed | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a run wants of a server: its state, and the traffic that state is about.

    ``long_prompt`` is given for a server on which nothing of this arm was measured yet; ``page_size`` and ``room`` are its
    own, ``None`` where it doesn't tell.
    """

    state: State
    engine: Engine
    workload: Workload
    load: LoadSpec
    render: Render | None
    long_prompt: Tokens | None
    page_size: Tokens | None
    room: Tokens | None


async def prepare(sender: Sender, recipe: Recipe) -> Preparation:
    """Bring the state about.

    Raises ``IncompleteError`` where it can't be, with the reason; ``UsageError`` where no run's could be.
    """
    warmed = await sender.warm_up(recipe.long_prompt)
    probe = Probe.of(sender, recipe.page_size, recipe.room)
    probed = await ask(sender, probe, tells_zero=warmed.tells_zero)
    must = recipe.state.declared != "off" or recipe.state.flushes_each
    flushed = await empty(sender, probed, recipe.engine, must=must)
    primed = None
    if recipe.state.declared == "primed":
        primed = await prime(sender, recipe.workload, probed)
    elif recipe.state.declared == "warm":
        primed = await warm(sender, recipe.workload, recipe.load, recipe.render)
    return Preparation(warmed.requests, probed, flushed, primed)
