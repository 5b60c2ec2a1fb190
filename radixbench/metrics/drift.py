"""Drift within a run: like requests that take longer and longer, or ever shorter, as it goes on.

A card that warms up, a queue that grows, a neighbour that begins to work: the mean over such a run is of no state the
server was in. Each figure is held against its kind's median and tested for a trend over the run's time, with a doubt
that grows as neighbours resemble each other. The first wave of a closed loop, which waits for itself, and its emptying end
stay out, and so does a cache that fills: hits that wait for ever fewer misses are what it is for.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from radixbench.metrics import latency
from radixbench.metrics.answers import Answers, once, prompt_length
from radixbench.metrics.like import FEWEST, Like, Sorted, by_kind, like_requests, like_waits, size_class
from radixbench.metrics.phases import settled_window
from radixbench.records import StepRecord
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.stats.trend import trend
from radixbench.units import seconds

LEAST_CHANGE = 0.10
"""The change over the run, as a share of the median, from which on drift is told."""

FALSE_ALARMS = 0.01
"""Of runs that don't drift at most this share is accused of it by chance, all figures together."""

MIN_POINTS = 48
"""Below these, waits that resemble their neighbours can't be told from a trend."""

_FIGURES = 3
_WAITS = 2.0
"""By up to so many times what is computed falls, waits for others fall with it."""


DriftFigure = Literal["ttft", "e2e", "tpot", "step"]
Points = Sequence[tuple[int, float, float]]
"""Moment (ns), figure (s), figure over its kind's median."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One figure's trend over a run: from ``first`` to ``last`` in seconds, by ``change`` of its median.

    ``step`` is the server's time for a decode step. ``p`` allows for neighbours that resemble each other; ``n`` values.
    ``backlog`` are the requests due and not yet ended, at the beginning and end of their trend, where they grew.
    """

    figure: DriftFigure
    change: float
    first: float
    last: float
    p: float
    n: int
    backlog: tuple[float, float] | None = None

    @property
    def found(self) -> bool:
        """Large enough to matter and too orderly for chance."""
        return abs(self.change) >= LEAST_CHANGE and self.p < FALSE_ALARMS / _FIGURES


@once
def drifts(answers: Answers) -> tuple[Drift, ...] | Absent:
    """The trends of TTFT, E2E latency and decode pace over the run, found or not; absent for a run too short for any."""
    between = settled_window(answers)
    if isinstance(between, Absent):
        return between
    requests = by_kind(answers)
    found = [
        trend_of("ttft", _points(like_waits(answers), between)),
        trend_of("e2e", _points(like_requests(requests, latency.e2e, by_output=True), between)),
        trend_of("step", _steps(answers.run.steps, between))
        or trend_of("tpot", _points(like_requests(requests, latency.tpot), between)),
    ]
    told = [one for one in found if one is not None]
    if not told:
        return Absent(f"fewer than {MIN_POINTS} like requests between the first wave and the last")
    explained = _WAITS * _filled(requests, between)
    told = [one for one in told if one.figure == "step" or one.change > 0.0 or -one.change > explained]
    backlog = _backlog(answers, between)
    return tuple(replace(one, backlog=backlog) if one.change > 0.0 else one for one in told)


def trend_of(figure: DriftFigure, points: Points) -> Drift | None:
    """The trend of a figure's ratios over time; ``None`` for too few of them."""
    if len(points) < MIN_POINTS:
        return None
    found = trend([seconds(at) for at, _, _ in points], [ratio for _, _, ratio in points])
    middle = median(Sample([value for _, value, _ in points]))
    if isinstance(found, Absent) or isinstance(middle, Absent):
        return None
    half = found.change / 2.0
    first, last = max(middle * (1.0 - half), 0.0), max(middle * (1.0 + half), 0.0)
    return Drift(figure, found.change, first, last, found.p_alike, found.n)


def _points(likes: Iterable[Like], between: tuple[int, int]) -> list[tuple[int, float, float]]:
    """Those that were sent within the window."""
    start, end = between
    return [
        (one.request.due_ns, one.value, one.ratio) for one in likes if start <= one.request.send_ns <= end
    ]


def _steps(steps: Sequence[StepRecord], between: tuple[int, int]) -> list[tuple[int, float, float]]:
    """Decode steps over the median of those with as many requests and about as many tokens held."""
    start, end = between
    kinds: dict[tuple[int, int, bool], list[StepRecord]] = {}
    for step in steps:
        if step.phase == "decode" and start <= step.start_ns <= end:
            kinds.setdefault((step.running_req, size_class(step.held_tokens), step.graph), []).append(step)
    points: list[tuple[int, float, float]] = []
    for members in kinds.values():
        times = [seconds(step.end_ns - step.start_ns) for step in members]
        middle = median(Sample(times))
        if len(members) < FEWEST or isinstance(middle, Absent) or middle <= 0.0:
            continue
        points += [(step.start_ns, time, time / middle) for step, time in zip(members, times, strict=True)]
    return points


def _filled(requests: Sorted, between: tuple[int, int]) -> float:
    """By how much the computed share of prompts falls over the window, as a share of its mean; 0 where it rises.

    Twice as much as from the window's first half to its second.
    """
    start, end = between
    middle = (start + end) / 2
    halves: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
    for request, computed, _ in requests:
        if start <= request.send_ns <= end:
            halves[request.send_ns > middle].append((computed, prompt_length(request)))
    early, late = (_share(halves[half]) for half in (False, True))
    if early is None or late is None or early <= late:
        return 0.0
    return 4.0 * (early - late) / (early + late)


def _share(counts: Sequence[tuple[int, int]]) -> float | None:
    whole = sum(prompt for _, prompt in counts)
    return sum(own for own, _ in counts) / whole if whole else None


def _backlog(answers: Answers, between: tuple[int, int]) -> tuple[float, float] | None:
    """Requests due and not ended, at the beginning and end of their trend over an open loop's window, if they grow."""
    sent = sorted(answers.run.requests, key=lambda one: one.due_ns)
    if all(one.due_ns == one.send_ns for one in sent):
        return None
    ends = sorted(one.end_ns for one in sent)
    moments = [one.due_ns for one in sent if between[0] <= one.due_ns <= between[1]]
    dues = [one.due_ns for one in sent]
    waiting = [float(bisect_right(dues, at) - bisect_right(ends, at)) for at in moments]
    found = trend([seconds(at) for at in moments], waiting)
    if isinstance(found, Absent) or found.change < LEAST_CHANGE or found.p_alike >= FALSE_ALARMS:
        return None
    middle, half = statistics.median(waiting), found.change / 2.0
    return max(middle * (1.0 - half), 0.0), middle * (1.0 + half)
