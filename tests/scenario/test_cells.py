"""Cells are all combinations of all axes, and a scenario at one of them has its values in their places."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.scenario.cells import SECTION_OF_AXIS, at_cell, cells
from radixbench.scenario.load import override
from radixbench.scenario.model import GridSpec, Scenario
from radixbench.scenario.resolve import resolve

BASE = Scenario(name="base")


def test_axes_come_in_a_fixed_order() -> None:
    """Shared length, turns, then the grid's axes as the model lists them, whatever was written first."""
    flags = {"page_size": "1,16", "max_concurrency": "1,8", "schedule_policy": "lpm,fcfs", "shared": "0,8"}
    found = cells(override(BASE, workload="agent", turns="2,3", **flags))
    assert len(found) == 32
    assert list(found[0]) == ["shared_tokens", "turns", "max_concurrency", "schedule_policy", "page_size"]
    assert found[0] == {
        "shared_tokens": 0,
        "turns": 2,
        "max_concurrency": 1,
        "schedule_policy": "lpm",
        "page_size": 1,
    }
    assert len({tuple(cell.items()) for cell in found}) == 32


def test_kinds_without_a_shared_prefix() -> None:
    """Unique prompts are the cell that shares 0 tokens; a file is one cell, or as many as the grid makes."""
    assert cells(override(BASE, workload="unique")) == ({"shared_tokens": 0},)
    trace = override(BASE, workload="trace", file="t")
    assert cells(trace) == ({},)
    assert cells(override(trace, page_size="1,16")) == ({"page_size": 1}, {"page_size": 16})


def test_an_axis_of_one_value_is_an_axis() -> None:
    """A grid may hold a single value; every cell names it."""
    one = Scenario(name="x", grid=GridSpec(output_len=(4,)))
    assert cells(one)[0] == {"shared_tokens": 0, "output_len": 4}


def test_every_axis_has_its_place() -> None:
    """Each axis of the grid sets a key that exists."""
    assert {item.name for item in fields(GridSpec)} == SECTION_OF_AXIS.keys()
    for key, section in SECTION_OF_AXIS.items():
        assert hasattr(getattr(BASE, section), key)


@given(
    shared=st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True),
    groups=st.lists(st.integers(1, 9), max_size=3, unique=True),
    rates=st.lists(st.sampled_from([0.5, 2.0, 8.0]), max_size=3, unique=True),
    policies=st.lists(st.sampled_from(["fcfs", "lpm"]), max_size=2, unique=True),
)
def test_at_a_cell_nothing_is_open(
    shared: list[int], groups: list[int], rates: list[float], policies: list[str]
) -> None:
    """A scenario at a cell has one cell, its values in their places, no grid, and all else as before."""
    flags: dict[str, Any] = {"groups": groups, "schedule_policy": policies, "request_rate": rates or [4.0]}
    scenario = resolve(
        override(
            BASE, shared=shared, arrival="poisson", **{key: values for key, values in flags.items() if values}
        ),
        on_cpu=True,
    )
    for cell in cells(scenario):
        here = at_cell(scenario, cell)
        assert here.grid == GridSpec()
        assert cells(here) == ({"shared_tokens": cell["shared_tokens"]},)
        assert here.workload.groups == cell.get("groups", scenario.workload.groups)
        assert here.load.request_rate == cell.get("request_rate", scenario.load.request_rate)
        assert here.engine.schedule_policy == cell.get("schedule_policy", scenario.engine.schedule_policy)
        assert (here.model, here.target, here.seeds) == (scenario.model, scenario.target, scenario.seeds)


@pytest.mark.parametrize("kind", ["unique", "trace"])
def test_at_the_cell_of_a_kind_without_shared_length(kind: str) -> None:
    """Where nothing is shared the key stays untouched, so that the scenario stays sound."""
    scenario = override(BASE, workload=kind, file="t" if kind == "trace" else None, max_concurrency="1,8")
    here = at_cell(scenario, cells(scenario)[1])
    assert here.workload == scenario.workload
    assert here.load.max_concurrency == 8
