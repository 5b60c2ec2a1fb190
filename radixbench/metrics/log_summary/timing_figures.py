"""The figures of a llama.cpp log: requests, their reuse and their timings."""

from __future__ import annotations

from radixbench.metrics.log_summary.figures import mean
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.model import (
    DecodeFigures,
    PrefillFigures,
    Pressure,
    RankFigures,
    RequestFigures,
    Throughput,
)
from radixbench.metrics.log_summary.reading import Figures
from radixbench.metrics.log_summary.requests import quantiles
from radixbench.metrics.log_summary.speed import busy_time
from radixbench.metrics.log_summary.sums import sums_of
from radixbench.metrics.log_summary.timing_log import TimingLog
from radixbench.metrics.log_summary.windows import Lane

UNKNOWN = "no line tells how many tokens were reused: cached tokens unknown"
NO_QUEUE = "llama.cpp's timings begin when a slot takes the request: waiting is in none of them, nor is time to first token"
ALL_CACHED = "every timed prompt was cached but for its last token: a rate over 1 token says nothing"


def timing_figures(kept: Kept) -> Figures:
    """Everything that the log's timings come to."""
    log = kept.llamacpp
    prefill, decode = _prefill(log), _decode(log)
    throughput = _throughput(log)
    pressure = Pressure(pool_tokens=kept.server.pool_tokens)
    rank = RankFigures("all", True, prefill, decode, throughput, pressure)
    return Figures(
        role="unified",
        prefill=prefill,
        decode=decode,
        requests=_requests(log),
        throughput=throughput,
        pressure=pressure,
        ranks=(rank,),
        lanes=(Lane(log.course, sums_of),),
        main_pool="token",
    )


def _prefill(log: TimingLog) -> PrefillFigures:
    sums = log.course.sums
    if not log.lines:
        return PrefillFigures(reason="no prompt timings")
    if not sums.prefill_batches:
        return PrefillFigures(
            new_seq=log.lines, new_tokens=log.unknown_tokens, prompts=log.lines, reason=UNKNOWN
        )
    return PrefillFigures(
        new_seq=sums.new_seq,
        new_tokens=sums.new_tokens,
        cached_tokens=sums.cached_tokens,
        hit_rate=sums.hit_rate,
        prompts=sums.new_seq,
        reason=None if sums.hit_rate is not None else "the timed prompts hold no tokens",
    )


def _decode(log: TimingLog) -> DecodeFigures:
    return DecodeFigures(
        accept_len=log.speculation.accept_len,
        accept_rate=log.speculation.accept_rate,
        reason="llama.cpp prints timings of requests, none of batches",
    )


def _requests(log: TimingLog) -> RequestFigures:
    book = log.book
    if not book.n:
        return RequestFigures(reason="no request timings")
    return RequestFigures(
        n=book.n,
        prompt_tokens=book.prompt_tokens if book.prompt_known else None,
        cached_tokens=book.cached_tokens if book.known else None,
        output_tokens=book.output_tokens if book.output_known else None,
        hit_rate=book.hit_rate,
        prefill=quantiles(book.prefill),
        decode=quantiles(book.decode),
        reason=NO_QUEUE,
        known_prompt_tokens=book.known_prompt_tokens if book.known else None,
    )


def _throughput(log: TimingLog) -> Throughput:
    """Over the milliseconds the timings give, which are exact; requests of several slots overlap, so this is a slot's speed."""
    busy, _ = busy_time([log.course])
    seconds = log.prompt_ms / 1000
    computed = mean(log.timed_prompt_n, seconds) if seconds else None
    output = mean(log.predicted_n, log.predicted_ms / 1000) if log.predicted_ms else None
    sums = log.course.sums
    whole = (
        (sums.new_tokens + sums.cached_tokens) * 1000 / log.known_prompt_ms
        if log.known_prompt_ms and log.timed_prompt_n
        else None
    )
    parts = []
    if whole is not None:
        parts.append(
            f"input: {sums.new_tokens + sums.cached_tokens:,} prompt tokens over {log.known_prompt_ms / 1000:,.2f} s of prompt eval time"
        )
    if computed is not None:
        parts.append(
            f"computed: {log.timed_prompt_n:,} prompt tokens over {seconds:,.2f} s of prompt eval time"
        )
    if output is not None:
        parts.append(f"output: {log.predicted_n:,} tokens over {log.predicted_ms / 1000:,.2f} s of eval time")
    reasons = []
    if computed is None:
        reasons.append(ALL_CACHED if log.fully_cached else "no prompt timings")
    if whole is None:
        reasons.append(UNKNOWN)
    return Throughput(
        input=whole,
        computed=computed,
        output=output,
        busy_s=busy,
        idle_after_s=None if busy is None else 0.0,
        basis="; ".join(parts) or None,
        reason="; ".join(reasons) or None,
    )
