"""One run end to end: one seed of one cell on one arm, from a warm server to a ``Run``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from radixbench.bench.arm import Arm, connect
from radixbench.bench.ledger import Repeats
from radixbench.bench.log_part import LogPart
from radixbench.bench.protocol.flushing import ask_briefly, drop_all
from radixbench.bench.protocol.prepare import Preparation, Recipe, prepare
from radixbench.bench.protocol.salt import Salts, unsalted
from radixbench.bench.protocol.sender import Sender
from radixbench.bench.protocol.state import State
from radixbench.bench.protocol.verdict import judge
from radixbench.bench.pulse import OnPulse
from radixbench.bench.schedule import RunPlan
from radixbench.bench.traffic import Asked
from radixbench.bench.window import Bench, Measured, measure_window, others
from radixbench.capture.model import ProtocolRecord, Run, RunStatus
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.client.address import Address
from radixbench.client.http import ServerClient
from radixbench.client.play import LoadResult
from radixbench.client.talk import BodyOf
from radixbench.errors import IncompleteError
from radixbench.scenario.model import LoadSpec
from radixbench.scenario.resolve import at_cell
from radixbench.telemetry.place import probe_for

COMPLETE_SHARE = 0.99
_CONCURRENCY = 8  # of warm-up and priming, where the load has no bound of its own
_UNPROVED = ProtocolRecord("cold", None, 0, 0, None, None, None, "")


@dataclass(frozen=True, slots=True)
class _Course:
    """What one run does, settled before it starts."""

    plan: RunPlan
    state: State
    load: LoadSpec
    body: BodyOf
    asked: Asked
    long_prompt: int | None

    @classmethod
    def of(cls, plan: RunPlan, bench: Bench, arm: Arm, asked: Asked) -> _Course:
        state = State.of(bench.scenario, plan.mode)
        return cls(
            plan=plan,
            state=state,
            load=at_cell(bench.scenario, plan.cell).load,
            body=Salts(arm.server.engine).body if state.salted else unsalted,
            asked=asked,
            long_prompt=max(asked.longest - 1, 1) if plan.arm not in arm.measured else None,
        )


async def measure(plan: RunPlan, bench: Bench, arm: Arm, asked: Asked, on_pulse: OnPulse) -> Run:
    """Prepare the server, play the workload, gather the evidence.

    A server that dies or a stop leaves a ``Run`` whose status says so; a server that can't be brought into the
    declared state raises ``IncompleteError``, since there is nothing to keep.
    """
    course = _Course.of(plan, bench, arm, asked)
    host = Address.of(arm.server.base_url).host
    bench = replace(bench, probe=probe_for(host, bench.probe, on_cpu=arm.facts.device.startswith("cpu")))
    async with connect(
        arm.server, bench.scenario, model=arm.facts.model, keep_text=bench.keep_text
    ) as client:
        seen = await _prepare(course, bench, arm, client)
        if arm.log is not None:
            arm.log.skip()
        before_request = _flusher(client, arm) if course.state.flushes_each else None
        measured = await measure_window(
            bench, client, asked, course.load, seed=plan.seed, body=course.body,
            on_pulse=on_pulse, before_request=before_request,
        )  # fmt: skip
        part = await _log(arm, measured)
        whole = measured.load.stopped is None and _share(measured.load) >= COMPLETE_SHARE
        alive = whole or await arm.server.is_alive(client)
        if alive and measured.load.stopped is None:
            await ask_briefly(client)  # good manners; the next run proves its own
    run = _gather(course, arm, seen, measured, part, alive=alive)
    repeats = _note(course, arm, measured.load)
    alone = others(measured.counters, len(measured.load.prompts))
    return replace(run, protocol=judge(run, course.state, seen, repeats, alone), corpus=asked.corpus)


async def _prepare(course: _Course, bench: Bench, arm: Arm, client: ServerClient) -> Preparation:
    sender = Sender(
        client,
        course.asked.tokens,
        course.plan.seed,
        course.load.max_concurrency or _CONCURRENCY,
        Salts(arm.server.engine).body if course.state.salted else unsalted,
        arm.ledger,
        bench.should_stop,
    )
    recipe = Recipe(
        state=course.state,
        engine=arm.server.engine,
        workload=course.asked.workload,
        load=course.load,
        render=course.asked.render,
        long_prompt=course.long_prompt,
        page_size=arm.facts.page_size,
        room=arm.facts.context_len,
    )
    return await prepare(sender, recipe)


def _flusher(client: ServerClient, arm: Arm) -> Callable[[], Awaitable[None]]:
    return lambda: drop_all(client, arm.server.engine)


async def _log(arm: Arm, measured: Measured) -> LogPart:
    if arm.log is None:
        return LogPart()
    completed = sum(record.status == "completed" for record in measured.load.records)
    ours = arm.server.engine == "bundled" and arm.server.pid is not None
    return await arm.log.read(start_ns=measured.start_ns, finished=completed if ours else None)


def _note(course: _Course, arm: Arm, load: LoadResult) -> Repeats:
    """Whether the server knew these prompts, which it knows from now on."""
    if course.state.salted:
        return Repeats(0, 0)
    prompts = tuple(load.prompts.values())
    repeats = arm.ledger.repeats(prompts)
    arm.ledger.note(prompts)
    arm.ledger.keep()
    return repeats


def _gather(
    course: _Course, arm: Arm, seen: Preparation, measured: Measured, part: LogPart, *, alive: bool
) -> Run:
    records = measured.load.records
    status, error = _outcome(arm, measured.load, alive=alive)
    outputs = {record.prompt: record.output_ids for record in records}
    workload = course.asked.workload
    numbers = range(workload.request_count)
    return Run(
        cell=course.plan.cell,
        seed=course.plan.seed,
        mode=course.plan.mode,
        order=course.plan.order,
        status=status,
        error=error,
        clock_anchor=measured.anchor,
        start_ns=measured.start_ns,
        end_ns=measured.end_ns,
        workload_digest=workload.digest,
        requested=len(records),
        server=arm.facts.record(engine=arm.server.engine, pid=arm.server.pid, base_url=arm.server.base_url),
        protocol=_UNPROVED,
        telemetry=measured.sampling.info,
        prompts=build_prompt_tree(
            [measured.load.prompts.get(number) for number in numbers],
            [outputs.get(number) for number in numbers],
            () if seen.primed is None else seen.primed.held,
        ),
        requests=records,
        steps=part.steps,
        finishes=part.finishes,
        gpu=measured.sampling.samples,
        steps_complete=part.complete,
        client=measured.client,
        counters=measured.counters,
        log=part.totals,
    )


def _outcome(arm: Arm, load: LoadResult, *, alive: bool) -> tuple[RunStatus, str | None]:
    """``failed`` is a run without a single completed request."""
    records = load.records
    completed = sum(record.status == "completed" for record in records)
    short: RunStatus = "incomplete" if completed else "failed"
    if not alive:
        return short, arm.server.death_error().message
    if load.stopped is not None:
        return short, load.stopped
    if _share(load) < COMPLETE_SHARE:
        first = next((record.error for record in records if record.status != "completed"), "nothing was sent")
        return short, f"{len(records) - completed} of {len(records)} requests failed; the first: {first}"
    return "completed", None


def _share(load: LoadResult) -> float:
    """The completed requests over all that were asked for; 0 where none was."""
    completed = sum(record.status == "completed" for record in load.records)
    return completed / len(load.records) if load.records else 0.0


def incomplete_because(plan: RunPlan, run: Run) -> IncompleteError:
    """The error that ends a sweep after ``run``, which ``plan`` became; its capture is saved by then."""
    where = describe(plan)
    return IncompleteError(
        f"run {run.order + 1} ({where}) is {run.status}: {run.error}",
        remedy="the captures hold what was measured",
    )


def describe(plan: RunPlan) -> str:
    """A run's place in the sweep, in words."""
    axes = "".join(f"{value} {axis.replace('_', ' ')}, " for axis, value in plan.cell.items())
    return f"{axes}seed {plan.seed}, cache {plan.arm}"
