"""A cache state by the server's counters or its log, where answers don't tell of their cached tokens.

Both cover everybody's requests and count what a preempted request computes again, so they testify only where
nobody else was there and nothing was preempted. They are asked only for what answers leave open: where every answer
tells, answers are believed, and a contradiction is told as that.
"""

from __future__ import annotations

from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.metrics.answers import prompt_length, sort_out
from radixbench.metrics.figure import RunSummary
from radixbench.units import Tokens


class Counted(NamedTuple):
    """Cached tokens of a run, and who counted them."""

    source: str
    tokens: Tokens


def counted_hits(run: Run, summary: RunSummary) -> Counted | None:
    """What the counters, or without them the log, say; ``None`` where answers tell, or neither can be believed."""
    account = summary.cache
    retractions = 0 if account.pressure is None else account.pressure.retractions
    if not account.unknown or retractions or not _ours_alone(run):
        return None
    counters = run.counters
    if counters is not None and counters.reset:
        return None
    if counters is not None and counters.cached_tokens is not None:
        return Counted(counters.source, counters.cached_tokens)
    return _logged(run, account.page_size)


def counted_excess(run: Run, summary: RunSummary) -> str | None:
    """Counted hits above the most an unlimited cache gives for these prompts, with what was held before."""
    counted, account = counted_hits(run, summary), summary.cache
    if counted is None:
        return None
    most = account.expected_high + _uncounted(run)
    pages = 2 * (account.page_size - 1) + (1 if account.raced else 0)
    if counted.tokens <= most + pages * len(run.requests):
        return None
    return (
        f"{counted.source} counted {counted.tokens:,} cached tokens where at most {most:,} are possible, while"
        f" {account.unknown:,} answers don't tell"
    )


def _logged(run: Run, page_size: Tokens) -> Counted | None:
    """The log's sum, where its prefill lines cover no more than this run's prompts, in whole pages."""
    log = run.log
    if log is None or log.chunk_continuations_as_hits or log.new_tokens is None or log.cached_tokens is None:
        return None
    own = sum(prompt_length(request) for request in run.requests)
    if log.new_tokens + log.cached_tokens > own + page_size * len(run.requests):
        return None
    return Counted("the server's log", log.cached_tokens)


def _uncounted(run: Run) -> Tokens:
    """Prompt tokens of requests that count for the server but not for the expectation."""
    counted = {request.prompt for request in sort_out(run).counted}
    return sum(prompt_length(request) for request in run.requests if request.prompt not in counted)


def _ours_alone(run: Run) -> bool:
    """Nobody else is known to have used the server meanwhile."""
    return not any(check.name == "alone" and check.held is False for check in run.protocol.checks)
