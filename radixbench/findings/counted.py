"""A cache state by the server's counters, where answers don't tell of their cached tokens.

Counters cover everybody's requests and count what a preempted request computes again, so they testify only where
nobody else was there and nothing was preempted. They are asked only for what answers leave open: where every answer
tells, answers are believed, and a contradiction is told as that.
"""

from __future__ import annotations

from radixbench.capture.model import Run
from radixbench.metrics.answers import prompt_length, sort_out
from radixbench.metrics.figure import RunSummary
from radixbench.units import Tokens


def counted_hits(run: Run, summary: RunSummary) -> Tokens | None:
    """Cached tokens of the run by the server's counters; ``None`` where answers tell, or counters can't be believed."""
    counted, account = run.counters, summary.cache
    if counted is None or counted.reset or not account.unknown or not _ours_alone(run):
        return None
    retractions = 0 if account.pressure is None else account.pressure.retractions
    return None if retractions else counted.cached_tokens


def counted_excess(run: Run, summary: RunSummary) -> str | None:
    """Counted hits above the most an unlimited cache gives for these prompts, with what was held before."""
    hits, account = counted_hits(run, summary), summary.cache
    if hits is None or run.counters is None:
        return None
    most = account.expected_high + _uncounted(run)
    pages = 2 * (account.page_size - 1) + (1 if account.raced else 0)
    if hits <= most + pages * len(run.requests):
        return None
    return (
        f"{run.counters.source} counted {hits:,} cached tokens where at most {most:,} are possible, while"
        f" {account.unknown:,} answers don't tell"
    )


def _uncounted(run: Run) -> Tokens:
    """Prompt tokens of requests that count for the server but not for the expectation."""
    counted = {request.prompt for request in sort_out(run).counted}
    return sum(prompt_length(request) for request in run.requests if request.prompt not in counted)


def _ours_alone(run: Run) -> bool:
    """Nobody else is known to have used the server meanwhile."""
    return not any(check.name == "alone" and check.held is False for check in run.protocol.checks)
