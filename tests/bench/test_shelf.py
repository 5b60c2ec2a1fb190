"""What lies in the captures while a sweep is gone on with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.bench.beginning import Settled
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.resume import pair_of, whole_pairs
from radixbench.bench.schedule import RunPlan
from radixbench.bench.shelf import Shelf
from radixbench.bench.traffic import Traffic
from radixbench.capture.model import Capture, CellFailure
from radixbench.capture.store import load
from radixbench.records import Mode
from radixbench.scenario.resolve import resolve
from tests.builders import make_sweep


def resumed(tmp_path: Path, before: dict[Mode, Capture], until: float | None = None) -> tuple[Shelf, Settled]:
    """A shelf on which an earlier part lies."""
    scenario = resolve(before["on"].scenario, on_cpu=True)
    plans = tuple(
        RunPlan(run.order, 0, run.cell, run.seed, mode, mode)
        for mode, capture in before.items()
        for run in capture.runs
    )
    whole = whole_pairs(before, scenario.modes)
    settled = Settled(
        scenario=scenario,
        traffic=Traffic(scenario, None),
        plans=plans,
        done=frozenset(plan.order for plan in plans if pair_of(plan) in whole),
        before=before,
        environment=before["on"].environment,
        calibration=None,
    )
    paths = OutputPaths({mode: tmp_path / f"{mode}.json" for mode in before}, None)
    shelf = Shelf(paths, until)
    shelf.begin(settled)
    return shelf, settled


@pytest.fixture
def cut() -> dict[Mode, Capture]:
    """A sweep whose last pair broke off in its second arm, and one of whose runs left only a reason."""
    on, off = make_sweep()
    last = off.runs[-1]
    broken = replace(last, status="incomplete", error="cut")
    failure = CellFailure(last.cell, last.seed, "off", "because")
    return {
        "on": replace(on, interrupted=True),
        "off": replace(off, runs=(*off.runs[:-1], broken), failures=(failure,), interrupted=True),
    }


def test_a_second_cut_loses_nothing(tmp_path: Path, cut: dict[Mode, Capture]) -> None:
    """What will be measured again stays on the disk until that has begun to happen."""
    resumed(tmp_path, cut)
    assert load(tmp_path / "on.json").runs == cut["on"].runs
    assert load(tmp_path / "off.json").runs == cut["off"].runs
    assert load(tmp_path / "off.json").failures == cut["off"].failures


def test_a_pair_is_of_one_sitting(tmp_path: Path, cut: dict[Mode, Capture]) -> None:
    """The first run of a pair that is measured again removes what was left of it in both arms."""
    shelf, _ = resumed(tmp_path, cut)
    again = replace(cut["on"].runs[-1], order=77)
    shelf.add("on", again, interrupted=False)
    assert load(tmp_path / "on.json").runs == (*cut["on"].runs[:-1], again)
    assert load(tmp_path / "off.json").runs == cut["off"].runs[:-1]
    assert load(tmp_path / "off.json").failures == ()
    partner = replace(cut["off"].runs[-1], status="completed", error=None, order=78)
    shelf.add("off", partner, interrupted=False)
    assert shelf.captures["on"].runs[-1] == again
    assert shelf.captures["off"].runs[-1] == partner


def test_a_reason_takes_the_place_of_an_earlier_one(tmp_path: Path, cut: dict[Mode, Capture]) -> None:
    """A run that fails again has one failure, the new one."""
    shelf, settled = resumed(tmp_path, cut)
    plan = next(plan for plan in settled.plans if plan.mode == "off" and plan.order not in settled.done)
    shelf.fail(plan, "this time")
    assert [failure.reason for failure in load(tmp_path / "off.json").failures] == ["this time"]


def test_captures_say_what_their_seeds_were_added_for(tmp_path: Path, cut: dict[Mode, Capture]) -> None:
    """A sweep that grows says so in every arm, and keeps saying it when it is gone on with without growing."""
    shelf, _ = resumed(tmp_path, cut, 0.05)
    assert {load(tmp_path / f"{mode}.json").until for mode in cut} == {0.05}
    again, _ = resumed(tmp_path, dict(shelf.captures))
    assert {capture.until for capture in again.captures.values()} == {0.05}
    fresh = {mode: replace(capture, runs=(), failures=()) for mode, capture in cut.items()}
    assert {capture.until for capture in resumed(tmp_path, fresh, 0.02)[0].captures.values()} == {0.02}
    assert {capture.until for capture in resumed(tmp_path, fresh)[0].captures.values()} == {None}
