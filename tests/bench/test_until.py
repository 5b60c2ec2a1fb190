"""When a sweep that adds seeds has enough of them, over runs made up with known noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from radixbench.bench import until as until_module
from radixbench.bench.results import Results
from radixbench.bench.schedule import RunPlan, schedule
from radixbench.bench.until import Until, floor
from radixbench.capture.model import Capture
from radixbench.records import Mode
from radixbench.scenario.arms import arms
from radixbench.scenario.load import load
from radixbench.scenario.model import GridSpec, Scenario
from tests.builders import arm_run, make_capture

Ttft = Callable[[RunPlan], float]


class Sweep:
    """A sweep whose runs take no time: each plan becomes a run with the TTFT that ``ttft`` chooses."""

    def __init__(self, ttft: Ttft, target: float, *, shared: tuple[int, ...] = (64,), **changes: object):
        default = load("default")
        workload = replace(default.workload, shared=shared, question_len=16, output_len=4)
        self.scenario: Scenario = replace(default, workload=workload, seeds=5, **changes)
        self.ttft = ttft
        self.captures: dict[str, Capture] = {
            arm: make_capture([], until=target) for arm in arms(self.scenario)
        }
        self.until = Until(self.scenario, target, Results(self.captures))
        self.plans = schedule(self.scenario)

    def run(self) -> Sweep:
        """Measure all that is planned, then all that is added."""
        to_come = self.plans
        while to_come:
            for plan in to_come:
                self.measure(plan)
            to_come = self.until.more(self.plans)
            self.plans = (*self.plans, *to_come)
        return self

    def measure(self, plan: RunPlan) -> None:
        """Put a plan's run on its capture."""
        run = arm_run(
            seed=plan.seed,
            mode=plan.mode,
            order=plan.order,
            ttft_s=self.ttft(plan),
            shared=int(plan.cell["shared_tokens"]),
        )
        run = replace(run, cell=plan.cell)
        capture = self.captures[plan.arm]
        self.captures[plan.arm] = replace(capture, runs=(*capture.runs, run))

    @property
    def seeds(self) -> Mapping[int, int]:
        """How many seeds each cell has."""
        cells = {plan.cell_index for plan in self.plans}
        return {
            cell: len({plan.seed for plan in self.plans if plan.cell_index == cell}) for cell in sorted(cells)
        }


def noisy(deviation: float, *, cell: int | None = None) -> Ttft:
    """TTFTs of the off arm spread by ``deviation``, in one cell or in all; the on arm's are ten times shorter."""

    def ttft(plan: RunPlan) -> float:
        noise = random.Random(f"{plan.cell_index}/{plan.seed}/{plan.arm}").gauss(0.0, deviation)
        loud = cell is None or plan.cell_index == cell
        return (0.1 if plan.arm == "on" else 1.0) * (1.0 + noise * loud)

    return ttft


def test_quiet_runs_end_with_the_floor() -> None:
    """Five seeds are measured whatever they show, and where they show enough none is added."""
    sweep = Sweep(noisy(0.001), 0.05).run()
    assert sweep.seeds == {0: 5}
    ending = sweep.until.ending(sweep.plans)
    assert ending.reached
    assert ending.seeds == (5,)
    assert ending.widest is not None
    assert ending.text.startswith("--until 5%: every interval is within ±0.")
    assert ending.text.endswith(" % after 5 seeds")


def test_a_noisy_cell_gets_more_seeds_and_a_quiet_one_none() -> None:
    """Each cell ends by itself; in the end every interval is as narrow as was asked for."""
    sweep = Sweep(noisy(0.1, cell=1), 0.05, shared=(0, 64, 128)).run()
    assert sweep.seeds[0] == sweep.seeds[2] == 5
    assert 5 < sweep.seeds[1] < 50
    ending = sweep.until.ending(sweep.plans)
    assert ending.reached
    assert "after 5 to " in ending.text
    added = sweep.plans[30:]
    assert {plan.cell_index for plan in added} == {1}
    assert [plan.order for plan in sweep.plans] == list(range(len(sweep.plans)))
    assert all((a.seed, a.cell) == (b.seed, b.cell) for a, b in zip(added[::2], added[1::2], strict=True))


def test_the_cell_with_the_fewest_seeds_goes_on_first() -> None:
    """Open cells take turns, so that whatever ends the sweep finds them equally far."""
    sweep = Sweep(noisy(0.3), 0.05, shared=(0, 64))
    for plan in sweep.plans:
        sweep.measure(plan)
    for expected in (0, 1, 0, 1):
        added = sweep.until.more(sweep.plans)
        assert {plan.cell_index for plan in added} == {expected}
        for plan in added:
            sweep.measure(plan)
        sweep.plans = (*sweep.plans, *added)


def test_an_interval_that_stays_wide_ends_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep doesn't go on for ever: the last line says that it was given up, and how far it came."""
    monkeypatch.setattr(until_module, "MOST_SEEDS", 9)
    sweep = Sweep(noisy(0.3), 0.001).run()
    assert sweep.seeds == {0: 9}
    ending = sweep.until.ending(sweep.plans)
    assert not ending.reached
    assert "not reached, 9 seeds are the most: the widest interval is ±" in ending.text
    assert "(TTFT, median, 64 shared tokens) after 9 seeds" in ending.text


def test_what_ended_it_from_outside_is_named() -> None:
    """A limit of time leaves a target that isn't reached, and is no lack of seeds."""
    sweep = Sweep(noisy(0.3), 0.001)
    for plan in sweep.plans:
        sweep.measure(plan)
    ending = sweep.until.ending(sweep.plans, "--max-time is reached")
    assert ending.text.startswith(
        "--until 0.1%: not reached, --max-time is reached: the widest interval is ±"
    )


def test_seeds_that_were_cut_off_are_not_counted() -> None:
    """Five were planned and one arm of the last one was measured: there are four."""
    sweep = Sweep(noisy(0.3), 0.001)
    for plan in sweep.plans[:-1]:
        sweep.measure(plan)
    ending = sweep.until.ending(sweep.plans, "the sweep was cut short")
    assert ending.seeds == (4,)
    assert ending.text.endswith("after 4 seeds")


def test_a_pair_that_does_not_count_needs_another_one() -> None:
    """Four good pairs and one that is set aside are four."""
    sweep = Sweep(noisy(0.001), 0.05)
    for plan in sweep.plans:
        sweep.measure(plan)
    on = sweep.captures["on"]
    first, *others = on.runs
    broken = replace(first, requests=first.requests[:1], requested=len(first.requests))
    sweep.captures["on"] = replace(on, runs=(broken, *others))
    assert not sweep.until.ending(sweep.plans).reached
    added = sweep.until.more(sweep.plans)
    assert [plan.seed for plan in added] == [5, 5]
    for plan in added:
        sweep.measure(plan)
    assert sweep.until.more((*sweep.plans, *added)) == ()


def test_where_no_pair_counts_no_seed_is_added() -> None:
    """A server that fails every run isn't asked fifty times."""
    sweep = Sweep(noisy(0.1), 0.05)
    assert sweep.until.more(sweep.plans) == ()
    ending = sweep.until.ending(sweep.plans)
    assert (ending.reached, ending.widest) == (False, None)
    assert ending.text == "--until 5%: nothing that could be narrowed was measured"


@pytest.mark.parametrize("modes", [("on",), ("off", "off")])
def test_one_arm_and_a_null_test_end_alike(modes: tuple[Mode, ...]) -> None:
    """One arm by the interval of its mean, a null test by that of its factor."""
    sweep = Sweep(noisy(0.05), 0.04, modes=modes).run()
    assert 5 <= sweep.seeds[0] < 50
    assert sweep.until.ending(sweep.plans).reached
    assert {len(capture.runs) for capture in sweep.captures.values()} == {sweep.seeds[0]}


def test_what_is_missing_is_foretold_from_the_spread() -> None:
    """A cell at its end needs none, an open one some; nothing is foretold of what nothing is known of."""
    sweep = Sweep(noisy(0.06, cell=1), 0.05, shared=(0, 64))
    assert sweep.until.further(sweep.plans) == ({0: 0, 1: 0}, True)
    for plan in sweep.plans:
        sweep.measure(plan)
    seeds, enough = sweep.until.further(sweep.plans)
    assert (seeds[0], enough) == (0, True)
    assert 1 <= seeds[1] < 45
    assert Until(sweep.scenario, 0.001, sweep.until.results).further(sweep.plans) == ({0: 0, 1: 45}, False)


def test_more_seeds_than_five_may_be_the_floor() -> None:
    """``--seeds`` counts where it asks for more."""
    assert (floor(1), floor(5), floor(8)) == (5, 5, 8)


def test_cells_of_one_server_setting_end_before_the_next_begin() -> None:
    """Servers are restarted once for the first seeds of a setting and once for those that are added."""
    sweep = Sweep(noisy(0.1), 0.05, grid=GridSpec(page_size=(1, 16))).run()
    settings = [plan.cell["page_size"] for plan in sweep.plans]
    assert sum(a != b for a, b in pairwise(settings)) == 3
    assert min(sweep.seeds.values()) > 5
    assert sweep.until.ending(sweep.plans).reached
