"""From what was written to what will run: lengths left open, the cells of a sweep, its longest request.

``tiny`` on a CPU asks shorter questions, so that a whole sweep takes minutes; every other model keeps
the lengths of the field's shared-prefix benchmark.
"""

from __future__ import annotations

from dataclasses import replace

from radixbench.errors import ScenarioError
from radixbench.scenario.model import Scenario
from radixbench.units import Tokens

QUESTION_LEN: Tokens = 128
OUTPUT_LEN: Tokens = 64
TINY_CPU_QUESTION_LEN: Tokens = 32
TINY_CPU_OUTPUT_LEN: Tokens = 16
DEFAULT_TURNS = (4,)

Cell = dict[str, int | str]


def resolve(scenario: Scenario, *, on_cpu: bool) -> Scenario:
    """The scenario with question, output and turns decided.

    ``on_cpu`` says where ``device: auto`` lands on this machine. A request that can't fit into
    ``max_total_tokens`` is refused here, before anything starts.
    """
    small = scenario.model.name == "tiny" and _runs_on_cpu(scenario, on_cpu=on_cpu)
    workload = scenario.workload
    question, output, turns = workload.question_len, workload.output_len, workload.turns
    if question is None:
        question = TINY_CPU_QUESTION_LEN if small else QUESTION_LEN
    if output is None:
        output = TINY_CPU_OUTPUT_LEN if small else OUTPUT_LEN
    if turns is None and workload.kind == "multi-turn":
        turns = DEFAULT_TURNS
    workload = replace(workload, question_len=question, output_len=output, turns=turns)
    resolved = replace(scenario, workload=workload)
    _check_pool(resolved)
    return resolved


def _runs_on_cpu(scenario: Scenario, *, on_cpu: bool) -> bool:
    device = scenario.model.device
    return device == "cpu" or (device == "auto" and on_cpu)


def _check_pool(scenario: Scenario) -> None:
    pool = scenario.engine.max_total_tokens
    longest = longest_request(scenario)
    if pool is not None and longest > pool:
        raise ScenarioError(
            f"--max-total-tokens: a pool of {pool:,} tokens can't hold the longest request of {longest:,}",
            remedy=f"raise it to {longest:,} or more, or shorten --shared, --question-len or --output-len",
        )


def longest_request(scenario: Scenario) -> Tokens:
    """Prompt and answer of the longest request of a resolved scenario, the whole conversation included."""
    workload = scenario.workload
    if workload.question_len is None or workload.output_len is None:
        raise ValueError("the scenario isn't resolved")
    turns = max(workload.turns) if workload.turns is not None else 1
    return max(workload.shared) + turns * (workload.question_len + workload.output_len)


def cells(scenario: Scenario) -> tuple[Cell, ...]:
    """Every combination of the sweep's axes, in the order written: ``{"shared_tokens": 4096, "turns": 4}``.

    A workload without turns has cells without them.
    """
    workload = scenario.workload
    if workload.turns is None:
        return tuple({"shared_tokens": shared} for shared in workload.shared)
    return tuple(
        {"shared_tokens": shared, "turns": turns} for shared in workload.shared for turns in workload.turns
    )
