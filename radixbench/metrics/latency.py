"""Latencies as the client saw them, in seconds.

Every clock starts when the request was due: in a closed loop that is when it was sent, in an open
loop waiting for the client counts too. Ends are arrivals of events that carried generated tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from operator import lt, sub

import numpy as np

from radixbench.metrics.answers import Answers
from radixbench.metrics.definition import Measured
from radixbench.records import RequestRecord
from radixbench.stats.quantile import quantile
from radixbench.stats.sample import Absent, Sample
from radixbench.units import NS_PER_S, seconds

_SINGLE = {1}
COALESCED_SHARE = 0.1
"""The share of chunks read together with the one before from which on no ITL is told."""


def ttft(request: RequestRecord) -> float:
    """Due time to the first event with a generated token."""
    return seconds(request.chunk_ns[0] - request.due_ns)


def e2e(request: RequestRecord) -> float:
    """Due time to the last event with a generated token."""
    return seconds(request.chunk_ns[-1] - request.due_ns)


def tpot(request: RequestRecord) -> float | None:
    """(E2EL − TTFT) / (output − 1); ``None`` for one token, an unknown count, or an answer in one event."""
    tokens = request.output_tokens
    if tokens is None or tokens < 2 or len(request.chunk_ns) < 2:
        return None
    return (e2e(request) - ttft(request)) / (tokens - 1)


def itl(request: RequestRecord) -> list[float]:
    """Gaps between generated tokens: an event of k tokens closes k equal gaps; the first event none.

    Events that were read at one go carry one stamp and count as one event: how they were spaced is unknown.
    """
    stamps = request.chunk_ns
    if set(request.chunk_tokens) == _SINGLE and all(map(lt, stamps, stamps[1:])):  # as most answers come
        return [seconds(gap) for gap in map(sub, stamps[1:], stamps)]
    events: dict[int, int] = {}
    for at, tokens in zip(request.chunk_ns, request.chunk_tokens, strict=True):
        if tokens > 0:
            events[at] = events.get(at, 0) + tokens
    gaps: list[float] = []
    arrivals = list(events)
    for last, at in pairwise(arrivals):
        gaps.extend([seconds(at - last) / events[at]] * events[at])
    return gaps


def ttft_quantile(answers: Answers, q: float) -> Measured:
    """A quantile of TTFT over the run's requests."""
    return _quantile((ttft(request) for request in answers.timed), q, answers.why_none)


def e2e_quantile(answers: Answers, q: float) -> Measured:
    """A quantile of E2EL over the run's requests."""
    return _quantile((e2e(request) for request in answers.timed), q, answers.why_none)


def tpot_quantile(answers: Answers, q: float) -> Measured:
    """A quantile of TPOT over the run's requests that have one."""
    times = (tpot(request) for request in answers.timed)
    why = "no answer has 2 or more tokens in 2 or more events" if answers.timed else answers.why_none
    return _quantile((time for time in times if time is not None), q, why)


def itl_quantile(answers: Answers, q: float) -> Measured:
    """A quantile of ITL over all gaps of the run, one per token; none where reads coalesced."""
    coalesced = spacing_unknown(answers)
    if coalesced is not None:
        return Measured(coalesced, 0)
    gaps = _gaps(answers)
    why = "no answer came in 2 or more events" if answers.timed else answers.why_none
    return _quantile(gaps, q, why)


def _gaps(answers: Answers) -> Sequence[float]:
    """The run's gaps, all at once where every answer came token by token, as most runs' do."""
    chunks = [request.chunk_ns for request in answers.timed]
    if not chunks or any(set(request.chunk_tokens) != _SINGLE for request in answers.timed):
        return [gap for request in answers.timed for gap in itl(request)]
    ends = np.cumsum([len(own) for own in chunks])
    stamps = np.fromiter(chain.from_iterable(chunks), dtype=np.int64, count=int(ends[-1]))
    spans = np.delete(np.diff(stamps), ends[:-1] - 1)
    if np.any(spans <= 0):
        return [gap for request in answers.timed for gap in itl(request)]
    return array("d", (spans / NS_PER_S).tobytes())


def spacing_unknown(answers: Answers) -> Absent | None:
    """Why no ITL is told where too many events were read at one go; ``None`` where it may be."""
    client = answers.run.client
    if client is None or client.coalesced_chunks <= COALESCED_SHARE * client.chunks:
        return None
    return Absent(
        f"{client.coalesced_chunks:,} of {client.chunks:,} chunks were read together with the one before (more"
        f" than {COALESCED_SHARE:.0%}): their spacing is unknown"
    )


def lateness_quantile(answers: Answers, q: float) -> Measured:
    """A quantile of how long after its due time a request was sent; 0 in a closed loop."""
    return _quantile(
        (seconds(request.send_ns - request.due_ns) for request in answers.timed), q, answers.why_none
    )


def _quantile(values: Iterable[float], q: float, why_none: str) -> Measured:
    sample = Sample(array("d", values))
    if not sample.values:
        return Measured(Absent(why_none), 0)
    return Measured(quantile(sample, q), len(sample))
