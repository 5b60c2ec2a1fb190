"""Sweeps on servers of ours: restarts, states and off modes through the real scheduler and tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.scenario.model import CacheState, GridSpec, LoadSpec, OffMode
from tests.bench.sweeping import SMALL, only_run, scenario_for, sweep


@pytest.mark.parametrize(("off_mode", "state"), [("salt", "warm"), ("flush", "primed")])
def test_one_server_serves_both_arms(off_mode: OffMode, state: CacheState, tmp_path: Path) -> None:
    """By salt or flush the bundled server isn't started twice, and both arms' states hold."""
    outcome = sweep(scenario_for(off_mode=off_mode, cache_state=state), tmp_path)
    assert outcome.error is None
    on, off = only_run(outcome, "on"), only_run(outcome, "off")
    assert on.server.pid == off.server.pid
    assert (on.protocol.declared, on.protocol.verified) == (state, True)
    assert (off.protocol.declared, off.protocol.off_mode, off.protocol.verified) == ("off", off_mode, True)
    assert {record.cached_tokens for record in off.requests} == {0}
    assert on.steps_complete
    assert on.log is not None
    assert on.counters is not None
    found = sum(record.cached_tokens or 0 for record in on.requests)
    assert on.log.cached_tokens == on.counters.cached_tokens == found
    assert not list(tmp_path.glob("off.server.log")) or not (tmp_path / "off.server.log").read_text()


def test_server_settings_restart_servers_once_each(tmp_path: Path) -> None:
    """A setting of the server is the outermost loop: two settings make two servers for all seeds and loads."""
    scenario = scenario_for(
        off_mode="salt",
        seeds=2,
        grid=GridSpec(page_size=(1, 16)),
        workload=replace(SMALL, groups=1, prompts_per_group=2),
    )
    outcome = sweep(scenario, tmp_path)
    assert outcome.error is None
    runs = sorted(
        (run for capture in outcome.captures.values() for run in capture.runs), key=lambda run: run.order
    )
    assert len(runs) == 2 * 2 * 2
    assert [run.server.args["page_size"] for run in runs] == [1] * 4 + [16] * 4
    assert len({run.server.pid for run in runs}) == 2
    assert all(run.protocol.verified for run in runs)


def test_concurrent_first_arrivals_are_no_contradiction(tmp_path: Path) -> None:
    """With everything in flight at once the first wave misses together; that is cold, and within the bounds."""
    scenario = scenario_for(
        modes=("on",), load=LoadSpec(max_concurrency=8), workload=replace(SMALL, prompts_per_group=8)
    )
    run = only_run(sweep(scenario, tmp_path))
    assert run.protocol.verified is True
