"""Did the hit rate fall, with time or with the number of requests at work?

Windows are joined into at most ten groups of about equally many prompt tokens. The rate fell where every later group lies more than ten points
below every group of a stretch right before it, so that a single odd group is no fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.model import Concurrency, Window

_GROUPS = 10
_POINTS = 0.10
_STEEP = 0.20
_LEAST_HIGH, _LEAST_LOW = 0.2, 0.1
_LEAST_LINES = 8


class Side(NamedTuple):
    """What the windows from ``first`` to ``last`` hold."""

    cached: int
    new: int
    first: Window
    last: Window

    @property
    def rate(self) -> float:
        """Cached of all prompt tokens."""
        return self.cached / (self.cached + self.new)


class Fall(NamedTuple):
    """From ``high`` to ``low``, which lasts to the end. ``between`` are the windows from the last of the one to the first of the other, ``later`` those after."""

    high: Side
    low: Side
    between: tuple[Window, ...]
    later: tuple[Window, ...]


class Steepness(NamedTuple):
    """Hit rates with fewer than ``below`` requests at work, and with at least as many."""

    below: int
    low_load: float
    high_load: float


class _Group(NamedTuple):
    windows: tuple[Window, ...]
    new: int
    cached: int

    @property
    def rate(self) -> float:
        return self.cached / (self.cached + self.new)

    @property
    def tokens(self) -> int:
        return self.cached + self.new


def fall_over_time(windows: Sequence[Window]) -> Fall | None:
    """The largest lasting fall by more than ten points."""
    groups = _groups([window for window in windows if window.new_tokens + window.cached_tokens])
    if sum(window.prefill_batches for window in windows) < _LEAST_LINES:
        return None
    whole = sum(group.tokens for group in groups)
    best: Fall | None = None
    for place in range(1, len(groups)):
        low = groups[place:]
        floor = max(group.rate for group in low) + _POINTS
        first = place
        while first > 0 and groups[first - 1].rate > floor:
            first -= 1
        high = groups[first:place]
        if _tokens(high) < _LEAST_HIGH * whole or _tokens(low) < _LEAST_LOW * whole:
            continue
        fall = _fall(windows, _side(high), _side(low))
        if best is None or fall.high.rate - fall.low.rate > best.high.rate - best.low.rate:
            best = fall
    return best


def fall_with_concurrency(levels: Sequence[Concurrency]) -> Steepness | None:
    """The level that parts the hit rates most, if by more than twenty points and with enough tokens on both sides."""
    whole = sum(level.new_tokens + level.cached_tokens for level in levels)
    best: Steepness | None = None
    for place in range(1, len(levels)):
        low, high = _level(levels[:place]), _level(levels[place:])
        if min(low.tokens, high.tokens) < _LEAST_HIGH * whole or not low.tokens or not high.tokens:
            continue
        if low.rate - high.rate > (_STEEP if best is None else best.low_load - best.high_load):
            best = Steepness(levels[place - 1].below, low.rate, high.rate)
    return best


def _groups(windows: Sequence[Window]) -> list[_Group]:
    each = sum(window.new_tokens + window.cached_tokens for window in windows) / _GROUPS
    groups: list[_Group] = []
    taken: list[Window] = []
    new = cached = 0
    for window in windows:
        taken.append(window)
        new, cached = new + window.new_tokens, cached + window.cached_tokens
        if new + cached >= each:
            groups.append(_Group(tuple(taken), new, cached))
            taken, new, cached = [], 0, 0
    if taken:
        groups.append(_Group(tuple(taken), new, cached))
    return groups


def _level(levels: Sequence[Concurrency]) -> _Group:
    return _Group((), sum(one.new_tokens for one in levels), sum(one.cached_tokens for one in levels))


def _tokens(groups: Sequence[_Group]) -> int:
    return sum(group.tokens for group in groups)


def _side(groups: Sequence[_Group]) -> Side:
    cached, new = sum(group.cached for group in groups), sum(group.new for group in groups)
    return Side(cached, new, groups[0].windows[0], groups[-1].windows[-1])


def _fall(windows: Sequence[Window], high: Side, low: Side) -> Fall:
    change, settled = high.last.start_s, low.first.start_s
    return Fall(
        high,
        low,
        tuple(one for one in windows if change <= one.start_s <= settled),
        tuple(one for one in windows if one.start_s > settled),
    )
