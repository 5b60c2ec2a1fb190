"""From what was written to what will run: whatever was left open is decided, what can't run is refused."""

from __future__ import annotations

from dataclasses import replace

from radixbench.errors import ScenarioError
from radixbench.scenario.cells import Cell, at_cell, cells
from radixbench.scenario.check import first_gap, first_problem
from radixbench.scenario.defaults import MAX_CONCURRENCY, OUTPUT_LEN, QUESTION_LEN, open_keys
from radixbench.scenario.flags import refusal
from radixbench.scenario.longest import longest_request
from radixbench.scenario.model import LoadSpec, Scenario, WorkloadSpec
from radixbench.scenario.problem import Problem

__all__ = [
    "OUTPUT_LEN",
    "QUESTION_LEN",
    "Cell",
    "at_cell",
    "cells",
    "longest_request",
    "refuse_gaps",
    "resolve",
]


def resolve(scenario: Scenario, *, on_cpu: bool) -> Scenario:
    """The scenario with every open key decided that its workload and load read.

    A key that is an axis of the grid stays open: each cell has a value for it. ``on_cpu`` says where
    ``device: auto`` lands. Raises ``ScenarioError`` for one that lacks something, whose values don't go
    with those decided for it, or whose longest request can't fit into ``max_total_tokens``, before anything starts.
    """
    refuse_gaps(scenario)
    resolved = replace(scenario, workload=_workload(scenario, on_cpu=on_cpu), load=_load(scenario))
    _refuse(first_problem(resolved))
    _check_pool(resolved)
    return resolved


def refuse_gaps(scenario: Scenario) -> None:
    """Raise ``ScenarioError`` for the first key that is missing, by its flag."""
    _refuse(first_gap(scenario))


def _refuse(problem: Problem | None) -> None:
    if problem is not None:
        raise refusal(problem)


def _workload(scenario: Scenario, *, on_cpu: bool) -> WorkloadSpec:
    workload = scenario.workload
    small = scenario.model.name == "tiny" and _runs_on_cpu(scenario, on_cpu=on_cpu)
    decided = {
        key: value
        for key, value in open_keys(workload.kind, small=small).items()
        if getattr(workload, key) is None and not getattr(scenario.grid, key, ())
    }
    return replace(workload, **decided)


def _load(scenario: Scenario) -> LoadSpec:
    load = scenario.load
    if load.arrival != "closed" or load.max_concurrency is not None or scenario.grid.max_concurrency:
        return load
    return replace(load, max_concurrency=MAX_CONCURRENCY)


def _runs_on_cpu(scenario: Scenario, *, on_cpu: bool) -> bool:
    device = scenario.model.device
    return device == "cpu" or (device == "auto" and on_cpu)


def _check_pool(scenario: Scenario) -> None:
    for cell in cells(scenario):
        here = at_cell(scenario, cell)
        pool, longest = here.engine.max_total_tokens, longest_request(here)
        if pool is not None and longest is not None and longest > pool:
            raise ScenarioError(
                f"--max-total-tokens: a pool of {pool:,} tokens can't hold the longest request of {longest:,}",
                remedy=f"raise it to {longest:,} or more, or shorten --shared, --question-len or --output-len",
            )
