"""One run end to end: one seed of one cell on one arm, from a warm server to a ``Run``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from radixbench.bench.identity import ServerFacts
from radixbench.bench.protocol import Preparation, WarmUp, flush_or_fail, judge, prepare
from radixbench.bench.steps import LogPart, LogTail
from radixbench.bench.target import BundledServer
from radixbench.capture.model import CellValue, Run, RunStatus
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.client.http import ServerClient
from radixbench.client.load import LoadResult, run_closed_loop
from radixbench.clock import ClockAnchor, MonotonicClock, anchor
from radixbench.errors import IncompleteError
from radixbench.records import Mode, RequestRecord
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import longest_request
from radixbench.telemetry.probes import Probe
from radixbench.telemetry.sampler import Sampler, Sampling
from radixbench.workloads.build import build
from radixbench.workloads.conversation import Workload
from radixbench.workloads.tokens import TokenSource

COMPLETE_SHARE = 0.99
_ENGINE = "bundled"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run of a sweep: ``order`` counts from 0 over both arms in the order they run."""

    order: int
    cell_index: int
    cell: dict[str, CellValue]
    seed: int
    mode: Mode


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs of a sweep share; ``keep_text`` keeps the answers' text in the capture."""

    scenario: Scenario
    probe: Probe
    keep_text: bool
    should_stop: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Arm:
    """One running server and what it said of itself; ``fresh`` until a run was measured on it."""

    server: BundledServer
    facts: ServerFacts
    log: LogTail
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class _Measured:
    """The raw outcome of the measured window."""

    anchor: ClockAnchor
    start_ns: int
    end_ns: int
    load: LoadResult
    sampling: Sampling


def tokens_for(plan: RunPlan, bench: Bench, facts: ServerFacts) -> TokenSource:
    """The source of this run's prompts: the same ids for both arms, others for every cell and seed."""
    workload = bench.scenario.workload
    return TokenSource.of(
        facts.vocab_size,
        excluded=facts.special_token_ids,
        cell=plan.cell_index,
        families=workload.groups * workload.prompts_per_group,
    )


def workload_for(plan: RunPlan, bench: Bench, tokens: TokenSource) -> Workload:
    """What this run asks."""
    spec = bench.scenario.workload
    turns = plan.cell.get("turns")
    if spec.question_len is None or spec.output_len is None:
        raise ValueError("the scenario isn't resolved")
    return build(
        spec.kind,
        shared=int(plan.cell["shared_tokens"]),
        turns=None if turns is None else int(turns),
        groups=spec.groups,
        prompts_per_group=spec.prompts_per_group,
        question_len=spec.question_len,
        output_len=spec.output_len,
        seed=plan.seed,
        tokens=tokens,
    )


async def measure(plan: RunPlan, bench: Bench, arm: Arm, on_requests: Callable[[int, int], None]) -> Run:
    """Prepare the server, play the workload, gather the evidence.

    A server that dies or a stop leaves a ``Run`` whose status says so; a server that can't be
    prepared raises ``IncompleteError``, since there is nothing to keep.
    """
    tokens = tokens_for(plan, bench, arm.facts)
    workload = workload_for(plan, bench, tokens)
    concurrency = bench.scenario.load.max_concurrency
    async with ServerClient(arm.server.base_url, model=arm.facts.model, keep_text=bench.keep_text) as client:
        warm_up = WarmUp(client, tokens, plan.seed, concurrency, bench.should_stop)
        long_prompt = longest_request(bench.scenario) - 1 if arm.fresh else None
        seen = await prepare(warm_up, long_prompt=long_prompt)
        arm.log.skip()
        measured = await _play(workload, client, bench, on_requests)
        completed = sum(record.status == "completed" for record in measured.load.records)
        part = await arm.log.read(start_ns=measured.start_ns, finished=completed)
        if arm.server.is_alive() and measured.load.stopped is None:
            await flush_or_fail(client)
    return _gather(plan, arm, workload, seen, measured, part)


async def _play(
    workload: Workload, client: ServerClient, bench: Bench, on_requests: Callable[[int, int], None]
) -> _Measured:
    clock = MonotonicClock()
    sampler = Sampler(bench.probe, clock, bench.scenario.telemetry.interval_ms)
    here = anchor()
    sampler.start()
    start_ns = clock.now_ns()
    try:
        load = await run_closed_loop(
            workload,
            client,
            max_concurrency=bench.scenario.load.max_concurrency,
            on_progress=on_requests,
            should_stop=bench.should_stop,
        )
    finally:
        end_ns = clock.now_ns()
        sampling = sampler.stop()
    return _Measured(here, start_ns, end_ns, load, sampling)


def _gather(
    plan: RunPlan, arm: Arm, workload: Workload, seen: Preparation, measured: _Measured, part: LogPart
) -> Run:
    records = measured.load.records
    status, error = _outcome(arm, measured.load)
    outputs = {record.prompt: record.output_ids for record in records}
    numbers = range(workload.request_count)
    return Run(
        cell=plan.cell,
        seed=plan.seed,
        mode=plan.mode,
        order=plan.order,
        status=status,
        error=error,
        clock_anchor=measured.anchor,
        start_ns=measured.start_ns,
        end_ns=measured.end_ns,
        workload_digest=workload.digest,
        requested=workload.request_count,
        server=arm.facts.record(engine=_ENGINE, pid=arm.server.pid, base_url=arm.server.base_url),
        protocol=judge(plan.mode, seen, _cached_sum(records)),
        telemetry=measured.sampling.info,
        prompts=build_prompt_tree(
            [measured.load.prompts.get(number) for number in numbers],
            [outputs.get(number) for number in numbers],
        ),
        requests=records,
        steps=part.steps,
        finishes=part.finishes,
        gpu=measured.sampling.samples,
        steps_complete=part.complete,
    )


def _outcome(arm: Arm, load: LoadResult) -> tuple[RunStatus, str | None]:
    """``failed`` is a run without a single completed request."""
    records = load.records
    completed = sum(record.status == "completed" for record in records)
    short: RunStatus = "incomplete" if completed else "failed"
    if not arm.server.is_alive():
        return short, arm.server.death_error().message
    if load.stopped is not None:
        return short, load.stopped
    if completed < COMPLETE_SHARE * len(records):
        first = next(record.error for record in records if record.status != "completed")
        return short, f"{len(records) - completed} of {len(records)} requests failed; the first: {first}"
    return "completed", None


def _cached_sum(records: tuple[RequestRecord, ...]) -> int | None:
    known = [record.cached_tokens for record in records if record.status == "completed"]
    if any(value is None for value in known):
        return None
    return sum(value for value in known if value is not None)


def incomplete_because(run: Run) -> IncompleteError:
    """The error that ends a sweep after ``run``; its capture is saved by then."""
    cell = ", ".join(f"{value} {axis.replace('_', ' ')}" for axis, value in run.cell.items())
    return IncompleteError(
        f"run {run.order + 1} ({cell}, seed {run.seed}, cache {run.mode}) is {run.status}: {run.error}",
        remedy="the captures hold what was measured",
    )
