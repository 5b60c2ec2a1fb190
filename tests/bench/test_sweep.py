"""A sweep whose servers don't fit side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench import sweep
from radixbench.bench.outputs import OutputPaths, reserved
from radixbench.capture.store import load
from radixbench.scenario.load import load as load_scenario
from radixbench.scenario.load import override


def test_servers_take_turns_where_only_one_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one server each arm's is restarted when its turn comes, with a pool of the same size."""
    monkeypatch.setattr(sweep, "fits_beside", lambda facts, probe: False)
    flags = {"shared": "0", "seeds": 2, "groups": 1, "prompts_per_group": 2, "output_len": 2}
    scenario = override(load_scenario("default"), **flags)
    paths = OutputPaths(captures={mode: tmp_path / f"{mode}.json" for mode in scenario.modes}, report=None)
    with reserved(paths, scenario):
        outcome = sweep.run_sweep(
            scenario,
            paths,
            on_progress=lambda event: None,
            should_stop=lambda: False,
            argv=("radixbench", "sweep"),
            server_arguments=("--runner", "fake"),
        )
    assert outcome.error is None
    runs = {mode: load(path).runs for mode, path in paths.captures.items()}
    pids = [run.server.pid for run in sorted((*runs["on"], *runs["off"]), key=lambda run: run.order)]
    assert len(set(pids)) == 3, "on, off off, on: the second arm keeps its server over two runs"
    assert {run.server.identity["max_total_num_tokens"] for arm in runs.values() for run in arm} == {65_536}
    assert "max_total_tokens': 65536" in paths.server_log("off").read_text()
