"""What the server's own witnesses say: counters, log lines, pools, tiers, and where they contradict the client."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.reuse import is_short
from radixbench.findings.state import excess
from radixbench.findings.words import several
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.pressure import FULL
from radixbench.records import LogTotals, ServerCounters

_PRINT_INTERVAL = 40
"""SGLang prints a decode line every 40 steps; shorter runs have none."""


def source_findings(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Contradictions, retractions, tiers, a restart, and what the log doesn't or can't tell."""
    yield from _disagreements(run, summary)
    pressure = summary.cache.pressure
    if pressure is not None and pressure.retractions:
        yield Finding(
            "retractions",
            "warning",
            f"{several(pressure.retractions, 'request')} retracted or preempted: sent back to the queue and computed again,"
            " which some servers count as hits",
            "raise --max-total-tokens or lower the concurrency",
        )
    if run.counters is not None:
        yield from _counted(run.counters)
    if run.log is not None:
        yield from _lines(run, run.log)
        yield from _pools(run.log)


def _disagreements(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Contradictions; of those with the expectation that the cache's own findings tell, only that there are some."""
    found, account = summary.reconciliation, summary.cache
    if found is None or not found.disagreements:
        return
    told: set[str] = set()
    if excess(run, summary) is not None:
        told.update(found.beyond)
    if account.cached_tokens is not None and is_short(account.cached_tokens, account.expected_low):
        told.update(found.missing)
    untold = [text for text in found.disagreements if text not in told]
    if untold:
        yield Finding(
            "sources-disagree",
            "warning",
            "; ".join(untold),
            "find out which of them counts what: another client on the same server, or a server that miscounts",
        )
    else:
        yield Finding(
            "sources-disagree",
            "info",
            "answers and token ids alone contradict each other, in what another caveat tells; whoever else counted agrees",
            "see to that caveat",
        )


def _counted(counters: ServerCounters) -> Iterator[Finding]:
    if counters.reset:
        yield Finding(
            "server-restarted",
            "serious",
            f"a counter of {counters.source} fell during the run: the server was restarted",
            "run it again, and look for what ended the server",
        )
    tiers = {name: tokens for name, tokens in counters.cached_by_tier.items() if tokens > 0}
    if len(tiers) > 1 or any(name not in {"device", "gpu"} for name in tiers):
        told = ", ".join(f"{name} {tokens:,}" for name, tokens in tiers.items())
        yield Finding(
            "cache-tiers",
            "info",
            f"cached tokens by where they were found: {told}; each tier counts for itself, so they are not added up",
            "a flush has to empty every tier; compare only runs with the same tiers",
        )


def _lines(run: Run, log: LogTotals) -> Iterator[Finding]:
    printed = log.dialect != "vllm"
    if printed and log.prefill_lines == 0 and log.decode_lines > 0:
        yield Finding(
            "no-prefill-lines",
            "info",
            "no prefill lines: cached tokens unknown by the log",
            "a PD decode server prints none: give the log of the prefill server, unfiltered",
        )
    steps = sum(request.output_tokens or 0 for request in run.requests) / max(len(run.requests), 1)
    if printed and log.decode_lines == 0 and log.prefill_lines > 0 and steps >= _PRINT_INTERVAL:
        yield Finding(
            "no-decode-lines",
            "info",
            "no decode lines: output throughput unknown by the log",
            "a PD prefill server prints none: give the log of the decode server, unfiltered",
        )
    if log.chunk_continuations_as_hits:
        yield Finding(
            "chunk-continuation-counted-as-hit",
            "warning",
            "chunk continuation counted as hit (old server): its log prints the earlier chunks of a prompt as cached tokens"
            " of the next",
            "believe the answers' usage, not the log, or take a server of December 2024 or later",
        )


def _pools(log: LogTotals) -> Iterator[Finding]:
    tokens, state = log.peak_token_usage, log.peak_state_usage
    if state is not None and state >= FULL:
        beside = "" if tokens is None else f" while the KV pool was never used above {tokens:.2f}"
        yield Finding(
            "state-pool-full",
            "warning",
            f"the state pool (mamba) is full first: usage {state:.2f}{beside}; prefixes are dropped, and requests wait, for"
            " want of states",
            "give the state pool more room (--max-mamba-cache-size, --mamba-full-memory-ratio), or lower the concurrency",
        )
    elif tokens is not None and tokens >= FULL:
        yield Finding(
            "pool-full",
            "warning",
            f"the KV pool was full: usage {tokens:.2f}; prefixes are evicted to make room",
            "raise --max-total-tokens or lower the concurrency",
        )
