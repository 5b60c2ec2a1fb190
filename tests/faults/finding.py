"""What a run, or a capture, says against itself: the way every test of a fault looks for it."""

from __future__ import annotations

from radixbench.capture.model import Capture, Run
from radixbench.findings.capture import capture_findings
from radixbench.findings.model import Finding
from radixbench.findings.run import run_findings
from radixbench.metrics.summary import summarise


def codes(run: Run) -> set[str]:
    """The codes of all the run's findings."""
    return {finding.code for finding in run_findings(run, summarise(run))}


def found(run: Run, code: str) -> Finding:
    """The one finding of that code; a test that asks for one that isn't there fails."""
    (one,) = [finding for finding in run_findings(run, summarise(run)) if finding.code == code]
    return one


def found_in_capture(capture: Capture, code: str) -> Finding:
    """The one finding of that code across the capture's runs."""
    summaries = [summarise(run) for run in capture.runs]
    (one,) = [finding for finding in capture_findings(capture, summaries) if finding.code == code]
    return one
