"""What token counts and stamps say about the figures made of them: prompts of another length, which gaps are per token,
which per chunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from radixbench.findings.model import Finding
from radixbench.findings.words import duration, percent, several
from radixbench.metrics.answers import Answers
from radixbench.metrics.figure import RunSummary
from radixbench.records import RequestRecord
from radixbench.units import seconds

CONSISTENT = 0.05
"""How far mean gap and decode speed may be apart."""

_SOME = 0.1
_GAPS = frozenset({"itl_p50"})


def token_findings(answers: Answers, summary: RunSummary) -> Iterator[Finding]:
    """Prompts of another length than was sent, gaps per chunk, gaps that contradict the throughput, answers in one event,
    a peak below its mean.
    """
    timed = answers.timed
    yield from _other_lengths(answers.completed)
    yield from _per_chunk(timed)
    yield from _contradiction(timed)
    one_event = sum(len(request.chunk_ns) == 1 and (request.output_tokens or 0) > 1 for request in timed)
    if one_event > _SOME * len(timed):
        yield Finding(
            "one-event-answers",
            "info",
            f"{one_event:,} of {several(len(timed), 'answer')} came in one event: no decode rate can be told of them",
            "ask for longer answers, or have the server stream every token (stream interval 1)",
            metrics=frozenset({"itl_p50", "tpot_p50"}),
        )
    yield from _peak(summary)


def _other_lengths(completed: Sequence[RequestRecord]) -> Iterator[Finding]:
    """The server's word for a prompt's length against the tokens that were sent."""
    known = [one for one in completed if one.prompt_tokens is not None and one.sent_prompt_tokens > 0]
    unlike = [one for one in known if one.prompt_tokens != one.sent_prompt_tokens]
    if not unlike:
        return
    worst = max(unlike, key=lambda one: abs((one.prompt_tokens or 0) - one.sent_prompt_tokens))
    yield Finding(
        "prompt-length",
        "warning",
        f"the server counts other prompts than were sent: {len(unlike):,} of {several(len(known), 'answer')} tell of another"
        f" length, as request {worst.prompt}, {worst.prompt_tokens:,} tokens of {worst.sent_prompt_tokens:,} sent",
        "more is what the server puts in front (BOS, a template), fewer a prompt cut short: look at its settings; what may be"
        " found cached is reckoned from what was sent",
        metrics=frozenset({"hit_rate", "hit_efficiency", "input_throughput", "prefill_throughput"}),
    )


def counts_chunks(request: RequestRecord) -> bool:
    """Whether its events were counted and not the tokens in them: each counted as 1, in all fewer than the usage says."""
    told = sum(request.chunk_tokens)
    if request.output_source == "chunks":
        return True
    return request.output_tokens is not None and told < (1 - CONSISTENT) * request.output_tokens


def _per_chunk(timed: Sequence[RequestRecord]) -> Iterator[Finding]:
    n = sum(counts_chunks(request) for request in timed)
    if n:
        yield Finding(
            "itl-per-chunk",
            "warning",
            f"ITL is per chunk in {n:,} of {several(len(timed), 'answer')}: the server doesn't say how many tokens an event"
            " carries",
            "have it send token ids (return_token_ids) or usage with every event (stream_options: continuous_usage_stats)",
            metrics=_GAPS,
        )


def _contradiction(timed: Sequence[RequestRecord]) -> Iterator[Finding]:
    """The mean gap times the tokens of one stream must give the time they took: gaps count events' tokens, the
    stream's speed those of the usage, both without what came first.
    """
    time_s, gaps, tokens = 0.0, 0, 0
    for request in timed:
        if request.output_tokens is None or request.chunk_ns[-1] == request.chunk_ns[0]:
            continue
        first = sum(request.chunk_tokens[: bisect_right(request.chunk_ns, request.chunk_ns[0])])
        time_s += seconds(request.chunk_ns[-1] - request.chunk_ns[0])
        gaps += sum(request.chunk_tokens) - first
        tokens += max(request.output_tokens - first, 0)
    if not gaps or not tokens:
        return
    gap, own_time = time_s / gaps, time_s / tokens
    if abs(gap - own_time) <= CONSISTENT * own_time:
        return
    why = (
        "chunks hold several tokens, as with speculation, and only their sum is told"
        if gap > own_time
        else "the events carried more tokens than the usage counts"
    )
    yield Finding(
        "itl-contradicts-throughput",
        "warning",
        f"the mean gap is {duration(gap)}, but {tokens:,} tokens in {duration(time_s)} of decoding give"
        f" {duration(own_time)} per token ({percent(abs(gap - own_time) / own_time)} apart): {why}",
        "quote TPOT, which counts the usage's tokens, instead of ITL",
        metrics=_GAPS,
    )


def _peak(summary: RunSummary) -> Iterator[Finding]:
    peak, mean = (
        summary.figures[name].value if name in summary.figures else None
        for name in ("peak_output_throughput", "output_throughput")
    )
    if peak is not None and mean is not None and peak < mean * (1 - 1e-9):
        yield Finding(
            "peak-below-mean",
            "serious",
            f"the peak throughput ({peak:,.1f} tokens/s) is below the mean ({mean:,.1f} tokens/s): tokens and stamps don't"
            " belong together",
            "report this with the capture",
            metrics=frozenset({"peak_output_throughput", "output_throughput"}),
        )
