"""The cells of a sweep: every combination of its axes, and the scenario of a single one.

A cell's keys are ``shared_tokens``, ``turns`` and the names of the grid's axes, in this order, as far as the
sweep has them. What is read from a file has no shared length: without other axes it is one cell, ``{}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import product
from typing import Any

from radixbench.scenario.kinds import FILE_KINDS, READS
from radixbench.scenario.model import GridSpec, Scenario

Cell = dict[str, int | float | str]

SECTION_OF_AXIS: Mapping[str, str] = {
    "max_concurrency": "load",
    "request_rate": "load",
    "question_len": "workload",
    "output_len": "workload",
    "groups": "workload",
    "schedule_policy": "engine",
    "page_size": "engine",
    "chunked_prefill_size": "engine",
    "max_total_tokens": "engine",
}
"""Where the one value of each key stands that may also be an axis of the grid."""


def cells(scenario: Scenario) -> tuple[Cell, ...]:
    """Every combination of the sweep's axes, in the order written: ``{"shared_tokens": 4096, "turns": 4}``.

    A workload without turns has cells without them; unique prompts are the one cell that shares 0 tokens.
    """
    workload = scenario.workload
    axes: dict[str, tuple[int | float | str, ...]] = {}
    if workload.kind not in FILE_KINDS:
        axes["shared_tokens"] = workload.shared if "shared" in READS[workload.kind] else (0,)
    if workload.turns is not None:
        axes["turns"] = workload.turns
    for item in fields(GridSpec):
        values = getattr(scenario.grid, item.name)
        if values:
            axes[item.name] = values
    return tuple(dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


def at_cell(scenario: Scenario, cell: Cell) -> Scenario:
    """The scenario with the cell's values in their places and no grid: what one run of it does."""
    changes: dict[str, dict[str, Any]] = {"workload": {}, "load": {}, "engine": {}}
    for key, value in cell.items():
        if key == "turns":
            changes["workload"]["turns"] = (value,)
        elif key != "shared_tokens":
            changes[SECTION_OF_AXIS[key]][key] = value
        elif "shared" in READS[scenario.workload.kind]:
            changes["workload"]["shared"] = (value,)
    return replace(
        scenario,
        workload=replace(scenario.workload, **changes["workload"]),
        load=replace(scenario.load, **changes["load"]),
        engine=replace(scenario.engine, **changes["engine"]),
        grid=GridSpec(),
    )
