"""Which run comes when: both arms of a seed and cell back to back, their order alternating.

``on off off on …``: whatever drifts while a sweep runs (a warming card, a busy neighbour) meets both
arms alike. Cells that need other server settings come after all seeds of those before, so that servers restart
as seldom as can be; a cell keeps its number, and with it its prompts, wherever it comes.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import CellValue
from radixbench.records import Mode
from radixbench.scenario.model import EngineSpec, Scenario
from radixbench.scenario.resolve import at_cell, cells


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run of a sweep: ``order`` counts from 0 over both arms in the order they run."""

    order: int
    cell_index: int
    cell: dict[str, CellValue]
    seed: int
    mode: Mode


def schedule(scenario: Scenario) -> tuple[RunPlan, ...]:
    """All runs of a sweep in their order."""
    by_engine: dict[EngineSpec, list[int]] = {}
    every = cells(scenario)
    for cell_index, cell in enumerate(every):
        by_engine.setdefault(at_cell(scenario, cell).engine, []).append(cell_index)
    plans: list[RunPlan] = []
    pair = 0
    for cell_indices in by_engine.values():
        for seed in range(scenario.seeds):
            for cell_index in cell_indices:
                modes = scenario.modes if pair % 2 == 0 else tuple(reversed(scenario.modes))
                pair += 1
                for mode in modes:
                    plans.append(RunPlan(len(plans), cell_index, dict(every[cell_index]), seed, mode))
    return tuple(plans)
