"""The order of a sweep's runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from radixbench.bench.schedule import next_seed, schedule
from radixbench.scenario.load import load
from radixbench.scenario.model import GridSpec, WorkloadSpec


def test_arms_are_back_to_back_and_take_turns_to_go_first() -> None:
    """Within every pair both arms of one seed and cell; the first of a pair alternates."""
    plans = schedule(replace(load("default"), seeds=2))
    assert [plan.order for plan in plans] == list(range(12))
    assert [plan.mode for plan in plans] == ["on", "off", "off", "on"] * 3
    pairs = list(zip(plans[::2], plans[1::2], strict=True))
    assert all((a.cell, a.cell_index, a.seed) == (b.cell, b.cell_index, b.seed) for a, b in pairs)
    assert [(a.seed, a.cell["shared_tokens"]) for a, _ in pairs] == [
        (0, 0),
        (0, 1024),
        (0, 4096),
        (1, 0),
        (1, 1024),
        (1, 4096),
    ]


def test_one_arm_alone_runs_every_seed_and_cell_once() -> None:
    """``radixbench run`` has a schedule of one arm."""
    plans = schedule(replace(load("multi-turn"), modes=("off",)))
    assert len(plans) == 4 * 3
    assert {plan.mode for plan in plans} == {"off"}


def test_what_restarts_servers_comes_outermost() -> None:
    """All seeds of one server setting come before the next one; other axes stay inside, cells keep their numbers."""
    grid = GridSpec(max_concurrency=(1, 8), page_size=(1, 16), schedule_policy=("fcfs", "lpm"))
    scenario = replace(load("default"), workload=WorkloadSpec(shared=(0, 64)), grid=grid, seeds=2)
    plans = schedule(scenario)
    settings = [(plan.cell["page_size"], plan.cell["schedule_policy"]) for plan in plans]
    changes = sum(a != b for a, b in pairwise(settings))
    assert changes == 3
    assert len({plan.cell_index for plan in plans}) == 2 * 2 * 2 * 2
    assert len(plans) == 16 * 2 * 2


@pytest.mark.parametrize("shared", [(0,), (0, 64), (0, 64, 128), (0, 64, 128, 256)])
def test_within_a_cell_the_arms_take_turns_as_well(shared: tuple[int, ...]) -> None:
    """However many cells there are, no cell has one arm always first; all in all they alternate strictly."""
    scenario = replace(load("default"), workload=WorkloadSpec(shared=shared), seeds=4)
    plans = schedule(scenario)
    firsts: dict[int, list[str]] = {}
    for plan in plans[::2]:
        firsts.setdefault(plan.cell_index, []).append(plan.arm)
    assert all(one != two for arms in firsts.values() for one, two in pairwise(arms))
    assert [plan.arm for plan in plans] == ["on", "off", "off", "on"] * (len(plans) // 4)


def test_a_null_test_is_interleaved_as_any_sweep() -> None:
    """Both arms have one mode and a name of their own; they take turns as on and off do."""
    scenario = replace(load("default"), modes=("off", "off"), seeds=2)
    plans = schedule(scenario)
    assert {plan.mode for plan in plans} == {"off"}
    assert [plan.arm for plan in plans] == ["off-a", "off-b", "off-b", "off-a"] * 3


def test_a_further_seed_begins_with_the_arm_that_came_last() -> None:
    """Seeds that are added to one cell alone go on from its own last one, after all that is planned."""
    scenario = replace(load("default"), seeds=2)
    plans = schedule(scenario)
    for seed in (2, 3):
        last = [plan for plan in plans if plan.cell_index == 1][-1]
        added = next_seed(scenario, plans, 1)
        assert [plan.order for plan in added] == [len(plans), len(plans) + 1]
        assert {(plan.cell_index, plan.seed) for plan in added} == {(1, seed)}
        assert added[0].arm == last.arm != added[1].arm
        plans = (*plans, *added)
