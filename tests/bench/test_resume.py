"""Which runs of a cut sweep are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.bench.identity import ServerFacts
from radixbench.bench.resume import (
    continued,
    pair_of,
    refuse_other_scenario,
    refuse_other_server,
    saved,
    version_notes,
    whole_pairs,
    without,
)
from radixbench.bench.schedule import schedule
from radixbench.capture.model import Capture, CellFailure
from radixbench.capture.store import save
from radixbench.errors import UsageError
from radixbench.records import Mode
from radixbench.scenario.model import ModelSpec
from tests.builders import make_sweep


def pair() -> dict[Mode, Capture]:
    """Both captures of a small sweep."""
    on, off = make_sweep()
    return {"on": on, "off": off}


def test_only_pairs_that_are_whole_stay() -> None:
    """A run whose partner is missing or incomplete is measured again with it."""
    captures = pair()
    on, off = captures["on"], captures["off"]
    captures["on"] = replace(on, runs=on.runs[1:])
    broken = replace(off.runs[-1], status="incomplete", error="cut")
    captures["off"] = replace(off, runs=(*off.runs[:-1], broken))
    assert whole_pairs(captures, ("on", "off")) == {pair_of(run) for run in on.runs[1:-1]}


def test_what_is_measured_again_leaves_nothing_behind() -> None:
    """A pair's runs and its failures go together; all else stays."""
    on = pair()["on"]
    first = on.runs[0]
    mine = CellFailure(first.cell, first.seed, "on", "because")
    other = replace(mine, seed=99)
    rest = without(replace(on, failures=(mine, other)), pair_of(first))
    assert (rest.runs, rest.failures) == (on.runs[1:], (other,))


def test_an_arm_that_was_never_saved_starts_over() -> None:
    """Without one of the captures nothing is a pair."""
    on = pair()["on"]
    assert whole_pairs({"on": on}, ("on", "off")) == frozenset()
    assert whole_pairs({"on": on}, ("on",)) == {pair_of(run) for run in on.runs}


def test_another_scenario_is_refused_by_its_first_difference(tmp_path: Path) -> None:
    """The line names file, key and both values."""
    on = pair()["on"]
    path = tmp_path / "on.json"
    save(on, path)
    paths: dict[Mode, Path] = {"on": path, "off": tmp_path / "off.json"}
    assert saved(paths) == {"on": on}
    other = replace(on.scenario, model=ModelSpec(name="other"))
    refuse_other_scenario({"on": on}, paths, other, on.scenario)
    with pytest.raises(
        UsageError, match=rf"on\.json: .*model\.name was '{on.scenario.model.name}' and is 'other'"
    ):
        refuse_other_scenario({"on": on}, paths, other)


def test_another_model_behind_the_same_address_is_refused() -> None:
    """Runs of two models don't belong into one capture."""
    captures = pair()
    run = captures["on"].runs[0]
    facts = ServerFacts(run.server.model, 9, frozenset(), None, None, 1, "cpu", dict(run.server.identity))
    refuse_other_server(captures, facts)
    with pytest.raises(UsageError, match="weights_sha256"):
        refuse_other_server(captures, replace(facts, document={**facts.document, "weights_sha256": "x"}))


def test_other_versions_are_allowed_and_told() -> None:
    """What changed since the first part is said, a line each."""
    before = pair()["on"].environment
    now = replace(before, radixbench="9.9", packages={**before.packages, "torch": "9.9"}, host_id="elsewhere")
    notes = version_notes(before, now)
    assert len(notes) == 3
    assert "radixbench 9.9" in notes[0]
    assert version_notes(before, before) == ()


def test_a_sweep_that_grew_goes_on_from_what_it_had() -> None:
    """Added seeds are in the plan again and keep their places; a partner that lacks stands beside its pair; the rest comes after."""
    on, off = make_sweep(seeds=7, shared=(64,))
    scenario = replace(on.scenario, workload=replace(on.scenario.workload, shared=(64,)), seeds=5)
    before = {"on": replace(on, runs=on.runs[:6]), "off": replace(off, runs=off.runs[:-1])}
    plans = continued(schedule(scenario), before)
    assert [plan.order for plan in plans] == list(range(12))
    assert [plan.seed for plan in plans] == [seed for seed in range(6) for _ in range(2)]
    measured = {run.order: (run.seed, run.mode) for capture in before.values() for run in capture.runs}
    assert all(measured[plan.order] == (plan.seed, plan.mode) for plan in plans)
    fewer = {"on": replace(on, runs=on.runs[:2]), "off": replace(off, runs=off.runs[:1])}
    plans = continued(schedule(scenario), fewer)
    assert [plan.order for plan in plans] == list(range(10))
    assert [(plan.seed, plan.arm) for plan in plans[2:4]] == [(1, "off"), (1, "on")]


def test_without_anything_measured_a_plan_stays_as_it_is() -> None:
    """A sweep that was cut before its first run begins as it would have."""
    on, off = make_sweep()
    plans = schedule(replace(on.scenario, seeds=5))
    assert continued(plans, {"on": replace(on, runs=()), "off": replace(off, runs=())}) == plans


def test_a_sweep_that_grows_may_have_any_number_of_seeds(tmp_path: Path) -> None:
    """Nothing else of the scenario may be another."""
    on = pair()["on"]
    paths = {"on": tmp_path / "on.json"}
    fewer = replace(on.scenario, seeds=1)
    refuse_other_scenario({"on": on}, paths, fewer, grows=True)
    with pytest.raises(UsageError, match="seeds was"):
        refuse_other_scenario({"on": on}, paths, fewer)
    with pytest.raises(UsageError, match=r"model\.name was"):
        refuse_other_scenario({"on": on}, paths, replace(fewer, model=ModelSpec(name="other")), grows=True)
