"""How long the longest request of a scenario is, prompt and answer, before any prompt is made."""

from __future__ import annotations

from radixbench.scenario.cells import at_cell, cells
from radixbench.scenario.kinds import FILE_KINDS
from radixbench.scenario.model import Scenario, WorkloadSpec
from radixbench.units import Tokens


def longest_request(scenario: Scenario) -> Tokens | None:
    """Tokens of the longest prompt and its answer over all cells of a resolved scenario.

    ``None`` for what is read from a file, which nobody has read yet.
    """
    if scenario.workload.kind in FILE_KINDS:
        return None
    return max(_longest(at_cell(scenario, cell).workload) for cell in cells(scenario))


def _longest(workload: WorkloadSpec) -> Tokens:
    """The longest request of one cell."""
    question, output = _known(workload.question_len), _known(workload.output_len)
    shared = 0 if workload.kind == "unique" else max(workload.shared)
    turns = max(workload.turns or (1,))
    match workload.kind:
        case "multi-turn":
            return shared + turns * (question + output)
        case "agent":
            step = _known(workload.tool_result_len) + output
            return shared + _known(workload.tools_len) + question + output + (turns - 1) * step
        case "few-shot":
            return shared + _known(workload.examples) * _known(workload.example_len) + question + output
        case "rag":
            documents = _known(workload.documents_per_prompt) * _known(workload.document_len)
            return shared + _known(workload.tools_len) + documents + question + output
        case _:
            return shared + question + output


def _known(value: int | None) -> int:
    if value is None:
        raise ValueError("the scenario isn't resolved")
    return value
