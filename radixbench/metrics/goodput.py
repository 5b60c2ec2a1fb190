"""Goodput: the requests per second whose users were served as fast as promised.

A request is good when it met every target (its figure is at most the target), as vLLM's tool counts. A failed
request missed; so did one with impossible stamps. An answer of one token, or of one event, has no gap between
tokens that could be too long: it meets a target of pace, as there.
"""

from __future__ import annotations

from radixbench.metrics import latency
from radixbench.metrics.answers import Answers
from radixbench.metrics.definition import Measured
from radixbench.metrics.figure import RunFigure
from radixbench.metrics.throughput import window
from radixbench.records import RequestRecord
from radixbench.scenario.model import GoodputSpec
from radixbench.stats.sample import Absent

MS_PER_S = 1000.0
NO_TARGET = Absent("no --goodput target was given")


def goodput(answers: Answers) -> Measured:
    """Requests per second, from the run's first send to its last token, that met every target."""
    good, length = good_requests(answers), window(answers)
    if isinstance(good, Absent):
        return Measured(good, 0)
    if isinstance(length, Absent):
        return Measured(length, 0)
    return Measured(good / length, len(answers.timed))


def goodput_share(answers: Answers) -> Measured:
    """Requests that met every target / requested ones."""
    good = good_requests(answers)
    if isinstance(good, Absent):
        return Measured(good, 0)
    if not answers.run.requested:
        return Measured(Absent(answers.why_none), 0)
    return Measured(good / answers.run.requested, answers.run.requested)


def asked(figure: RunFigure) -> bool:
    """Whether anybody set a target: without one there is no row to compare."""
    return figure.reason != NO_TARGET.reason


def met(request: RequestRecord, targets: GoodputSpec) -> dict[str, bool]:
    """Whether a timed request met each target, by the target's name."""
    figures = {
        "ttft": latency.ttft(request),
        "tpot": latency.tpot(request) or 0.0,
        "e2el": latency.e2e(request),
    }
    if targets.itl is not None:
        figures["itl"] = mean_gap(request) or 0.0
    return {name: figures[name] <= target / MS_PER_S for name, target in targets.targets.items()}


def mean_gap(request: RequestRecord) -> float | None:
    """The mean of a timed request's gaps between tokens, in seconds; ``None`` without any."""
    gaps = latency.itl(request)
    return sum(gaps) / len(gaps) if gaps else None


def good_requests(answers: Answers) -> int | Absent:
    """How many requests met every target, or why that isn't known."""
    targets = answers.goodput
    if not targets:
        return NO_TARGET
    judged = [good(request, targets) for request in answers.timed]
    unknown = judged.count(None)
    if unknown:
        return Absent(f"output tokens unknown for {unknown} of {len(judged)} requests: no TPOT")
    return judged.count(True)


def good(request: RequestRecord, targets: GoodputSpec) -> bool | None:
    """Whether a timed request met every target; ``None`` where its pace is unknown."""
    if targets.tpot is not None and request.output_tokens is None:
        return None
    return all(met(request, targets).values())
