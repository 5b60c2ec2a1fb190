"""Hits that no answer tells of, betrayed by the arm without reuse: it shows how fast this server computes.

Everything whose first token has come was computed or found since the run began. What the cache can't have
held, for all that is known, must have been computed; an arm with reuse that did that several times faster than the
arm without ever computed had more in its cache. Counted from a run's first send to each of its first tokens,
and the fastest stretch of either arm taken, so that pauses, queues and batches are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from radixbench.capture.model import Run
from radixbench.findings.words import duration
from radixbench.metrics.answers import prompt_length, sort_out
from radixbench.metrics.cache import page_size
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.reuse import expected_reuse
from radixbench.records import RequestRecord
from radixbench.units import Seconds, Tokens, seconds

SPEED_UP = 3.0
"""How many times faster than the other arm ever computed a run must seem to compute to be accused."""

_LEAST_GAIN_S = 0.01


class Measured(Protocol):
    """A run with its summary."""

    @property
    def run(self) -> Run: ...

    @property
    def summary(self) -> RunSummary: ...


def untold_hits(one: Measured, other: Measured) -> str | None:
    """Why the arm with reuse of two runs of the same prompts must have found more than it can have held.

    ``None`` where nothing speaks for it, where every answer tells of its cached tokens, or where not one arm is off.
    """
    if {one.run.mode, other.run.mode} != {"on", "off"}:
        return None
    on, off = (one, other) if one.run.mode == "on" else (other, one)
    if not on.summary.cache.unknown or off.summary.cache.cached_tokens:
        return None
    stretches = _stretches(on.run, _least_computed(on.run))
    full = _stretches(off.run, {request.prompt: prompt_length(request) for request in off.run.requests})
    speed = max((tokens / length for tokens, length in (*full, *_single(off.run))), default=0.0)
    if speed <= 0.0:
        return None
    tokens, length = max(stretches, key=lambda one: one[0] / one[1], default=(0, 1.0))
    needed = tokens / speed
    if needed <= SPEED_UP * length or needed - length <= _LEAST_GAIN_S:
        return None
    return (
        f"{tokens:,} tokens that a {on.run.protocol.declared} cache doesn't hold took {duration(length)} with the cache"
        f" on, where the arm without it needs {duration(needed)} at its fastest: they were found, and nobody tells"
    )


def _least_computed(run: Run) -> dict[int, Tokens]:
    """By prompt number: what a request that says nothing must have computed, or one that tells has."""
    reuse = expected_reuse(run, page_size(run))
    computed = {}
    for request in run.requests:
        found = reuse[request.prompt].high if request.cached_tokens is None else request.cached_tokens
        computed[request.prompt] = max(prompt_length(request) - found, 0)
    return computed


def _single(run: Run) -> Iterator[tuple[Tokens, Seconds]]:
    """Each prompt by itself, from its sending to its first token: it was computed in no more than that time."""
    for request in sort_out(run).timed:
        yield prompt_length(request), seconds(max(request.chunk_ns[0] - request.send_ns, 1))


def _stretches(run: Run, computed: dict[int, Tokens]) -> list[tuple[Tokens, Seconds]]:
    """Tokens computed since the run's first send, and the time since then, at each first token."""
    timed: Sequence[RequestRecord] = sorted(sort_out(run).timed, key=lambda one: one.chunk_ns[0])
    if not timed:
        return []
    start = min(request.send_ns for request in run.requests)
    found, tokens = [], 0
    for request in timed:
        tokens += computed[request.prompt]
        found.append((tokens, seconds(max(request.chunk_ns[0] - start, 1))))
    return found
