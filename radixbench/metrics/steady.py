"""The steady part of a run by itself: how long it is, and what requests saw within it.

A run's figures are of the whole of it, with a first wave that waits for itself and an end that empties. Where the
steady part tells otherwise, the run was too short for its figures to be those of a server in constant use.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.metrics import latency
from radixbench.metrics.answers import Answers, once
from radixbench.metrics.phases import steady_window
from radixbench.metrics.throughput import window
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.units import seconds

FEWEST = 8
"""Requests below which the steady part has no median."""


@dataclass(frozen=True, slots=True)
class SteadyPart:
    """``share`` of the run's window was steady, ``requests`` had their first token in it.

    ``ttft_p50`` is of those, ``tpot_p50`` of those that ended in it as well, in seconds; ``None`` for fewer than 8.
    """

    seconds: float
    share: float
    requests: int
    ttft_p50: float | None
    tpot_p50: float | None


@once
def steady_part(answers: Answers) -> SteadyPart | Absent:
    """The figures of the steady part; absent, with the reason, in a run that has none."""
    between, whole = steady_window(answers), window(answers)
    if isinstance(between, Absent):
        return between
    if isinstance(whole, Absent):
        return whole
    start, end = between
    begun = [one for one in answers.timed if start < one.chunk_ns[0] <= end]
    paces = [latency.tpot(one) for one in begun if one.chunk_ns[-1] <= end]
    length = seconds(end - start)
    return SteadyPart(
        seconds=length,
        share=length / whole,
        requests=len(begun),
        ttft_p50=_median([latency.ttft(one) for one in begun]),
        tpot_p50=_median([pace for pace in paces if pace is not None]),
    )


def _median(values: list[float]) -> float | None:
    if len(values) < FEWEST:
        return None
    middle = median(Sample(values))
    return None if isinstance(middle, Absent) else middle
