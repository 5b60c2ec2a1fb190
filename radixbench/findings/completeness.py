"""What is missing: runs that were planned, requests that weren't answered, values left out of the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from radixbench.capture.model import Capture, Run
from radixbench.findings.model import Finding
from radixbench.findings.words import several
from radixbench.metrics.answers import CAUSE_WORDS
from radixbench.metrics.figure import RunSummary

COMPLETE_SHARE = 0.99
_LEFT_OUT = ("empty", "impossible-times", "impossible-counts")
_SHOWN = 3


def is_complete(run: Run, summary: RunSummary) -> bool:
    """At least 99 % of the requested answers came, each with tokens."""
    return summary.answered >= COMPLETE_SHARE * run.requested and summary.answered > 0


def missing_runs(capture: Capture) -> Iterator[Finding]:
    """Runs that were planned and aren't there, and why; an interruption that cost none is no lack."""
    if len(capture.runs) >= capture.planned_runs:
        return
    how = "the capture was interrupted" if capture.interrupted else "the capture is incomplete"
    reasons = list(dict.fromkeys(failure.reason for failure in capture.failures))
    told = f" ({'; '.join(reasons[:_SHOWN])})" if reasons else ""
    yield Finding(
        "incomplete",
        "serious",
        f"{how}: {len(capture.runs)} of {capture.planned_runs} planned runs{told}",
        "go on with --resume, or run it again to the end",
    )


def unanswered(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Fewer than 99 % of the requests were answered: no verdict rests on such a run."""
    if is_complete(run, summary):
        return
    error = "" if run.error is None else f" ({run.error})"
    yield Finding(
        "incomplete",
        "serious",
        f"{summary.answered:,} of {several(run.requested, 'request')} answered{error}",
        "read the server's log for the failed requests and run it again",
    )


def left_out(summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """Requests that ended well and yet stayed out of the figures, by cause, over all runs."""
    totals: Counter[str] = Counter()
    for summary in summaries:
        totals.update({cause: summary.excluded.get(cause, 0) for cause in _LEFT_OUT})
    found = [f"{totals[cause]:,} {CAUSE_WORDS[cause]}" for cause in _LEFT_OUT if totals[cause]]
    if found:
        yield Finding(
            "values-left-out",
            "warning",
            f"requests left out of the figures: {', '.join(found)}",
            "look these requests up in the capture; a server that ends early or miscounts causes them",
        )
