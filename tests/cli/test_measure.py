"""What a sweep leaves on the screen when it leaves nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench import sweep
from radixbench.bench.outputs import OutputPaths
from radixbench.capture.model import CellFailure
from radixbench.cli.course import Course
from radixbench.cli.measure import measure
from radixbench.errors import IncompleteError, RadixbenchError
from tests.builders import make_capture, make_request, make_run

COURSE = Course(resume=False, max_time_s=None, calibrate=False)


@pytest.mark.parametrize("runs", [0, 1])
def test_without_any_run_there_is_only_the_reason(
    runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Captures that hold failures alone are kept, and neither a table nor a report is made of them."""
    failure = CellFailure({"shared_tokens": 0}, 0, "on", "the server died")
    measured = [make_run([make_request(0)])] * runs
    capture = make_capture(measured, planned_runs=2, failures=(failure,))
    kept = sweep.SweepOutcome(
        scenario=capture.scenario,
        captures={"on": capture},
        paths={"on": tmp_path / "on.json"},
        error=IncompleteError(failure.reason),
    )
    monkeypatch.setattr(sweep, "run_sweep", lambda *_, **__: kept)
    paths = OutputPaths(captures=kept.paths, report=None)
    raised: RadixbenchError | None = None
    outcome = None
    try:
        outcome = measure(capture.scenario, paths, COURSE, server_arguments=(), keep_text=False)
    except IncompleteError as error:
        raised = error
    assert (outcome, raised) == ((kept, None) if runs else (None, kept.error))
