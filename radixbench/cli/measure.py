"""A sweep as the command line runs it: with a progress display, and saved on Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from radixbench.bench.outputs import OutputPaths
    from radixbench.bench.sweep import SweepOutcome
    from radixbench.cli.course import Course
    from radixbench.scenario.model import Scenario


def measure(
    scenario: Scenario,
    paths: OutputPaths,
    course: Course,
    *,
    server_arguments: Sequence[str],
    keep_text: bool,
) -> SweepOutcome:
    """Run every arm of ``scenario``; what was measured is in the outcome, and in the captures.

    Raises why no run was, for then there is nothing to show.
    """
    from radixbench.bench.stop import stop_on_signals
    from radixbench.bench.sweep import run_sweep
    from radixbench.report.console import ProgressDisplay

    with stop_on_signals() as should_stop, ProgressDisplay(quiet=course.quiet) as display:
        outcome = run_sweep(
            scenario,
            paths,
            on_progress=display,
            should_stop=should_stop,
            argv=("radixbench", *sys.argv[1:]),
            server_arguments=server_arguments,
            keep_text=keep_text,
            resume=course.resume,
            max_time_s=course.max_time_s,
            calibrate=course.calibrate,
            until=course.until,
        )
    if outcome.error is not None and not any(capture.runs for capture in outcome.captures.values()):
        raise outcome.error
    return outcome
