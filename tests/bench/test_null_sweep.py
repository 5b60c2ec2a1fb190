"""An arm measured against itself: two captures that differ in nothing but noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.bench.outputs import choose_paths
from radixbench.capture.store import load, save
from radixbench.compare.comparison import compare
from radixbench.errors import OutputError, ScenarioError
from radixbench.records import Mode
from radixbench.scenario.arms import arms, is_null, sides
from radixbench.scenario.load import load as load_scenario
from radixbench.scenario.load import override
from radixbench.scenario.model import Scenario, TargetSpec
from tests.bench.sweeping import SMALL, scenario_for, sweep
from tests.mock.start import mock_process


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers go into a directory of the test's own."""
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path / "cache"))


def null(base_url: str | None = None, **changes: object) -> Scenario:
    """The off arm against itself, two prompts a run."""
    small = replace(SMALL, groups=1, prompts_per_group=2)
    return scenario_for(base_url, **{"modes": ("off", "off"), "workload": small, **changes})


def test_both_arms_have_a_server_of_their_own(tmp_path: Path) -> None:
    """Two processes with the same settings take turns; each leaves its capture and its log under its own name."""
    outcome = sweep(null(seeds=2), tmp_path)
    assert outcome.error is None
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"off-a.json", "off-b.json", "off-a.server.log", "off-b.server.log"}
    a, b = (load(outcome.paths[arm]) for arm in ("off-a", "off-b"))
    assert {run.mode for run in (*a.runs, *b.runs)} == {"off"}
    (pid_a,), (pid_b,) = ({run.server.pid for run in one.runs} for one in (a, b))
    assert pid_a != pid_b
    assert [run.order for run in a.runs] == [0, 3]
    assert [run.order for run in b.runs] == [1, 2]
    assert all(run.protocol.verified for run in (*a.runs, *b.runs))
    comparison = compare(a, b)
    assert comparison.eligible
    assert "not-interleaved" not in {caveat.code for caveat in comparison.caveats}


def test_one_running_server_is_both_arms(tmp_path: Path) -> None:
    """Nothing is held against prompts that were sent twice, and each arm's first run is warmed up alike."""
    with mock_process() as base_url:
        outcome = sweep(null(base_url, seeds=2), tmp_path)
        warm = sweep(null(base_url, modes=("on", "on")), tmp_path / "on")
        salted = sweep(null(base_url, modes=("on", "off")), tmp_path / "salt")
    for done in (outcome, warm, salted):
        assert done.error is None
        runs = [run for capture in done.captures.values() for run in capture.runs]
        assert {run.server.base_url for run in runs} == {base_url}
        assert all(run.protocol.verified for run in runs)
        assert all(run.protocol.ledger_repeats == 0 for run in runs)
        a, b = done.captures.values()
        warmed = [[run.protocol.warmup_requests for run in one.runs] for one in (a, b)]
        assert warmed[0] == warmed[1]
        assert "warm-up requests" not in {difference.field for difference in compare(a, b).differences}
    assert list(warm.captures) == ["on-a", "on-b"]


def test_by_a_flag_both_arms_are_the_server_without_its_cache(tmp_path: Path) -> None:
    """The one named for the off arm; without one, nothing says how a running server goes without reuse."""
    with mock_process("--disable-radix-cache") as off_base_url:
        target = TargetSpec(base_url="http://127.0.0.1:9", off_base_url=off_base_url, engine="sglang")
        outcome = sweep(null(off_base_url, target=target, off_mode="flag"), tmp_path)
    assert outcome.error is None
    assert {capture.runs[0].server.base_url for capture in outcome.captures.values()} == {off_base_url}
    with pytest.raises(ScenarioError, match="both arms go without reuse, and no flag is set"):
        override(null("http://127.0.0.1:9"), off_mode="flag")


def test_a_cut_null_test_goes_on_with_both_arms(tmp_path: Path) -> None:
    """Whole pairs are kept by the arm's name, though both have one mode."""
    with mock_process() as base_url:
        whole = sweep(null(base_url, seeds=3), tmp_path)
        b = load(whole.paths["off-b"])
        save(replace(b, runs=b.runs[:2]), whole.paths["off-b"])
        outcome = sweep(null(base_url, seeds=3), tmp_path, resume=True)
    assert outcome.error is None
    a, b = (load(outcome.paths[arm]) for arm in ("off-a", "off-b"))
    assert [run.seed for run in a.runs] == [run.seed for run in b.runs] == [0, 1, 2]
    assert a.runs[:2] == load(whole.paths["off-a"]).runs[:2]


@pytest.mark.parametrize(
    ("modes", "names"),
    [
        (("on", "off"), ["on", "off"]),
        (("off", "on"), ["off", "on"]),
        (("off", "off"), ["off-a", "off-b"]),
        (("on", "on"), ["on-a", "on-b"]),
        (("off",), ["off"]),
    ],
)
def test_names_of_arms(modes: tuple[Mode, ...], names: list[str]) -> None:
    """A mode names its arm where it stands alone; twice, a letter tells the two apart."""
    scenario = replace(load_scenario("default"), modes=modes)
    assert list(arms(scenario)) == names
    assert [mode for _, mode in arms(scenario).items()] == list(modes)
    assert is_null(scenario) == ("off-a" in names or "on-a" in names)
    assert sides(arms(scenario))[0] == ("on" if "on" in names else names[0])


def test_a_sweep_of_one_arm_is_refused(tmp_path: Path) -> None:
    """There is nothing to compare it with."""
    with pytest.raises(OutputError, match="has the mode off alone, and a sweep compares two arms"):
        choose_paths(null(modes=("off",)), tmp_path, None)
