"""The caveats of one capture by itself, as a report of it alone shows them."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.capture.model import Capture
from radixbench.compare.change import Caveat
from radixbench.compare.finding import caveats
from radixbench.findings.capture import all_findings
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.summary import summarise


def single_caveats(capture: Capture, summaries: Sequence[RunSummary] | None = None) -> tuple[Caveat, ...]:
    """Every finding of ``capture``, merged by code, the gravest first; runs are summarised where that isn't done yet."""
    known = [summarise(run) for run in capture.runs] if summaries is None else summaries
    return caveats(all_findings(capture, known))
