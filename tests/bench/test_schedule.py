"""The order of a sweep's runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from radixbench.bench.schedule import schedule
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
