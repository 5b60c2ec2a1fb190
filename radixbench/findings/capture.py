"""What the runs of one capture say together: what is missing, who answered, levels of concurrency,
the client's calibration, the machine's other work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from radixbench.capture.model import Capture
from radixbench.findings.client import calibration_findings
from radixbench.findings.completeness import left_out, missing_runs
from radixbench.findings.content import renamed_between
from radixbench.findings.levels import level_findings
from radixbench.findings.machine import busy_findings
from radixbench.findings.model import Finding
from radixbench.findings.run import run_findings
from radixbench.findings.turns import recorded_findings
from radixbench.metrics.figure import RunSummary


def capture_findings(capture: Capture, summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """Findings across runs; ``summaries[i]`` is of ``capture.runs[i]``."""
    return chain(
        missing_runs(capture),
        left_out(summaries),
        renamed_between(capture.runs),
        level_findings(capture, summaries),
        recorded_findings(summaries, capture.scenario.workload.history),
        calibration_findings(capture, summaries),
        busy_findings(capture),
    )


def all_findings(capture: Capture, summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """Findings of every run, and those across runs."""
    yield from capture_findings(capture, summaries)
    for run, summary in zip(capture.runs, summaries, strict=True):
        yield from run_findings(run, summary, capture.scenario.workload.history)
    yield from random_weights([capture])


def random_weights(captures: Iterable[Capture]) -> Iterator[Finding]:
    """A model of random weights: its speed is real, its answers aren't."""
    random = {
        run.server.model
        for capture in captures
        for run in capture.runs
        if run.server.identity.get("random_weights") is True
    }
    if random:
        yield Finding(
            "random-weights",
            "info",
            f"{', '.join(sorted(random))} has random weights: its speed counts, its answers mean nothing",
            "name a real model (--model) to see factors of its size",
        )
