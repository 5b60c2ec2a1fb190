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

_TINY_POOL: Tokens = 65_536
_DECODE_LAYER_S: Seconds = 0.0006  # what a layer costs in a decode step besides arithmetic
_START_S: Seconds = 8.0
_PREPARE_S: Seconds = 0.5


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
    """The whole sweep; ``seconds`` and the bytes of both servers together are rough, ``None`` unknown."""

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

    def to_document(self) -> dict[str, Any]:
        """The plan as JSON data."""
        return {"schema": "radixbench.plan/1", **asdict(self)}


def plan(scenario: Scenario) -> SweepPlan:
    """Lay a sweep out without starting anything, also for a device this machine lacks.

    Raises ``ScenarioError`` for one that can't run.
    """
    wish = scenario.model.device
    device = pick_device(wish) if wish == "auto" else wish
    settled = resolve(scenario, on_cpu=device == "cpu")
    workload = settled.workload
    assert workload.question_len is not None
    assert workload.output_len is not None
    shape = outline(settled.model.name)
    threads = pick_threads(settled.engine.threads)
    speed = cpu_flops_per_s(threads, MonotonicClock()) if shape and device == "cpu" else None
    planned = tuple(_cell(settled, cell, shape, speed) for cell in cells(settled))
    width = 4 if device == "cpu" else 2
    pool = settled.engine.max_total_tokens or (_TINY_POOL if settled.model.name == "tiny" else None)
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
        pool_bytes=2 * kv_bytes(shape, pool, width) if shape and pool else None,
    )


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
    return (prefill + decode) / speed + steps * shape.layers * _DECODE_LAYER_S


def _total(planned: tuple[CellPlan, ...], scenario: Scenario) -> Seconds | None:
    total = _START_S * len(scenario.modes)
    for cell in planned:
        if cell.seconds_on is None or cell.seconds_off is None:
            return None
        total += scenario.seeds * (cell.seconds_on + cell.seconds_off + 2 * _PREPARE_S)
    return total
