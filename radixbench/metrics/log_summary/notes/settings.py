"""What the server's own settings and its part in a larger deployment mean for reuse."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.batch_figures import sides
from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import be, percent, times
from radixbench.metrics.log_summary.reading import Reading

_LPM_LIMIT = 128
_LEAST_PROMPTS = 10


def setting_notes(reading: Reading) -> Iterator[Note]:
    """Notes on settings, data parallelism, roles, speculation, and events that emptied the cache."""
    yield from _unstated(reading)
    yield from _cache_off(reading)
    yield from _nothing_reused(reading)
    yield from _trees(reading)
    yield from _role(reading)
    yield from _policy(reading)
    yield from _speculation(reading)
    yield from _emptied(reading)


def _unstated(reading: Reading) -> Iterator[Note]:
    """A log that lacks its beginning, of a server that prints its arguments."""
    server, prefill = reading.kept.server, reading.figures.prefill
    if reading.dialect != "sglang" or reading.figures.group is None or server.stated or not prefill.batches:
        return
    unknown = ["the page size"] if server.page_size is None else []
    if not prefill.cached_tokens and server["disable_radix_cache"] is None:
        unknown.append("whether the cache is on")
    if not reading.kept.starts:
        unknown.append("what the cache held when the log begins")
    if unknown:
        last = f" and {unknown[-1]}" if len(unknown) > 1 else unknown[-1]
        yield Note(
            "start-up-missing",
            f"The log has no line with the server's arguments: {', '.join(unknown[:-1])}{last} {be(len(unknown))} unknown.",
        )


def _cache_off(reading: Reading) -> Iterator[Note]:
    server = reading.kept.server
    if server.cache_off:
        flag = (
            "disable_radix_cache=True"
            if server["disable_radix_cache"] is True
            else "enable_prefix_caching=False"
        )
        cached = reading.figures.prefill.cached_tokens
        yield Note(
            "cache-disabled",
            f"The server's arguments turn prefix caching off ({flag}): nothing is reused."
            if not cached
            else f"The last arguments in the log turn prefix caching off ({flag}); the reuse is of the time before them.",
        )


def _nothing_reused(reading: Reading) -> Iterator[Note]:
    prefill = reading.figures.prefill
    if prefill.cached_tokens != 0 or (prefill.prompts or 0) < _LEAST_PROMPTS or reading.kept.server.cache_off:
        return
    stated = reading.kept.server["disable_radix_cache"]
    setting = "" if stated is False else " or that caching is off, which this log doesn't state,"
    yield Note(
        "nothing-reused",
        f"Not one cached token in {prefill.prompts:,} prompts. Either they share no prefix,{setting} or all of them arrived before the first was computed.",
    )


def _trees(reading: Reading) -> Iterator[Note]:
    rates = [
        rank.prefill.hit_rate
        for rank in reading.figures.ranks
        if rank.counted and rank.prefill.hit_rate is not None
    ]
    group = reading.figures.group
    ranks = (
        0
        if group is None
        else len({ledger.rank.dp for ledger in group.ledgers if ledger.rank.dp is not None})
    )
    if ranks > 1:
        between = f" (hit rates from {percent(min(rates))} to {percent(max(rates))})" if rates else ""
        yield Note(
            "data-parallel-trees",
            f"{ranks} data-parallel ranks keep a cache of their own each{between}: a prefix is reused only by requests that reach the same rank, "
            "and the default balancing doesn't look at the cache.",
        )


def _role(reading: Reading) -> Iterator[Note]:
    role = reading.figures.role
    group = reading.figures.group
    if group is not None and all(sides(group.ledgers)):
        yield Note(
            "two-roles",
            "Both sides of a PD pair write into this log: the prefill figures are of the one, the decode figures of the other.",
        )
        return
    if role == "prefill":
        yield Note(
            "disaggregated",
            "One side of a PD pair, the prefill server: it holds the reuse; running requests mean little here, and output is on the decode servers.",
        )
    elif role == "decode":
        yield Note(
            "disaggregated",
            "One side of a PD pair, the decode server: prompts are prefilled, and prefixes reused, on the prefill servers.",
        )


def _policy(reading: Reading) -> Iterator[Note]:
    queue = reading.figures.pressure.queue_max
    if reading.kept.server["schedule_policy"] == "lpm" and queue is not None and queue > _LPM_LIMIT:
        yield Note(
            "lpm-falls-back",
            f"schedule_policy=lpm orders by matched prefix only up to {_LPM_LIMIT} waiting requests and is fcfs above; the queue held up to {queue:,}.",
        )


def _speculation(reading: Reading) -> Iterator[Note]:
    decode = reading.figures.decode
    algorithm = str(reading.kept.server["speculative_algorithm"] or "")
    if decode.accept_rate is not None and reading.figures.group is not None:
        yield Note(
            "accept-rate-not-comparable",
            f"The accept rate ({decode.accept_rate:.2f}) is over drafts that versions count differently: don't compare it across versions. The accept length counts the bonus token.",
        )
    if algorithm.upper().startswith("EAGLE"):
        yield Note(
            "bigram-keys",
            f"With {algorithm} the cache is keyed by pairs of tokens: a repeated prompt reuses one token less, and one page less where that matters.",
        )


def _emptied(reading: Reading) -> Iterator[Note]:
    counts = reading.kept.happenings.distinct
    flushes = counts["flush"] + counts["reset_prefix_cache"]
    refused = counts["flush_refused"] + counts["reset_prefix_cache_refused"]
    restarts = sum(starts.restarts for starts in reading.kept.starts.values())
    if restarts:
        yield Note(
            "restarted",
            f"The server was started again {times(restarts)} in this log: its cache began empty each time, and the settings shown are those of the last start.",
        )
    if flushes:
        yield Note(
            "flushed",
            f"The cache was flushed {times(flushes)}: what came after began with an empty cache.",
        )
    if refused:
        yield Note(
            "flush-refused",
            f"A flush was refused {times(refused)}, for requests were at work: the cache kept what it had.",
        )
