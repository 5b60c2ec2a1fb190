"""Which run comes when: both arms of a seed and cell back to back, their order alternating.

``on off off on …``: whatever drifts while a sweep runs (a warming card, a busy neighbour) meets both
arms alike.
"""

from __future__ import annotations

from radixbench.bench.run import RunPlan
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import cells


def schedule(scenario: Scenario) -> tuple[RunPlan, ...]:
    """All runs of a sweep in their order."""
    plans: list[RunPlan] = []
    pair = 0
    for seed in range(scenario.seeds):
        for cell_index, cell in enumerate(cells(scenario)):
            modes = scenario.modes if pair % 2 == 0 else tuple(reversed(scenario.modes))
            pair += 1
            for mode in modes:
                plans.append(
                    RunPlan(
                        order=len(plans),
                        cell_index=cell_index,
                        cell=dict(cell),
                        seed=seed,
                        mode=mode,
                    )
                )
    return tuple(plans)
