"""From a scenario at one of its cells to the sizes that the cell's workload is built from.

The plan and the bench both build workloads; they must build the same ones, so both ask here.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import Cell
from radixbench.workloads.build import Sizes


def sizes_at(scenario: Scenario, cell: Cell) -> Sizes:
    """The sizes of ``cell``'s workload; ``scenario`` is resolved and has the cell's values in it (``at_cell``).

    What the kind has no use for keeps the default of ``Sizes``. A cell without a shared length shares 0 tokens.
    """
    turns = cell.get("turns")
    decided: dict[str, Any] = {
        item.name: getattr(scenario.workload, item.name)
        for item in fields(Sizes)
        if getattr(scenario.workload, item.name) is not None
    }
    decided |= {
        "shared": int(cell.get("shared_tokens", 0)),
        "turns": None if turns is None else int(turns),
    }
    return Sizes(**decided)
