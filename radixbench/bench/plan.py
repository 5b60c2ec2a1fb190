"""What a sweep would do: its cells, the tokens each arm computes, and roughly how long and how big.

Tokens are counted on one seed's workload itself, and exact but for first arrivals that race for a prefix. Time
is an estimate from the model's shape and a short measurement of this CPU; it is ``None`` where the shape or
the device's speed is unknown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from radixbench.bench.duration import Pace, prepared_s, sweep_s
from radixbench.bench.layout import Layout, lay_out
from radixbench.bench.until import floor, most_seeds
from radixbench.capture.model import CellValue
from radixbench.clock import MonotonicClock
from radixbench.model.device import pick_device, pick_threads
from radixbench.model.outline import Outline, cpu_flops_per_s, kv_bytes, outline
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.cells import at_cell, cells
from radixbench.scenario.longest import longest_request
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import resolve
from radixbench.units import Bytes, Seconds, Tokens

_USUAL_POOL: Tokens = 65_536


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One cell, per seed and arm. ``computed_on`` and ``computed_off`` are prompt tokens to prefill.

    Counts are ``None`` where nobody could lay the workload out; the plan's notes say why.
    """

    cell: dict[str, CellValue]
    requests: int | None
    prompt_tokens: Tokens | None
    computed_on: Tokens | None
    computed_off: Tokens | None
    output_tokens: Tokens | None
    seconds_on: Seconds | None
    seconds_off: Seconds | None


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The whole sweep; where up to ``most_seeds`` are added ``until`` intervals are that narrow, its least. ``seconds`` and the bytes of both servers together are rough, ``None`` unknown.

    ``question_len`` and ``output_len`` are ``None`` where each cell has its own or a file says. ``notes`` say
    what is unknown and why, and what would keep the sweep from running here.
    """

    scenario: str
    model: str
    device: str
    seeds: int
    runs: int
    until: float | None
    most_seeds: int | None
    arms: tuple[ArmName, ...]
    workload: str
    cache_state: str
    off_mode: str
    question_len: Tokens | None
    output_len: Tokens | None
    longest_request: Tokens | None
    cells: tuple[CellPlan, ...]
    seconds: Seconds | None
    weight_bytes: Bytes | None
    pool_bytes: Bytes | None
    notes: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """The plan as JSON data."""
        return {"schema": "radixbench.plan/1", **asdict(self)}


def plan(scenario: Scenario, *, until: float | None = None) -> SweepPlan:
    """Lay a sweep out without starting anything, also for a device this machine lacks.

    With ``until`` it is the least that will run. Raises ``ScenarioError`` for one that can't run, and ``CorpusError`` for a file that can't be played.
    """
    here = pick_device("auto")
    device = here if scenario.model.device == "auto" else scenario.model.device
    if until is not None:
        scenario = replace(scenario, seeds=floor(scenario.seeds))
    settled = resolve(scenario, on_cpu=device == "cpu")
    ours = settled.target.base_url is None
    shape = outline(settled.model.name) if ours else None
    layout = lay_out(settled, vocab_size=shape.vocab if shape else None, room=_room(settled, shape))
    planned = _cells(settled, layout, _pace(settled, shape, device))
    workload = settled.workload
    width = 4 if device == "cpu" else 2
    longest = longest_request(settled) or layout.longest
    pool = max(settled.grid.max_total_tokens or (settled.engine.max_total_tokens or _USUAL_POOL,))
    return SweepPlan(
        scenario=settled.name,
        model=settled.model.name if ours else f"the model at {settled.target.base_url}",
        device=device if ours else "its own device",
        seeds=settled.seeds,
        runs=len(planned) * settled.seeds * len(settled.modes),
        until=until,
        most_seeds=None if until is None else most_seeds(settled.seeds),
        arms=tuple(arms(settled)),
        workload=workload.kind,
        cache_state=settled.cache_state,
        off_mode=settled.off_mode,
        question_len=workload.question_len,
        output_len=workload.output_len,
        longest_request=longest,
        cells=planned,
        seconds=sweep_s(settled, [(cell.seconds_on, cell.seconds_off) for cell in planned]),
        weight_bytes=len(settled.modes) * shape.weights * width if shape else None,
        pool_bytes=len(settled.modes) * kv_bytes(shape, pool, width) if shape else None,
        notes=(
            *_notes(settled, shape, device, here),
            *_context_notes(settled, shape, longest),
            *layout.notes,
            *_pool_notes(settled, layout),
        ),
    )


def _notes(scenario: Scenario, shape: Outline | None, device: str, here: str) -> tuple[str, ...]:
    notes = []
    if scenario.target.base_url is not None:
        return ("time and memory are unknown: the server isn't started from here",)
    if device == "cuda" and here != "cuda":
        notes.append("torch sees no NVIDIA GPU on this machine: run the sweep where there is one")
    if shape is None:
        notes.append(
            f"no configuration of {scenario.model.name} lies on this machine: time and memory are unknown,"
            " and the weights will be downloaded if there are any under that name"
        )
    elif device == "cuda":
        notes.append("time is unknown: a GPU's speed can't be told from here")
    return tuple(notes)


def _room(scenario: Scenario, shape: Outline | None) -> Tokens | None:
    """The most tokens a recorded request may take, as far as that is known before the server starts."""
    sizes = (None if shape is None else shape.context, scenario.engine.max_total_tokens)
    return min((size for size in sizes if size is not None), default=None)


def _context_notes(scenario: Scenario, shape: Outline | None, longest: Tokens | None) -> tuple[str, ...]:
    """A made-up request that the model can't hold; recorded ones are left out."""
    context = None if shape is None else shape.context
    if context is None or longest is None or longest <= context:
        return ()
    return (
        f"the longest request has {longest:,} tokens and the context of {scenario.model.name} holds {context:,}: the sweep won't start",
    )


def _pool_notes(scenario: Scenario, layout: Layout) -> tuple[str, ...]:
    """What the largest cell would keep, if that is more than the pool holds."""
    beyond = [
        (laid.kept, pool)
        for cell, laid in zip(cells(scenario), layout.cells, strict=True)
        if laid and (pool := _pool(at_cell(scenario, cell))) is not None and laid.kept > pool
    ]
    if not beyond:
        return ()
    kept, pool = max(beyond)
    return (
        f"what could be cached takes {kept:,} tokens and the pool holds {pool:,}: eviction will cost hits",
    )


def _pool(here: Scenario) -> Tokens | None:
    """KV slots of the server, as far as they are known before it starts."""
    if here.engine.max_total_tokens is not None:
        return here.engine.max_total_tokens
    return _USUAL_POOL if here.model.name == "tiny" and here.target.base_url is None else None


def _pace(scenario: Scenario, shape: Outline | None, device: str) -> Pace | None:
    if shape is None or device != "cpu":
        return None
    threads = pick_threads(scenario.engine.threads)
    return Pace(shape, cpu_flops_per_s(threads, MonotonicClock()))


def _cells(scenario: Scenario, layout: Layout, pace: Pace | None) -> tuple[CellPlan, ...]:
    planned = []
    for cell, laid in zip(cells(scenario), layout.cells, strict=True):
        here = at_cell(scenario, cell)
        if laid is None:
            planned.append(CellPlan(cell, None, None, None, None, None, None, None))
            continue
        prompts = sum(ask.prompt for ask in laid.asks)
        planned.append(
            CellPlan(
                cell=cell,
                requests=len(laid.asks),
                prompt_tokens=prompts,
                computed_on=prompts - sum(ask.cached for ask in laid.asks),
                computed_off=prompts,
                output_tokens=sum(ask.output for ask in laid.asks),
                seconds_on=prepared_s(here, laid, pace, reuse=True),
                seconds_off=prepared_s(here, laid, pace, reuse=False),
            )
        )
    return tuple(planned)
