"""The stretches of time in which a rank was at work, and what was done in each.

A gap between two lines parts two stretches where it is long and the later line found nothing running and nothing waiting.
How long is long depends on the log's own rhythm, known at its end only: every gap above ten seconds is a
candidate until then. Where lines tell exactly from when to when they worked, any time without work is idle by fact.
Flushes and restarts part stretches whatever the gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from radixbench.metrics.log_summary.sums import NOTHING, Moment, minus, plus

SHORTEST_IDLE_S = 10.0
STAMP_S, FINE_S = 1.0, 0.1
"""Shorter pauses between exact times are left out of the time at work, but part no stretches: by how fine the stamps are."""

_RHYTHMS = 5
_INTERVALS = 1.5
_MOST, _FEW = 400, 200
_LONGEST_GAP = 86_400


class Cut(NamedTuple):
    """An event that parts stretches."""

    name: str
    at_s: float


class Rest(NamedTuple):
    """Lines that are no work, from ``at_s`` on: what they added."""

    at_s: float
    added: Moment


@dataclass(slots=True)
class Stretch:
    """From ``start_s`` to ``end_s``; ``gap_s`` is the idle time before it, ``None`` where an event began it; ``rest`` fell in it."""

    start_s: float
    end_s: float
    busy_s: float = 0.0
    added: Moment = NOTHING
    gap_s: float | None = None
    rest: Rest | None = None

    def take(self, later: Stretch, gap_s: float) -> None:
        """The next stretch, and ``gap_s`` of work before it, belong to this one after all."""
        self.busy_s += later.busy_s + gap_s
        self.end_s = max(self.end_s, later.end_s)
        self.added = plus(self.added, later.added)
        if later.rest is not None:
            self.added = plus(self.added, later.rest.added)


class Stretches:
    """Grows by moments in the order of the lines. ``added`` below is the rank's ``Sums`` at that moment.

    ``exact_s``: the lines tell from when to when they worked, and longer pauses part stretches; 0 where they don't.
    """

    __slots__ = ("_base", "_closed", "_gaps", "_open", "_rest", "_unplaced", "cuts", "exact_s")

    def __init__(self) -> None:
        self.exact_s = 0.0
        self.cuts: list[Cut] = []
        self._closed: list[Stretch] = []
        self._open: Stretch | None = None
        self._base = NOTHING
        self._rest: Rest | None = None
        self._unplaced: str | None = None
        self._gaps: Counter[int] = Counter()

    def go_on(self, gap_s: float, at_s: float) -> None:
        """Work went on from the line before, ``gap_s`` seconds ago, to this one."""
        assert self._open is not None
        self._open.busy_s += gap_s
        self._open.end_s = at_s
        self._note(gap_s)

    def pause(self, at_s: float) -> None:
        """Nothing was done up to ``at_s``, but for too short a time to part anything."""
        assert self._open is not None
        self._open.end_s = at_s

    def last(self, spell_s: float, at_s: float) -> None:
        """Work went on for ``spell_s`` seconds up to ``at_s``, over many lines; their gaps come with ``note_gaps``."""
        assert self._open is not None
        self._open.busy_s += spell_s
        self._open.end_s = at_s

    def note_gaps(self, gaps: npt.NDArray[np.float64]) -> None:
        """Gaps of a second or more between lines at work."""
        seconds, counts = np.unique(np.minimum(gaps, _LONGEST_GAP).astype(np.int64), return_counts=True)
        self._gaps.update(dict(zip(seconds.tolist(), counts.tolist(), strict=True)))

    def part(self, at_s: float, gap_s: float | None, added: Moment, rest: Rest | None = None) -> None:
        """A line at ``at_s`` begins another stretch, after ``gap_s`` idle seconds; ``None``: whatever the gap was.

        ``rest``: lines since the last work that were none; its ``added`` is the ``Sums`` before them.
        """
        self.close(added, rest)
        self._open = Stretch(at_s, at_s, gap_s=gap_s, rest=self._rest)
        self._rest = None
        if self._unplaced is not None:
            self._cut(Cut(self._unplaced, at_s))
        if gap_s is not None:
            self._note(gap_s)

    def reach_back(self, start_s: float) -> None:
        """Work that ends now began at ``start_s``, before the present stretch: it covers what lies between."""
        one = self._open
        assert one is not None
        if start_s >= one.start_s:
            return
        one.busy_s, one.start_s = one.end_s - start_s, start_s
        while self._closed and self._closed[-1].end_s >= start_s:
            earlier = self._closed.pop()
            own = min(earlier.busy_s, max(start_s - earlier.start_s, 0.0))
            one.busy_s += own
            one.start_s = min(earlier.start_s, one.start_s)
            one.gap_s, one.rest = earlier.gap_s, earlier.rest
            self._base = minus(self._base, earlier.added)
        if self._closed and one.gap_s is not None:
            one.gap_s = one.start_s - self._closed[-1].end_s

    def cut(self, name: str, at_s: float | None, added: Moment, rest: Rest | None = None) -> None:
        """The event ``name`` ends the present stretch; the next line begins another."""
        self.close(added, rest)
        if at_s is None:
            self._unplaced = name
        else:
            self._cut(Cut(name, at_s))

    def close(self, added: Moment, rest: Rest | None = None) -> None:
        """The present stretch ends, with its last work."""
        worked = added if rest is None else rest.added
        if self._open is not None:
            self._closed.append(_with(self._open, minus(worked, self._base)))
            self._open = None
            if len(self._closed) > _MOST:
                self._closed = _fewer(self._closed)
        if rest is not None:
            self._rest = _joined(self._rest, Rest(rest.at_s, minus(added, worked)))
        self._base = added

    @property
    def open(self) -> bool:
        """A stretch has begun, and nothing ended it."""
        return self._open is not None

    def idle_after_s(self, lines: int, interval_s: float = 0.0) -> float:
        """Longer gaps are idle. ``interval_s``: each line tells of so many seconds before it."""
        if interval_s:
            return _INTERVALS * interval_s
        return self.exact_s or max(SHORTEST_IDLE_S, _RHYTHMS * self._median_gap(lines))

    def all(self, added: Moment, rest: Rest | None, lines: int, interval_s: float = 0.0) -> list[Stretch]:
        """Every stretch so far, gaps that are none for a log of this rhythm closed again."""
        threshold = self.idle_after_s(lines, interval_s)
        stretches = list(self._closed)
        if self._open is not None:
            worked = added if rest is None else rest.added
            stretches.append(_with(self._open, minus(worked, self._base)))
        kept: list[Stretch] = []
        for stretch in stretches:
            if kept and stretch.gap_s is not None and stretch.gap_s <= threshold:
                kept[-1].take(stretch, 0.0 if self.exact_s else stretch.gap_s)
            else:
                kept.append(_with(stretch, stretch.added))
        if interval_s:
            _lengthen(kept, interval_s)
        return kept

    def last_rest(self, added: Moment, rest: Rest | None) -> Rest | None:
        """Lines after the last work that were none."""
        return self._rest if rest is None else _joined(self._rest, Rest(rest.at_s, minus(added, rest.added)))

    def _median_gap(self, lines: int) -> float:
        """Of all gaps between neighbouring lines; those under a second are counted by what is missing."""
        longer = sum(self._gaps.values())
        steps = max(lines - 1, longer)
        rank = steps // 2 - (steps - longer)
        gaps = sorted(self._gaps)
        counted = accumulate(self._gaps[gap] for gap in gaps)
        return next((float(gap) for gap, upto in zip(gaps, counted, strict=True) if 0 <= rank < upto), 0.0)

    def _note(self, gap: float) -> None:
        if gap >= 1.0:
            self._gaps[min(int(gap), _LONGEST_GAP)] += 1

    def _cut(self, cut: Cut) -> None:
        self._unplaced = None
        self.cuts.append(cut)
        if len(self.cuts) > _MOST:
            self.cuts = [*self.cuts[: _FEW // 2], *self.cuts[-_FEW // 2 :]]


def _with(stretch: Stretch, added: Moment) -> Stretch:
    return Stretch(stretch.start_s, stretch.end_s, stretch.busy_s, added, stretch.gap_s, stretch.rest)


def _lengthen(stretches: list[Stretch], interval_s: float) -> None:
    """Let each begin with the interval that its first line tells of."""
    ended = -float("inf")
    for stretch in stretches:
        stretch.start_s = min(max(stretch.start_s - interval_s, ended), stretch.start_s)
        ended = stretch.end_s


def _joined(one: Rest | None, later: Rest) -> Rest:
    return later if one is None else Rest(one.at_s, plus(one.added, later.added))


def _fewer(stretches: list[Stretch]) -> list[Stretch]:
    """Two hundred stretches, the shortest gaps closed. Busy time keeps leaving them out."""
    gaps = sorted(
        ((one.gap_s is None, one.gap_s or 0.0, place) for place, one in enumerate(stretches[1:], 1))
    )
    closing = {place for _, _, place in gaps[: len(stretches) - _FEW]}
    kept = [stretches[0]]
    for place, stretch in enumerate(stretches[1:], 1):
        if place in closing:
            kept[-1].take(stretch, 0.0)
        else:
            kept.append(stretch)
    return kept


def union(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Overlapping and touching intervals made one, in order."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
