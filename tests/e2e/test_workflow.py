"""The workflow for pull requests: its steps run as they stand, with a small sweep in place of the real one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "prefix-cache.yml"
SMALL = "--shared 64 --seeds 3 --groups 1 --prompts-per-group 2 --output-len 2 --no-calibrate"


def steps() -> dict[str, str]:
    """The shell steps of the job by name, but for the installation."""
    job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["compare"]
    return {
        step["name"]: step["run"] for step in job["steps"] if "run" in step and "Install" not in step["name"]
    }


def settings() -> dict[str, str]:
    """The job's environment."""
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["compare"]["env"]


pytestmark = pytest.mark.timeout(600)  # three sweeps, each with servers of its own


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runner's folder after every step, with both builds installed: here one and the same."""
    folder = tmp_path_factory.mktemp("runner")
    for build in ("candidate", "base"):
        program = folder / build / ".venv" / "bin" / "radixbench"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m radixbench "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    for name, script in steps().items():
        # Two like builds may differ by noise at this size: the verdict itself is another test's.
        done = run(script, folder, FAIL_ON="incomparable")
        assert done.returncode == 0, f"{name}: {done.stderr}"
    return folder


def run(script: str, place: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """One step, as a runner starts it."""
    environment = {**os.environ, **settings(), "SWEEP": SMALL, **changed}
    environment["GITHUB_STEP_SUMMARY"] = str(place / "summary.md")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_steps_end_in_a_summary_and_reports(runner: Path) -> None:
    """The summary holds all comparisons, and each report is a page."""
    summary = (runner / "summary.md").read_text(encoding="utf-8")
    assert "base branch against itself" in summary
    assert "The pull request (A) against the base branch (B)" in summary
    assert summary.count("| TTFT, median") >= 2
    for name in ("base", "candidate", "again", "noise", "compare"):
        page = (runner / "reports" / f"{name}.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")


def test_a_verdict_fails_the_job_and_still_reaches_the_summary(runner: Path) -> None:
    """A base of other prompts is ``incomparable``: the step ends with 1, after the summary is written."""
    compare = steps()["Compare the pull request with the base branch"]
    other = compare.replace("captures/base/on.json", str(ROOT / "captures" / "example" / "on.json.gz"))
    assert other != compare
    before = len((runner / "summary.md").read_text(encoding="utf-8"))
    assert run(other, runner).returncode == 1
    assert len((runner / "summary.md").read_text(encoding="utf-8")) > before
