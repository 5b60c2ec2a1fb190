"""What the printed token counts say more, or less, than was reused."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.figures import Group
from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import percent, several
from radixbench.metrics.log_summary.reading import Reading


def count_notes(reading: Reading) -> Iterator[Note]:
    """Notes on rounding, chunks, retraction and the server's own rate."""
    group = reading.figures.group
    if group is None or reading.figures.prefill.batches is None:
        return
    yield from _quote(reading)
    yield from _page_rounding(reading, group)
    yield from _chunks_as_hits(group)
    yield from _inferred_budget(group)
    yield from _unclear(group)
    yield from _retracted(reading, group)
    yield from _above_prompt(reading, group)
    yield from _printed_rate(reading, group)


def _quote(reading: Reading) -> Iterator[Note]:
    """Two hit rates that differ as printed."""
    batches, requests = reading.figures.prefill.hit_rate, reading.figures.requests.hit_rate
    quote = reading.quote
    if quote.rate is None or batches is None or requests is None or percent(batches) == percent(requests):
        return
    best, other = (requests, batches) if quote.rate == "requests" else (batches, requests)
    yield Note(
        f"quote-{quote.rate}",
        f"Of the two hit rates quote {percent(best)} ({'request' if quote.rate == 'requests' else 'batch'} lines), not {percent(other)}: {quote.reason}.",
    )


def _page_rounding(reading: Reading, group: Group) -> Iterator[Note]:
    rounding = group.rounding
    rate = reading.figures.prefill.hit_rate
    if rounding is None or rate is None:
        return
    if rounding.stated:
        told = f"New tokens are printed rounded up to whole pages of {rounding.page_size} tokens"
    else:
        told = (
            f"Every count of new and cached tokens is a multiple of {rounding.page_size}: the page size seems to be {rounding.page_size} (the log doesn't state it), and "
            "new tokens seem to be printed rounded up to whole pages"
        )
    doubt = (
        " If only the prompts' own lengths are such multiples (tokens in use are not), the rate is exact."
        if rounding.doubtful
        else ""
    )
    upper = reading.figures.prefill.hit_rate_upper
    most = (
        ""
        if upper is None
        else f" and, with {rounding.page_size - 1} tokens too many in each sequence, at most {percent(upper)}"
    )
    yield Note(
        "page-rounding",
        f"{told} for each request, as servers from 0.4.8 to 0.5.19 do: the hit rate is at least {percent(rate, lower=True)}{most}.{doubt}",
    )


def _chunks_as_hits(group: Group) -> Iterator[Note]:
    """sgl-project/sglang#2555."""
    repeated = group.sums.repeated_tokens
    if not repeated:
        return
    unresolved = sum(ledger.chunks.unresolved for ledger in group.ledgers)
    rest = ""
    if unresolved:
        rest = f" Where a line holds several prompts ({several(unresolved, 'line')}) they can't be told from hits: the hit rate may still be too high."
    yield Note(
        "chunk-continuation-counted-as-hit",
        "Chunk continuation counted as hit (old server, before December 2024): it prints the earlier chunks of a prompt as cached tokens of the "
        f"next chunk. {repeated:,} such tokens are taken off the cached tokens.{rest}",
    )


def _inferred_budget(group: Group) -> Iterator[Note]:
    inferred = [one for one in (ledger.chunks.count(group.page) for ledger in group.ledgers) if one.inferred]
    if inferred:
        lines = sum(one.inferred for one in inferred)
        budgets = " and ".join(
            f"{size:,}" for size in sorted({one.budget for one in inferred if one.budget is not None})
        )
        yield Note(
            "chunk-budget-inferred",
            f"The log doesn't state chunked_prefill_size. Lines that come up to {budgets} new tokens look like filled chunks: "
            f"{several(lines, 'sequence')} of the lines after them {'goes' if lines == 1 else 'go'} on with a prompt already counted.",
        )


def _unclear(group: Group) -> Iterator[Note]:
    unclear = [one for one in (ledger.chunks.count(group.page) for ledger in group.ledgers) if one.unclear]
    lines = sum(one.unclear for one in unclear)
    size = max((one.size for one in unclear), default=0)
    if lines:
        yield Note(
            "chunks-unclear",
            f"{several(lines, 'line')} with exactly one chunk ({size:,} new tokens), hardly one followed by a line of another kind: whole prompts of equal length or chunks of "
            "longer ones, so the number of prompts is unknown. The hit rate is the same either way.",
        )


def _retracted(reading: Reading, group: Group) -> Iterator[Note]:
    requests = group.readmitted
    if not requests:
        return
    own = reading.figures.requests.hit_rate
    if own is not None:
        tail = f"Request lines count each request once: their hit rate is {percent(own)}."
    else:
        tail = "Lines about single requests would count each once; this log has none that tell cached tokens."
    sent = "request" if requests == 1 else "requests"
    yield Note(
        "retracted-counted-again",
        f"{requests:,} {sent} sent back to the queue may have been prefilled again: batch lines count such tokens, cached and new, a second time. {tail}",
    )


def _above_prompt(reading: Reading, group: Group) -> Iterator[Note]:
    """sgl-project/sglang#11900."""
    log = reading.kept.ours if reading.dialect == "radixbench" else reading.kept.sglang
    finished, timed = log.request_books()
    odd = finished.above_prompt or timed.above_prompt
    if odd:
        events, _ = group.retracted
        yield Note(
            "cached-above-prompt",
            f"{several(odd, 'request')} with more cached tokens than prompt tokens left out of the requests' hit rate: servers miscount after a "
            f"retraction, and this log has {several(events, 'retraction')}.",
        )


def _printed_rate(reading: Reading, group: Group) -> Iterator[Note]:
    """Servers up to 0.4.3 print a cumulative rate, which may contradict the lines it stands in (sgl-project/sglang#2255)."""
    for ledger in group.ledgers:
        rate = ledger.running_rate
        if rate.printed is None:
            continue
        where = f" ({ledger.rank.label})" if len(group.ledgers) > 1 else ""
        if rate.differing and rate.example is not None:
            printed, own = rate.example
            yield Note(
                "printed-hit-rate-differs",
                f"The server prints a cumulative hit rate that its own token counts contradict in {rate.differing:,} of {several(rate.checked, 'line')}{where}: "
                f"{printed:.2f} % where the counts since its start give {own:.2f} %. The figures here come from the counts.",
            )
        elif rate.zero_despite:
            yield Note(
                "printed-hit-rate-differs",
                f"The server prints a cumulative hit rate of 0.00 % in {several(rate.zero_despite, 'line')} with cached tokens{where}: it would have had to compute "
                f"more than {20_000 * rate.least_cached:,} tokens without a hit before this log began, or the printed rate is wrong. The figures here come from the counts.",
            )
        elif rate.begins_later and reading.figures.prefill.hit_rate is not None:
            yield Note(
                "printed-hit-rate-differs",
                f"The server's cumulative hit rate (last printed: {rate.printed:.2f} %{where}) counts from its start or last flush, which lies before this log: that it "
                f"differs from {percent(reading.figures.prefill.hit_rate)} here is no contradiction.",
            )
