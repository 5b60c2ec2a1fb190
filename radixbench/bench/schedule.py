"""Which run comes when: both arms of a seed and cell back to back, their order alternating.

``on off off on …``: whatever drifts while a sweep runs (a warming card, a busy neighbour) meets both
arms alike. Within a cell, too, no arm always goes first: where the number of cells is even each seed begins one cell
later. Cells that need other server settings come after all seeds of those before, so that servers restart
as seldom as can be; a cell keeps its number, and with it its prompts, wherever it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from radixbench.capture.model import CellValue
from radixbench.records import Mode
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.model import EngineSpec, Scenario
from radixbench.scenario.resolve import at_cell, cells


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run of a sweep: ``order`` counts from 0 over both arms in the order they run.

    ``arm`` tells two arms of one ``mode`` apart.
    """

    order: int
    cell_index: int
    cell: dict[str, CellValue]
    seed: int
    mode: Mode
    arm: ArmName


def schedule(scenario: Scenario) -> tuple[RunPlan, ...]:
    """All runs of a sweep in their order."""
    every = cells(scenario)
    both = tuple(arms(scenario).items())
    plans: list[RunPlan] = []
    for pair, (cell_index, seed) in enumerate(_pairs(scenario)):
        for arm, mode in both if pair % 2 == 0 else reversed(both):
            plans.append(RunPlan(len(plans), cell_index, dict(every[cell_index]), seed, mode, arm))
    return tuple(plans)


def alike(scenario: Scenario) -> tuple[tuple[int, ...], ...]:
    """The cells by number, those together that need the same server settings."""
    by_engine: dict[EngineSpec, list[int]] = {}
    for cell_index, cell in enumerate(cells(scenario)):
        by_engine.setdefault(at_cell(scenario, cell).engine, []).append(cell_index)
    return tuple(tuple(group) for group in by_engine.values())


def next_seed(scenario: Scenario, plans: Sequence[RunPlan], cell_index: int) -> tuple[RunPlan, ...]:
    """Both arms of the seed after a cell's last one, to come after all ``plans``; what ran last begins."""
    own = [plan for plan in plans if plan.cell_index == cell_index]
    first = 1 + max(plan.order for plan in plans)
    last = max(own, key=lambda plan: plan.order)
    turn = sorted(arms(scenario).items(), key=lambda arm: arm[0] != last.arm)
    seed = 1 + max(plan.seed for plan in own)
    return tuple(
        RunPlan(first + place, cell_index, last.cell, seed, mode, arm)
        for place, (arm, mode) in enumerate(turn)
    )


def _pairs(scenario: Scenario) -> Iterator[tuple[int, int]]:
    """Cells and seeds in the order they come."""
    for group in alike(scenario):
        for seed in range(scenario.seeds):
            start = seed % len(group) if len(group) % 2 == 0 else 0
            for cell_index in (*group[start:], *group[:start]):
                yield cell_index, seed
