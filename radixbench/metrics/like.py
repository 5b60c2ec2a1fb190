"""Like requests: what may be compared within a run, though its requests differ.

A miss computes its whole prompt and a hit a few tokens, later turns are longer than earlier ones. Requests are of one
kind when as many of their tokens were computed, and their prompts are as long, to within a quarter. A request's figure
over the median of its kind tells whether it was fast or slow for what it asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from radixbench.metrics import latency
from radixbench.metrics.answers import Answers, once, prompt_length
from radixbench.metrics.cache import reported_cached
from radixbench.records import RequestRecord
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.units import Tokens

FEWEST = 8
"""Kinds with fewer requests have no median that any of them could be held against."""

_FINE = 32.0
_WIDTH = math.log(1.25)


class Like(NamedTuple):
    """A request's figure, and how it compares: ``ratio`` is over its kind's median. ``computed`` tokens weren't cached."""

    request: RequestRecord
    value: float
    ratio: float
    computed: int

    @property
    def hit(self) -> bool:
        """Whether at least half of the prompt came from the cache."""
        return 2 * self.computed <= prompt_length(self.request)


Kind = tuple[int, ...]
Sorted = Sequence[tuple[RequestRecord, Tokens, Kind]]
"""Timed requests whose kind is known, each with its computed tokens."""


@once
def by_kind(answers: Answers) -> Sorted:
    """The timed requests by what was computed of how long a prompt; none where a cache was on and nobody tells its hits."""
    computed = computed_tokens(answers)
    found = []
    for request in answers.timed:
        own = computed.get(request.prompt)
        if own is not None:
            found.append((request, own, (size_class(own), size_class(prompt_length(request)))))
    return found


def like_requests(
    requests: Sorted, figure: Callable[[RequestRecord], float | None], *, by_output: bool = False
) -> tuple[Like, ...]:
    """Those that have the figure and ``FEWEST`` or more of their kind, in the order given.

    ``by_output``: the answers of a kind are as long, too.
    """
    kinds: dict[Kind, list[tuple[int, float]]] = {}
    for place, (request, _, kind) in enumerate(requests):
        value = figure(request)
        if value is not None:
            own = (*kind, size_class(request.output_tokens or 0)) if by_output else kind
            kinds.setdefault(own, []).append((place, value))
    found: list[tuple[int, float, float]] = []
    for members in kinds.values():
        middle = median(Sample([value for _, value in members]))
        if len(members) >= FEWEST and not isinstance(middle, Absent) and middle > 0.0:
            found += [(place, value, value / middle) for place, value in members]
    return tuple(
        Like(requests[place][0], value, ratio, requests[place][1]) for place, value, ratio in sorted(found)
    )


@once
def like_waits(answers: Answers) -> tuple[Like, ...]:
    """TTFT of like requests: what drift and outliers both look at."""
    return like_requests(by_kind(answers), latency.ttft)


def computed_tokens(answers: Answers) -> dict[int, int]:
    """Prompt tokens that weren't cached, by prompt number; without a cache all of them."""
    cached = reported_cached(answers)
    if isinstance(cached, Absent):
        if answers.run.mode == "on":
            return {}
        cached = (0,) * len(answers.counted)
    return {
        request.prompt: prompt_length(request) - own
        for request, own in zip(answers.counted, cached, strict=True)
    }


@lru_cache(maxsize=1 << 16)
def size_class(tokens: int) -> int:
    """Lengths that are alike to within a quarter, or a few tokens, share a number."""
    return round(math.log(tokens + _FINE) / _WIDTH)
