"""Sweeps that add seeds until their intervals are narrow, against a server that runs already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.bench import until
from radixbench.bench.progress import Progress
from radixbench.bench.tracker import Tracker
from radixbench.capture.store import load, save
from radixbench.compare.comparison import compare
from radixbench.errors import InterruptedRunError, UsageError
from radixbench.scenario.model import Scenario
from tests.bench.sweeping import SMALL, scenario_for, sweep
from tests.mock.start import mock_process

WIDE = 1e9
"""A target that whatever five seeds show meets."""

NARROW = 1e-9
"""One that no seeds meet."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers go into a directory of the test's own."""
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A mock that does as it is told."""
    with mock_process() as base_url:
        yield base_url


def small(base_url: str, **changes: object) -> Scenario:
    """Two prompts a run."""
    return scenario_for(base_url, workload=replace(SMALL, groups=1, prompts_per_group=2), **changes)


def test_a_target_that_is_met_ends_with_five_seeds(server: str, tmp_path: Path) -> None:
    """The captures say that they hold all that was planned, however many seeds were asked for at first."""
    outcome = sweep(small(server, seeds=3), tmp_path, until=WIDE)
    assert outcome.error is None
    assert outcome.ending is not None
    assert (outcome.ending.reached, outcome.ending.seeds) == (True, (5,))
    for path in outcome.paths.values():
        capture = load(path)
        assert (len(capture.runs), capture.planned_runs, capture.scenario.seeds) == (5, 5, 5)
        assert capture.until == WIDE
        assert [run.seed for run in capture.runs] == [0, 1, 2, 3, 4]


def test_seeds_are_added_pair_by_pair_and_are_part_of_the_plan(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was added is interleaved, unlike in its prompts, and makes no capture look incomplete."""
    monkeypatch.setattr(until, "MOST_SEEDS", 7)
    events: list[Progress] = []
    outcome = sweep(small(server), tmp_path, until=NARROW, on_progress=events.append)
    assert outcome.error is None
    assert outcome.ending is not None
    assert "7 seeds are the most" in outcome.ending.text
    captures = [load(outcome.paths[arm]) for arm in ("on", "off")]
    assert all(len(one.runs) == one.planned_runs == one.scenario.seeds == 7 for one in captures)
    runs = sorted((run for one in captures for run in one.runs), key=lambda run: run.order)
    assert [run.order for run in runs] == list(range(14))
    assert [run.mode for run in runs] == ["on", "off", "off", "on"] * 3 + ["on", "off"]
    assert len({run.workload_digest for run in runs}) == 7
    assert all(run.protocol.verified for run in runs)
    codes = {caveat.code for caveat in compare(*captures).caveats}
    assert not codes & {"incomplete", "not-interleaved", "too-few-runs"}
    totals = [event.runs for event in events if event.stage == "saved"]
    assert totals == [10] * 10 + [12] * 2 + [14] * 2
    last = events[-1]
    assert last.target == NARROW
    assert [one.n for one in last.running] == [7, 7]
    assert events[0].running == ()


def test_a_limit_of_time_is_an_end_like_another(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once all first seeds are measured ``--max-time`` ends the adding: no error, nothing is missing."""
    monkeypatch.setattr(Tracker, "expected_s", lambda self, plan: 1e9 if plan.order >= 10 else 0.0)
    outcome = sweep(small(server), tmp_path, until=NARROW, max_time_s=1e6)
    assert outcome.error is None
    assert outcome.ending is not None
    assert "not reached, --max-time is reached: the widest interval" in outcome.ending.text
    assert "go on with" in outcome.ending.text
    assert {(len(one.runs), one.planned_runs) for one in outcome.captures.values()} == {(5, 5)}


def test_a_limit_of_time_among_the_first_seeds_is_a_lack(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer than five seeds are fewer than were asked for."""
    monkeypatch.setattr(Tracker, "expected_s", lambda self, plan: 1e9 if plan.order >= 4 else 0.0)
    outcome = sweep(small(server), tmp_path, until=WIDE, max_time_s=1e6)
    assert outcome.error is not None
    assert "4 of 10 runs are measured" in outcome.error.message
    assert outcome.ending is not None
    assert not outcome.ending.reached


def test_a_cut_sweep_goes_on_where_it_was(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resumed, it keeps the seeds that were added, measures the broken pair again and adds what lacks."""
    monkeypatch.setattr(until, "MOST_SEEDS", 8)
    seen: list[str] = []

    def should_stop() -> bool:
        return seen.count("saved") == 13

    cut = sweep(
        small(server),
        tmp_path,
        until=NARROW,
        should_stop=should_stop,
        on_progress=lambda event: seen.append(event.stage),
    )
    assert isinstance(cut.error, InterruptedRunError)
    assert "interrupted after 13 of 14 runs" in cut.error.message
    before = {run.order: run.start_ns for path in cut.paths.values() for run in load(path).runs}
    seen.clear()
    outcome = sweep(small(server), tmp_path, until=NARROW, resume=True)
    assert outcome.error is None
    captures = [load(path) for path in outcome.paths.values()]
    assert all(len(one.runs) == one.planned_runs == one.scenario.seeds == 8 for one in captures)
    after = {run.order: run.start_ns for one in captures for run in one.runs}
    assert sorted(after) == list(range(16))
    assert {order for order in before if before[order] == after[order]} == set(range(12))
    with pytest.raises(UsageError, match="seeds was 8 and is 1"):
        sweep(small(server), tmp_path, resume=True)


def test_a_plain_sweep_can_be_gone_on_with_until_it_is_narrow(server: str, tmp_path: Path) -> None:
    """What three seeds left is kept, and two more come to them."""
    plain = sweep(small(server, seeds=3), tmp_path)
    starts = [run.start_ns for run in load(plain.paths["on"]).runs]
    outcome = sweep(small(server, seeds=3), tmp_path, until=WIDE, resume=True)
    assert outcome.error is None
    capture = load(outcome.paths["on"])
    assert [run.start_ns for run in capture.runs][:3] == starts
    assert (len(capture.runs), capture.planned_runs, capture.scenario.seeds) == (5, 5, 5)
    again = sweep(small(server), tmp_path, until=WIDE, resume=True)
    assert again.ending is not None
    assert again.ending.reached
    assert len(load(again.paths["on"]).runs) == 5


def test_one_arm_alone_grows_as_well(server: str, tmp_path: Path) -> None:
    """``radixbench run`` ends by the interval of the mean."""
    outcome = sweep(small(server, modes=("on",)), tmp_path, until=WIDE)
    assert outcome.ending is not None
    assert outcome.ending.reached
    assert len(outcome.captures["on"].runs) == 5


def test_a_run_that_failed_is_no_seed(server: str, tmp_path: Path) -> None:
    """A broken pair stays in the captures, doesn't count towards five and is measured again by a resumption."""
    outcome = sweep(small(server, modes=("on",)), tmp_path, until=WIDE)
    capture = load(outcome.paths["on"])
    broken = replace(capture.runs[1], status="incomplete", error="cut")
    save(replace(capture, runs=(capture.runs[0], broken, *capture.runs[2:])), outcome.paths["on"])
    again = sweep(small(server, modes=("on",)), tmp_path, until=WIDE, resume=True)
    runs = load(again.paths["on"]).runs
    assert [run.status for run in runs] == ["completed"] * 5
    assert runs[1].start_ns > capture.runs[4].start_ns
