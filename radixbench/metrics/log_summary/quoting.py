"""Whether request lines cover the prompts that the batch lines prefilled, and so which hit rate is the one to quote.

Batch lines count a request that was sent back to the queue once more each time, the server's own warm-up, and rounded tokens;
a request line counts its request once. But it counts only if every prompt has one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from radixbench.metrics.log_summary.figures import Group
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.model import PrefillFigures, RequestFigures
from radixbench.metrics.log_summary.notes.words import several
from radixbench.metrics.log_summary.requests import RequestBook


class Coverage(NamedTuple):
    """What request lines tell of the prompts that were prefilled.

    ``complete``: of all but the server's own warm-up and health checks. ``uncached_tokens`` are the prompt tokens that they count as not
    reused, ``no_hit_tokens`` those of prompts that reused nothing. ``explains_rest``: further new tokens can
    only be a warm-up's (``warm_up_tokens``), or computed again. ``contradicts``: the request lines count more cached tokens than the batches.
    """

    complete: bool
    known: int = 0
    uncached_tokens: int = 0
    no_hit_tokens: int = 0
    warm_up_tokens: int = 0
    explains_rest: bool = False
    contradicts: bool = False


NOT_COVERED = Coverage(complete=False)


def coverage_of(kept: Kept, dialect: str, prefill: PrefillFigures, group: Group | None) -> Coverage:
    """Of a log of SGLang's, of ours or of llama.cpp's."""
    if dialect == "llamacpp":
        return _covered(kept.llamacpp.book, prefill, 0)
    if group is None:
        return NOT_COVERED
    finished, timed = (kept.ours if dialect == "radixbench" else kept.sglang).request_books()
    book = finished if finished.known else timed
    warm = [ledger.sums(ledger.warm_up, repeated=False) for ledger in group.ledgers]
    found = _covered(book, prefill, sum(one.new_seq for one in warm))
    _, sent_back = group.retracted
    return found._replace(
        warm_up_tokens=sum(one.new_tokens for one in warm),
        explains_rest=sent_back > 0 and group.rounding is None and not book.probes,
    )


class Quote(NamedTuple):
    """The hit rate to quote, and why."""

    rate: Literal["batches", "requests"] | None
    reason: str | None


def quote_of(prefill: PrefillFigures, requests: RequestFigures, coverage: Coverage) -> Quote:
    """``None`` where the log has one hit rate, or two that agree."""
    if prefill.batches is None or prefill.hit_rate is None or requests.hit_rate is None:
        return Quote(None, None)
    if prefill.hit_rate == requests.hit_rate:
        return Quote(None, None)
    if coverage.complete:
        exactly = ", and exactly" if prefill.hit_rate_bound else ""
        return Quote("requests", f"it counts each request once{exactly}")
    if coverage.contradicts:
        return Quote("batches", "the request lines count more cached tokens than the batches reused")
    if prefill.prompts is None:
        return Quote("batches", "whether every prompt has a request line is unknown")
    return Quote(
        "batches",
        f"it counts every prompt; {several(coverage.known, 'request line')} for {several(prefill.prompts, 'prompt')} tell{'s' if coverage.known == 1 else ''} cached tokens",
    )


def _covered(book: RequestBook, prefill: PrefillFigures, warm_ups: int) -> Coverage:
    """``complete`` needs a line for each prompt, and no more uncached tokens in them than were computed."""
    uncached = book.known_prompt_tokens - book.cached_tokens
    prompts, new = prefill.prompts, prefill.new_tokens
    complete = (
        prompts is not None
        and new is not None
        and book.known > 0
        and prompts - warm_ups - book.probes <= book.known <= prompts
        and uncached <= new
    )
    contradicts = book.cached_tokens > (prefill.cached_tokens or 0)
    return Coverage(
        complete and not contradicts,
        book.known,
        uncached,
        book.known_no_hit_tokens,
        contradicts=contradicts,
    )
