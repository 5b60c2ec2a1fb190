"""Everything one run says against its own figures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from radixbench.capture.model import Run
from radixbench.findings.alone import alone_findings
from radixbench.findings.client import client_findings
from radixbench.findings.completeness import unanswered
from radixbench.findings.content import content_findings
from radixbench.findings.drift import drift_findings
from radixbench.findings.model import Finding
from radixbench.findings.namespaces import salt_findings
from radixbench.findings.protocol import protocol_findings
from radixbench.findings.reuse import reuse_findings
from radixbench.findings.sources import source_findings
from radixbench.findings.suspects import suspect_findings
from radixbench.findings.tokens import token_findings
from radixbench.findings.turns import turn_findings
from radixbench.metrics.answers import Answers, sort_out
from radixbench.metrics.figure import RunSummary
from radixbench.scenario.model import History


def run_findings(
    run: Run, summary: RunSummary, history: History = "live", *, answers: Answers | None = None
) -> Iterator[Finding]:
    """Each finding with the run as its place and the run's cell as the rows it touches.

    ``history`` is the scenario's: what later turns were to repeat. ``answers`` are the run's, where the caller has
    sorted them out already.
    """
    answers = sort_out(run) if answers is None else answers
    found = chain(
        unanswered(run, summary),
        reuse_findings(run, summary),
        suspect_findings(answers, summary),
        alone_findings(run),
        salt_findings(run),
        protocol_findings(run),
        source_findings(run, summary),
        turn_findings(run, summary, history),
        content_findings(answers),
        token_findings(answers, summary),
        client_findings(run, summary),
        drift_findings(answers),
    )
    return (finding.of_run(run) for finding in found)
