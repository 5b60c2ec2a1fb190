"""What a sweep would do: its cells, the tokens each arm computes, and roughly how long and how big.

Tokens are exact, but for first arrivals that race for a prefix. Time is an estimate from the model's
shape and a short measurement of this CPU; it is ``None`` where the shape or the device's speed is unknown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from radixbench.capture.model import CellValue
from radixbench.clock import MonotonicClock
from radixbench.model.device import pick_device, pick_threads
from radixbench.model.outline import Outline, cpu_flops_per_s, kv_bytes, outline
from radixbench.scenario.model import Scenario, WorkloadSpec
from radixbench.scenario.resolve import cells, longest_request, resolve
from radixbench.units import Bytes, Seconds, Tokens

_USUAL_POOL: Tokens = 65_536
_DECODE_LAYER_S: Seconds = 0.0006  # what a layer costs in a decode step besides arithmetic
_START_S: Seconds = 8.0
_PREPARE_S: Seconds = 0.8
_REPORT_S: Seconds = 4.0
_EFFICIENCY = 0.7  # of a plain product's speed, over all of prefill


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One cell, per seed and arm. ``computed_on`` and ``computed_off`` are prompt tokens to prefill."""

    cell: dict[str, CellValue]
    requests: int
    prompt_tokens: Tokens
    computed_on: Tokens
    computed_off: Tokens
    output_tokens: Tokens
    seconds_on: Seconds | None
    seconds_off: Seconds | None


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The whole sweep; ``seconds`` and the bytes of both servers together are rough, ``None`` unknown.

    ``notes`` say what is unknown and why, and what would keep the sweep from running here.
    """

    scenario: str
    model: str
    device: str
    seeds: int
    runs: int
    question_len: Tokens
    output_len: Tokens
    longest_request: Tokens
    cells: tuple[CellPlan, ...]
    seconds: Seconds | None
    weight_bytes: Bytes | None
    pool_bytes: Bytes | None
    notes: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """The plan as JSON data."""
        return {"schema": "radixbench.plan/1", **asdict(self)}


def plan(scenario: Scenario) -> SweepPlan:
    """Lay a sweep out without starting anything, also for a device this machine lacks.

    Raises ``ScenarioError`` for one that can't run.
    """
    here = pick_device("auto")
    device = here if scenario.model.device == "auto" else scenario.model.device
    settled = resolve(scenario, on_cpu=device == "cpu")
    workload = settled.workload
    assert workload.question_len is not None
    assert workload.output_len is not None
    shape = outline(settled.model.name)
    threads = pick_threads(settled.engine.threads)
    speed = cpu_flops_per_s(threads, MonotonicClock()) if shape and device == "cpu" else None
    planned = tuple(_cell(settled, cell, shape, speed) for cell in cells(settled))
    width = 4 if device == "cpu" else 2
    pool = settled.engine.max_total_tokens or _USUAL_POOL
    return SweepPlan(
        scenario=settled.name,
        model=settled.model.name,
        device=device,
        seeds=settled.seeds,
        runs=len(planned) * settled.seeds * len(settled.modes),
        question_len=workload.question_len,
        output_len=workload.output_len,
        longest_request=longest_request(settled),
        cells=planned,
        seconds=_total(planned, settled),
        weight_bytes=2 * shape.weights * width if shape else None,
        pool_bytes=2 * kv_bytes(shape, pool, width) if shape else None,
        notes=_notes(settled, shape, device, here),
    )


def _notes(scenario: Scenario, shape: Outline | None, device: str, here: str) -> tuple[str, ...]:
    notes = []
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


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request as the arithmetic sees it."""

    prompt: Tokens
    cached: Tokens
    output: Tokens


def _asks(workload: WorkloadSpec, cell: dict[str, CellValue]) -> list[_Ask]:
    """Every request of a cell with what an unlimited cache holds of it, in no particular order."""
    question, output = workload.question_len or 0, workload.output_len or 0
    shared, turns = int(cell["shared_tokens"]), int(cell.get("turns", 1))
    asks = []
    for place in range(workload.prompts_per_group):
        for turn in range(turns):
            prompt = shared + (turn + 1) * question + turn * output
            before = prompt - question - 1 if turn else (shared if place else 0)
            asks.append(_Ask(prompt, min(before, prompt - 1), output))
    return asks * workload.groups


def _cell(
    scenario: Scenario, cell: dict[str, CellValue], shape: Outline | None, speed: float | None
) -> CellPlan:
    asks = _asks(scenario.workload, cell)
    prompts = sum(ask.prompt for ask in asks)
    at_once = scenario.load.max_concurrency
    return CellPlan(
        cell=cell,
        requests=len(asks),
        prompt_tokens=prompts,
        computed_on=prompts - sum(ask.cached for ask in asks),
        computed_off=prompts,
        output_tokens=sum(ask.output for ask in asks),
        seconds_on=_seconds(asks, at_once, shape, speed, reuse=True),
        seconds_off=_seconds(asks, at_once, shape, speed, reuse=False),
    )


def _seconds(
    asks: list[_Ask], at_once: int, shape: Outline | None, speed: float | None, *, reuse: bool
) -> Seconds | None:
    if shape is None or speed is None:
        return None
    prefill = decode = 0.0
    for ask in asks:
        cached = ask.cached if reuse else 0
        prefill += shape.flops(cached, ask.prompt - cached)
        decode += ask.output * shape.flops(ask.prompt, 1)
    steps = sum(ask.output for ask in asks) / at_once
    return (prefill + decode) / (_EFFICIENCY * speed) + steps * shape.layers * _DECODE_LAYER_S


def _total(planned: tuple[CellPlan, ...], scenario: Scenario) -> Seconds | None:
    total = _START_S * len(scenario.modes) + _REPORT_S
    for cell in planned:
        if cell.seconds_on is None or cell.seconds_off is None:
            return None
        total += scenario.seeds * (cell.seconds_on + cell.seconds_off + 2 * _PREPARE_S)
    return total
