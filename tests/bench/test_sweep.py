"""A sweep whose servers don't fit side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.bench import fleet
from radixbench.capture.store import load
from tests.bench.sweeping import SMALL, scenario_for, sweep


def test_servers_take_turns_where_only_one_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one server each arm's is restarted when its turn comes, with a pool of the same size."""
    monkeypatch.setattr(fleet, "fits_beside", lambda facts, probe: False)
    scenario = scenario_for(seeds=2, workload=replace(SMALL, shared=(0,), groups=1, prompts_per_group=2))
    outcome = sweep(scenario, tmp_path)
    paths = outcome.paths
    assert outcome.error is None
    runs = {mode: load(path).runs for mode, path in paths.items()}
    pids = [run.server.pid for run in sorted((*runs["on"], *runs["off"]), key=lambda run: run.order)]
    assert len(set(pids)) == 3, "on, off off, on: the second arm keeps its server over two runs"
    assert {run.server.identity["max_total_num_tokens"] for arm in runs.values() for run in arm} == {65_536}
    assert "max_total_tokens': 65536" in (tmp_path / "off.server.log").read_text()
