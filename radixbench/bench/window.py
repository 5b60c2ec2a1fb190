"""The measured window: the workload is played while clocks, counters and the client itself are watched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from radixbench.bench import counters
from radixbench.bench.pulse import Count, OnPulse, beating
from radixbench.bench.traffic import Asked
from radixbench.capture.model import Check
from radixbench.client.http import ServerClient
from radixbench.client.play import LoadResult, play
from radixbench.client.self_check import SelfCheck
from radixbench.client.talk import BodyOf
from radixbench.clock import ClockAnchor, MonotonicClock, anchor
from radixbench.records import ClientRecord, ServerCounters
from radixbench.scenario.model import LoadSpec, Scenario
from radixbench.telemetry.probes import Probe
from radixbench.telemetry.sampler import Sampler, Sampling
from radixbench.telemetry.state import clock_words

_PATIENCE = 20
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs of a sweep share; ``keep_text`` keeps the answers' text in the capture.

    ``probe`` reads this machine's cards: a run on a server that doesn't compute on them is measured with another.
    """

    scenario: Scenario
    probe: Probe
    keep_text: bool
    should_stop: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Measured:
    """The raw outcome of the measured window."""

    anchor: ClockAnchor
    start_ns: int
    end_ns: int
    load: LoadResult
    sampling: Sampling
    client: ClientRecord
    counters: ServerCounters | None


async def measure_window(
    bench: Bench,
    client: ServerClient,
    asked: Asked,
    load: LoadSpec,
    *,
    seed: int,
    body: BodyOf,
    on_pulse: OnPulse,
    before_request: Callable[[], Awaitable[None]] | None,
) -> Measured:
    """Play what is asked; nothing else is sent until it is over."""
    clock, count = MonotonicClock(), Count()
    sampler = Sampler(bench.probe, clock, bench.scenario.telemetry.interval_ms)
    before = await counters.fetch(client)
    here = anchor()
    sampler.start()
    start_ns = clock.now_ns()
    try:
        async with SelfCheck(client) as check, beating(count, _words(sampler, bench.probe), on_pulse):
            played = await play(
                asked.workload,
                client,
                load,
                seed=seed,
                body=body,
                render=asked.render,
                on_progress=count.answered,
                on_failure=count.fault,
                should_stop=bench.should_stop,
                before_request=before_request,
            )
    finally:
        end_ns = clock.now_ns()
        sampling = sampler.stop()
    counted = await _settled(client, before, played)
    return Measured(here, start_ns, end_ns, played, sampling, check.record(), counted)


def _words(sampler: Sampler, probe: Probe) -> Callable[[], str | None]:
    """The cards' state at the last reading; nothing is read for it."""
    devices = probe.devices()
    return lambda: clock_words(sampler.latest() or (), devices) or None


async def _settled(
    client: ServerClient, before: counters.Reading | None, played: LoadResult
) -> ServerCounters | None:
    """The counters' growth, once every completed request is in it or a second has passed.

    Some servers count a request only after its last byte is sent.
    """
    completed = sum(record.status == "completed" for record in played.records)
    counted = None
    for _ in range(_PATIENCE if before is not None else 0):
        counted = counters.difference(before, await counters.fetch(client))
        if counted is None or counted.requests is None or counted.requests >= completed:
            break
        await asyncio.sleep(_PAUSE_S)
    return counted


def others(counted: ServerCounters | None, sent: int) -> Check | None:
    """Whether somebody else used the server meanwhile; ``None`` where its counters don't tell."""
    if counted is None or counted.requests is None:
        return None
    foreign = counted.requests - sent
    if foreign < 0:
        return Check("alone", None, f"the server counted {counted.requests} of our {sent} requests")
    if foreign == 0:
        return Check("alone", True, "the server counted no requests but ours")
    return Check("alone", False, f"the server counted {foreign} requests that weren't ours")
