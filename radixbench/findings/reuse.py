"""What cached tokens say against a run: a state that wasn't, more hits than possible, fewer than expected."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.state import StateFault, excess, state_fault
from radixbench.findings.words import percent, several
from radixbench.metrics.answers import prompt_length
from radixbench.metrics.figure import CacheAccount, RunSummary, Shortfall
from radixbench.metrics.reuse import expected_reuse
from radixbench.units import Tokens

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
    yield from _above_maximum(run, summary, fault)
    yield from _shortfall(run, summary)
    yield from _preempted(run, summary)
    yield from _short_prompts(run, summary)


def _above_maximum(run: Run, summary: RunSummary, fault: StateFault | None) -> Iterator[Finding]:
    """Where the fault of the state doesn't say it already."""
    over = excess(run, summary)
    if over is not None and (fault is None or over not in fault.text):
        yield Finding(
            "above-maximum",
            "serious",
            over,
            "the cache held tokens from before the run, or the server counts them wrongly: read its log",
        )


def _shortfall(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Noticeably below the least that an unlimited cache gives; or within the range, but well below its top."""
    account = summary.cache
    if account.cached_tokens is None or run.protocol.declared == "off":
        return
    if not is_short(account.cached_tokens, account.expected_low):
        yield from _raced(run, account)
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


def is_short(cached: Tokens, expected_low: Tokens) -> bool:
    """Whether so many cached tokens are noticeably fewer than the least that an unlimited cache gives."""
    return cached < (1.0 - SHORTFALL_SHARE) * expected_low


def _missing(causes: Shortfall | None) -> str:
    if causes is None:
        return ""
    told = [f"{getattr(causes, name):,} {words}" for name, words in _CAUSES.items() if getattr(causes, name)]
    return f"; missing of all that is shared: {', '.join(told)}"


def _raced(run: Run, account: CacheAccount) -> Iterator[Finding]:
    lost = 0 if account.shortfall is None else account.shortfall.concurrent
    if lost <= SHORTFALL_SHARE * account.expected_high:
        return
    if _is_one_wave(run) and account.expected_high > _NOTHING_SHARED * (account.prompt_tokens or 0):
        yield Finding(
            "one-wave",
            "warning",
            f"all {len(run.requests):,} requests were under way before the first of them was answered: the whole run is one"
            f" wave, in which {account.cached_tokens:,} of the {account.expected_high:,} tokens they share were found",
            "ask more prompts than are under way at once (--prompts-per-group, --max-concurrency), or prime the prefixes"
            " (--cache-state primed)",
        )
    else:
        yield Finding(
            "prefixes-raced",
            "info",
            f"{several(account.raced, 'request')} came while a prefix of theirs was still being computed, and {lost:,} of its"
            f" tokens were computed again: {account.cached_tokens:,} cached tokens, where {account.expected_low:,} to"
            f" {account.expected_high:,} were to be expected",
            "prime the prefixes first (--cache-state primed) to leave the race out",
            metrics=frozenset({"hit_rate", "cached_tokens", "hit_efficiency"}),
        )


def _is_one_wave(run: Run) -> bool:
    """Every request was sent before any had its first token."""
    firsts = [request.chunk_ns[0] for request in run.requests if request.chunk_ns]
    return bool(firsts) and max(request.send_ns for request in run.requests) < min(firsts)


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
    if lengths and short >= _MOSTLY * len(lengths) and _shares(run):
        yield Finding(
            "shorter-than-block",
            "warning",
            f"{short:,} of {several(len(lengths), 'prompt')} are shorter than one block of {page:,} tokens, or no longer:"
            " such a prompt can't be found in the cache",
            "ask longer prompts, or use a smaller page size",
        )


def _shares(run: Run) -> bool:
    """Whether smaller blocks would find anything: a control whose prompts share nothing has no use for them."""
    found = sum(reuse.sharable for reuse in expected_reuse(run, 1).values())
    return found > _NOTHING_SHARED * sum(prompt_length(request) for request in run.requests)
