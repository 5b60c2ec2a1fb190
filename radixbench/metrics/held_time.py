"""A counter of the driver's that only grows, as the time it counted in any window.

Readings come every few hundred milliseconds; in between the counter is taken to grow evenly. A fall is a wrap of a
32-bit counter where that makes a step no longer than the time that passed; any other fall, and a step much longer
than that time, is a reset: what the counter did in that stretch nobody knows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from radixbench.units import NS_PER_MS, NS_PER_S

WRAP = 2**32
_WRAP_EXCESS = 1.1
_WRAP_SLACK_NS = 50 * NS_PER_MS
_LATEST_NS = 5 * NS_PER_S
"""How far a counter that the driver brings up to date in lumps may run ahead of the clock."""


class Held(NamedTuple):
    """Of a window: the time counted, the time for which the counter tells at all, and its resets."""

    held_ns: float
    told_ns: float
    resets: int


@dataclass(frozen=True, slots=True)
class TimeCounter:
    """Moments, what was counted and how much time is told of up to each of them, and when resets ended."""

    times: tuple[int, ...]
    held: tuple[int, ...]
    told: tuple[int, ...]
    resets: tuple[int, ...]

    def between(self, start_ns: int, end_ns: int) -> Held:
        """What the counter says of a window; 0 of 0 ns where it says nothing."""
        if end_ns <= start_ns or len(self.times) < 2:
            return Held(0.0, 0.0, 0)
        held_a, told_a = self._up_to(start_ns)
        held_b, told_b = self._up_to(end_ns)
        resets = bisect_right(self.resets, end_ns) - bisect_right(self.resets, start_ns)
        return Held(held_b - held_a, told_b - told_a, resets)

    def _up_to(self, at_ns: int) -> tuple[float, float]:
        place = bisect_right(self.times, at_ns)
        if place == 0:
            return 0.0, 0.0
        if place == len(self.times):
            return float(self.held[-1]), float(self.told[-1])
        before, after = self.times[place - 1], self.times[place]
        part = (at_ns - before) / (after - before)
        return _between(self.held, place, part), _between(self.told, place, part)


def _between(totals: tuple[int, ...], place: int, part: float) -> float:
    return totals[place - 1] + part * (totals[place] - totals[place - 1])


def time_counter(readings: Iterable[tuple[int, int]]) -> TimeCounter:
    """The counter behind (moment, value) pairs in nanoseconds; two readings of one moment count once."""
    known = sorted(dict(readings).items())
    narrow = any(_wraps(before, after) for before, after in pairwise(known))
    steps = [_step(before, after, narrow=narrow) for before, after in pairwise(known)]
    spans = [after[0] - before[0] for before, after in pairwise(known)]
    return TimeCounter(
        times=tuple(at for at, _ in known),
        held=tuple(accumulate((0 if step is None else step for step in steps), initial=0)),
        told=tuple(
            accumulate(
                (0 if step is None else span for step, span in zip(steps, spans, strict=True)), initial=0
            )
        ),
        resets=tuple(after[0] for after, step in zip(known[1:], steps, strict=True) if step is None),
    )


def _step(before: tuple[int, int], after: tuple[int, int], *, narrow: bool) -> int | None:
    """What was counted between two readings; ``None`` where that can't be told."""
    span, step = after[0] - before[0], after[1] - before[1]
    if narrow and span >= WRAP:  # it may have gone round more than once
        return None
    if step < 0:
        return step + WRAP if _wraps(before, after) else None
    return step if step <= span + _LATEST_NS else None


def _wraps(before: tuple[int, int], after: tuple[int, int]) -> bool:
    span, step = after[0] - before[0], after[1] - before[1]
    return step < 0 and before[1] < WRAP and step + WRAP <= _WRAP_EXCESS * span + _WRAP_SLACK_NS
