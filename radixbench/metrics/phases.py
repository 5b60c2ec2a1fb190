"""Throughput of parts of a run: while all requests were at work, and in its best second.

A mean over the whole run mixes a batch that fills up, one that is full and one that empties. The steady part
begins when all requests of the fullest moment have their first token, and ends with the first finish after the
last send: from then on the batch only shrinks.

A batch's tokens of one step don't come at one instant, and the steady part ends at the first of them. Its tokens
therefore count as made evenly over the gap before their event, of which as much counts as lies within.

For the peak the run is split into equal parts of at least a second. Every token lies in exactly one of them, and
an answer's usage is spread over its events, so that the peak can never be below the mean.
"""

from __future__ import annotations

from bisect import bisect_right

from radixbench.metrics.answers import Answers, once
from radixbench.metrics.definition import Measured
from radixbench.metrics.throughput import output_throughput, window_ns
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from radixbench.units import NS_PER_S, seconds


@once
def steady_window(answers: Answers) -> tuple[int, int] | Absent:
    """From when all requests of the fullest moment have their first token to the first finish after the last send."""
    if not answers.timed:
        return Absent(answers.why_none)
    sent = answers.run.requests
    full_at = _fullest(sent)
    start = max(
        (one.chunk_ns[0] for one in sent if one.chunk_ns and one.send_ns <= full_at < one.end_ns),
        default=None,
    )
    last_send = max(one.send_ns for one in sent)
    end = min(
        (one.chunk_ns[-1] for one in sent if one.chunk_ns and one.chunk_ns[-1] > last_send), default=None
    )
    if start is None or end is None or end <= start:
        return Absent("the first request ended before all of them were at work")
    return start, end


@once
def settled_window(answers: Answers) -> tuple[int, int] | Absent:
    """What isn't start or end: a closed loop's steady part; an open loop from its first finish to its last send."""
    sent = answers.run.requests
    if any(one.due_ns != one.send_ns for one in sent):
        start = min((one.end_ns for one in answers.timed), default=None)
        last = max(one.send_ns for one in sent)
        if start is None or start >= last:
            return Absent("the last request was sent before the first ended")
        return start, last
    return steady_window(answers)


def steady_output_throughput(answers: Answers) -> Measured:
    """Generated tokens per second of the steady part."""
    between = steady_window(answers)
    if isinstance(between, Absent):
        return Measured(between, 0)
    whole = output_throughput(answers)
    if isinstance(whole.value, Absent):
        return whole
    tokens, working = 0.0, 0
    for request in answers.timed:
        own = _made(request, *between)
        tokens, working = tokens + own, working + (own > 0)
    if not working:
        return Measured(Absent("no token came while all requests were at work"), 0)
    return Measured(tokens / seconds(between[1] - between[0]), working)


def peak_output_throughput(answers: Answers) -> Measured:
    """Generated tokens per second in the best of the run's equal parts."""
    whole, between = output_throughput(answers), window_ns(answers)
    if isinstance(whole.value, Absent):
        return whole
    if isinstance(between, Absent):
        return Measured(between, 0)
    start, end = between
    parts = (end - start) // NS_PER_S
    if parts < 2:
        return Measured(Absent("the run is shorter than two seconds"), 0)
    bounds = [start + (end - start) * part // parts for part in range(parts + 1)]
    counts = [0.0] * parts
    for request in answers.timed:
        first = _part(bounds, request.chunk_ns[0])
        for part in range(first, _part(bounds, request.chunk_ns[-1]) + 1):
            counts[part] += _tokens(request, bounds[part] if part else start - 1, bounds[part + 1])
    rates = [count / seconds(b - a) for count, a, b in zip(counts, bounds[:-1], bounds[1:], strict=True)]
    return Measured(max(rates), len(rates))


def _fullest(sent: tuple[RequestRecord, ...]) -> int:
    """The first moment at which as many requests were in flight as ever; an end frees its place before a send."""
    moments = sorted(
        moment for one in sent for moment in ((one.send_ns, 1, 1), (max(one.end_ns, one.send_ns + 1), 0, -1))
    )
    now = most = 0
    at = moments[0][0]
    for when, _, step in moments:
        now += step
        if now > most:
            most, at = now, when
    return at


def _part(bounds: list[int], at_ns: int) -> int:
    """Which part a stamp falls into; a part includes its end, the first its start too."""
    return min(max(bisect_right(bounds, at_ns - 1) - 1, 0), len(bounds) - 2)


def _tokens(request: RequestRecord, after_ns: int, until_ns: int) -> float:
    """Its tokens in (after, until], the usage spread over its events."""
    told = sum(request.chunk_tokens)
    if told == 0 or request.output_tokens is None:
        return 0.0
    first, end = bisect_right(request.chunk_ns, after_ns), bisect_right(request.chunk_ns, until_ns)
    return sum(request.chunk_tokens[first:end]) * request.output_tokens / told


def _made(request: RequestRecord, after_ns: int, until_ns: int) -> float:
    """Its tokens made in (after, until], each event's evenly over the gap before it; the first at its stamp."""
    stamps = request.chunk_ns
    told = sum(request.chunk_tokens)
    if told == 0 or request.output_tokens is None or stamps[-1] <= after_ns or stamps[0] > until_ns:
        return 0.0
    if after_ns < stamps[0] and stamps[-1] <= until_ns:  # as most do
        return float(request.output_tokens)
    made, before = 0.0, stamps[0]
    for at, tokens in zip(stamps, request.chunk_tokens, strict=True):
        if at == before:
            made += tokens if after_ns < at <= until_ns else 0
        else:
            made += tokens * max(min(at, until_ns) - max(before, after_ns), 0) / (at - before)
        before = at
    return made * request.output_tokens / told
