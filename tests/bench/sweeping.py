"""Whole sweeps against a server that runs already, small enough for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from radixbench.bench.outputs import OutputPaths, reserved
from radixbench.bench.progress import OnProgress
from radixbench.bench.sweep import SweepOutcome, run_sweep
from radixbench.capture.model import Run
from radixbench.scenario.arms import arms
from radixbench.scenario.load import load as load_scenario
from radixbench.scenario.model import EngineSpec, LoadSpec, Scenario, TargetSpec, WorkloadSpec

SMALL = WorkloadSpec(shared=(64,), groups=2, prompts_per_group=3, question_len=16, output_len=2)


def scenario_for(base_url: str | None = None, **changes: Any) -> Scenario:
    """One cell of six prompts and one seed, one request at a time; salted where only one server is there."""
    target = TargetSpec() if base_url is None else TargetSpec(base_url=base_url, engine="sglang")
    small = replace(
        load_scenario("default"),
        workload=SMALL,
        load=LoadSpec(max_concurrency=1),
        engine=EngineSpec(),
        target=target,
        seeds=1,
        off_mode="flag" if base_url is None else "salt",
    )
    return replace(small, **changes)


def sweep(
    scenario: Scenario,
    folder: Path,
    *,
    resume: bool = False,
    max_time_s: float | None = None,
    calibrate: bool = False,
    until: float | None = None,
    on_progress: OnProgress = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SweepOutcome:
    """Run it; servers of ours run a scripted model."""
    paths = OutputPaths(captures={arm: folder / f"{arm}.json" for arm in arms(scenario)}, report=None)
    with reserved(paths, scenario, resume=resume):
        return run_sweep(
            scenario,
            paths,
            on_progress=on_progress,
            should_stop=should_stop,
            argv=("radixbench", "sweep"),
            server_arguments=() if scenario.target.base_url else ("--runner", "fake"),
            resume=resume,
            max_time_s=max_time_s,
            calibrate=calibrate,
            until=until,
        )


def only_run(outcome: SweepOutcome, mode: Any = "on") -> Run:
    """The one run of an arm."""
    (run,) = outcome.captures[mode].runs
    return run


def check(run: Run, name: str) -> Any:
    """One line of a run's protocol."""
    (found,) = [line for line in run.protocol.checks if line.name == name]
    return found
