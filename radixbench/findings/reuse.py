"""What cached tokens say against a run: a state that wasn't, more hits than possible, fewer than expected."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.state import excess, state_fault
from radixbench.findings.words import percent, several
from radixbench.metrics.figure import CacheAccount, RunSummary, Shortfall

SHORTFALL_SHARE = 0.05
_NOTHING_SHARED = 0.01
_PREEMPTED_RATE = 0.05
_MOSTLY = 0.5

_CAUSES = {
    "first_arrival": "first arrivals",
    "concurrent": "computed by several requests at once",
    "page_remainder": "lost to whole pages",
    "eviction": "evicted for want of room",
    "unexplained": "unexplained",
}
_ROOM = "the pool is too small for the working set: raise --max-total-tokens, or lower the concurrency"
_UNLIKE = (
    "prefixes may differ on the server (template, BOS), or it reuses less than it could: read its log, and raise"
    " --max-total-tokens where it evicts"
)


def reuse_findings(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """The declared state, the theoretical maximum, the expectation, preemption, and prompts too short to be found."""
    fault = state_fault(run, summary)
    if fault is not None:
        yield Finding(fault.code, "serious", f"{fault.text}; the run is set aside", fault.remedy)
    yield from _above_maximum(run, summary)
    yield from _shortfall(run, summary)
    yield from _preempted(run, summary)
    yield from _short_prompts(run, summary)


def _above_maximum(run: Run, summary: RunSummary) -> Iterator[Finding]:
    account = summary.cache
    over = excess(run, summary)
    if over is None or not account.prompt_tokens or account.cached_tokens is None:
        return
    most = min(account.expected_high, account.cached_tokens - account.excess) / account.prompt_tokens
    yield Finding(
        "above-maximum",
        "serious",
        f"measured hit rate {percent(account.cached_tokens / account.prompt_tokens)} is above the theoretical maximum"
        f" {percent(most)}: {over}",
        "the cache held tokens from before the run, or the server counts them wrongly: read its log",
    )


def _shortfall(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Noticeably below the least that an unlimited cache gives; or within the range, but well below its top."""
    account = summary.cache
    if account.cached_tokens is None or run.protocol.declared == "off":
        return
    if account.cached_tokens >= (1.0 - SHORTFALL_SHARE) * account.expected_low:
        yield from _raced(account)
        return
    bound = "; an upper bound, since the working set exceeds the pool" if account.upper_bound_only else ""
    causes = account.shortfall
    yield Finding(
        "hit-shortfall",
        "warning",
        f"{account.cached_tokens:,} cached tokens where an unlimited cache gives {account.expected_low:,}"
        f" ({percent(account.cached_tokens / account.expected_low)}{bound}){_missing(causes)}",
        _ROOM if causes is not None and causes.eviction > causes.unexplained else _UNLIKE,
    )


def _missing(causes: Shortfall | None) -> str:
    if causes is None:
        return ""
    told = [f"{getattr(causes, name):,} {words}" for name, words in _CAUSES.items() if getattr(causes, name)]
    return f"; missing of all that is shared: {', '.join(told)}"


def _raced(account: CacheAccount) -> Iterator[Finding]:
    lost = 0 if account.shortfall is None else account.shortfall.concurrent
    if lost > SHORTFALL_SHARE * account.expected_high:
        yield Finding(
            "prefixes-raced",
            "info",
            f"{several(account.raced, 'request')} sent while a prefix of theirs was still being computed found {lost:,} tokens"
            f" less than those that come later: {account.cached_tokens:,} cached tokens, of {account.expected_low:,} to"
            f" {account.expected_high:,} expected",
            "prime the prefixes first (--cache-state primed) to leave the race out",
            metrics=frozenset({"hit_rate", "cached_tokens", "hit_efficiency"}),
        )


def _preempted(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Servers count what a preempted request computes again as hits of its own tokens."""
    account = summary.cache
    if run.protocol.declared != "cold" or not account.prompt_tokens:
        return
    preemptions = 0 if account.pressure is None else account.pressure.retractions or 0
    if not preemptions or account.expected_high > _NOTHING_SHARED * account.prompt_tokens:
        return
    source, rate = max(_rates(run, account), key=lambda one: one[1], default=("", 0.0))
    if rate > _PREEMPTED_RATE:
        yield Finding(
            "preempted-hits",
            "warning",
            f"hit rate {percent(rate)} ({source}) on prompts that share nothing, with"
            f" {several(preemptions, 'preemption')}: what preempted requests compute again is counted as their hits",
            "raise --max-total-tokens or lower the concurrency until nothing is preempted",
            metrics=frozenset({"hit_rate", "cached_tokens", "hit_efficiency", "prefill_throughput"}),
        )


def _rates(run: Run, account: CacheAccount) -> Iterator[tuple[str, float]]:
    if account.cached_tokens is not None and account.prompt_tokens:
        yield "client usage", account.cached_tokens / account.prompt_tokens
    counted = run.counters
    if counted is not None and counted.cached_tokens is not None and counted.prompt_tokens:
        yield "server counters", counted.cached_tokens / counted.prompt_tokens
    if run.log is not None and run.log.window_hit_rate is not None:
        yield "server window", run.log.window_hit_rate


def _short_prompts(run: Run, summary: RunSummary) -> Iterator[Finding]:
    page = summary.cache.page_size
    if run.mode == "off" or page == 1:
        return
    lengths = [request.sent_prompt_tokens for request in run.requests]
    short = sum(length <= page for length in lengths)
    if lengths and short >= _MOSTLY * len(lengths):
        yield Finding(
            "shorter-than-block",
            "warning",
            f"{short:,} of {several(len(lengths), 'prompt')} are shorter than one block of {page:,} tokens, or no longer:"
            " such a prompt can't be found in the cache",
            "ask longer prompts, or use a smaller page size",
        )
