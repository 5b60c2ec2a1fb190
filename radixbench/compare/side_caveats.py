"""What each side says against itself, run by run and over its runs: the findings, with the side's letter."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.compare.arm import Arm
from radixbench.findings.capture import capture_findings
from radixbench.findings.model import Finding
from radixbench.findings.run import run_findings


def side_findings(arm: Arm) -> Iterator[Finding]:
    """All findings of one side."""
    summaries, answers = [one.summary for one in arm.runs], [one.answers for one in arm.runs]
    for finding in capture_findings(arm.capture, summaries, answers=answers):
        yield finding.on_side(arm.side)
    history = arm.capture.scenario.workload.history
    for one in arm.runs:
        for finding in run_findings(one.run, one.summary, history, answers=one.answers):
            yield finding.on_side(arm.side)


def off_mode_findings(a: Arm, b: Arm) -> Iterator[Finding]:
    """Arms without reuse that came about in different ways."""
    modes = {arm.side: arm.off_modes for arm in (a, b) if arm.off_modes}
    if len({mode for used in modes.values() for mode in used}) > 1:
        told = "; ".join(f"{side} by {' and '.join(used)}" for side, used in modes.items())
        yield Finding(
            "off-modes-differ",
            "warning",
            f"the cache was off in different ways: {told}. A salted or flushed server still keeps its tree, which one"
            " without a cache doesn't",
            "use one --off-mode for all runs that are compared",
        )
