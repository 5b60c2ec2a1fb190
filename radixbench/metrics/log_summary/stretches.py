"""The stretches of time in which a rank was at work, and what was done in each.

A gap between two lines parts two stretches where it is long and the later line found nothing running and nothing waiting.
How long is long depends on the log's own rhythm, known at its end only: every gap above ten seconds is a
candidate until then. Flushes and restarts part stretches whatever the gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from radixbench.metrics.log_summary.sums import NOTHING, Moment, minus, plus

SHORTEST_IDLE_S = 10.0
_RHYTHMS = 5
_MOST, _FEW = 400, 200
_LONGEST_GAP = 86_400


@dataclass(slots=True)
class Stretch:
    """From ``start_s`` to ``end_s``; ``gap_s`` is the idle time before it, ``None`` where an event began it."""

    start_s: float
    end_s: float
    busy_s: float = 0.0
    added: Moment = NOTHING
    gap_s: float | None = None
    opened_by: str | None = None

    def take(self, later: Stretch) -> None:
        """The next stretch, and the gap before it, belong to this one after all."""
        self.busy_s += later.busy_s + (later.gap_s or 0.0)
        self.end_s = max(self.end_s, later.end_s)
        self.added = plus(self.added, later.added)


class Stretches:
    """Grows by moments in the order of the lines. ``added`` below is the rank's ``Sums`` at that moment."""

    __slots__ = ("_base", "_closed", "_gaps", "_open", "_opened_by")

    def __init__(self) -> None:
        self._closed: list[Stretch] = []
        self._open: Stretch | None = None
        self._base = NOTHING
        self._opened_by: str | None = None
        self._gaps: Counter[int] = Counter()

    def go_on(self, gap_s: float, at_s: float) -> None:
        """Work went on from the line before, ``gap_s`` seconds ago, to this one."""
        assert self._open is not None
        self._open.busy_s += gap_s
        self._open.end_s = at_s
        self._note(gap_s)

    def last(self, spell_s: float, at_s: float) -> None:
        """Work went on for ``spell_s`` seconds up to ``at_s``, over many lines; their gaps come with ``note_gaps``."""
        assert self._open is not None
        self._open.busy_s += spell_s
        self._open.end_s = at_s

    def note_gaps(self, gaps: npt.NDArray[np.float64]) -> None:
        """Gaps of a second or more between lines at work."""
        seconds, counts = np.unique(np.minimum(gaps, _LONGEST_GAP).astype(np.int64), return_counts=True)
        self._gaps.update(dict(zip(seconds.tolist(), counts.tolist(), strict=True)))

    def part(self, at_s: float, gap_s: float | None, added: Moment) -> None:
        """A line at ``at_s`` begins another stretch, after ``gap_s`` idle seconds; ``None``: whatever the gap was."""
        self._close(added)
        self._open = Stretch(at_s, at_s, gap_s=gap_s, opened_by=self._opened_by)
        self._opened_by = None
        if gap_s is not None:
            self._note(gap_s)

    def cut(self, name: str, added: Moment) -> None:
        """The event ``name`` ends the present stretch; the next line begins another."""
        self._close(added)
        self._opened_by = name

    @property
    def open(self) -> bool:
        """A stretch has begun, and nothing ended it."""
        return self._open is not None

    def all(self, added: Moment, lines: int) -> list[Stretch]:
        """Every stretch so far, gaps that are none for a log of this rhythm closed again."""
        threshold = max(SHORTEST_IDLE_S, _RHYTHMS * self._median_gap(lines))
        stretches = list(self._closed)
        if self._open is not None:
            stretches.append(_with(self._open, minus(added, self._base)))
        kept: list[Stretch] = []
        for stretch in stretches:
            if kept and stretch.gap_s is not None and stretch.gap_s <= threshold:
                kept[-1].take(stretch)
            else:
                kept.append(_with(stretch, stretch.added))
        return kept

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

    def _close(self, added: Moment) -> None:
        if self._open is not None:
            self._closed.append(_with(self._open, minus(added, self._base)))
            self._open = None
            if len(self._closed) > _MOST:
                self._closed = _fewer(self._closed)
        self._base = added


def _with(stretch: Stretch, added: Moment) -> Stretch:
    return Stretch(stretch.start_s, stretch.end_s, stretch.busy_s, added, stretch.gap_s, stretch.opened_by)


def _fewer(stretches: list[Stretch]) -> list[Stretch]:
    """Two hundred stretches, the shortest gaps closed. Busy time keeps leaving them out."""
    gaps = sorted(
        ((one.gap_s is None, one.gap_s or 0.0, place) for place, one in enumerate(stretches[1:], 1))
    )
    closing = {place for _, _, place in gaps[: len(stretches) - _FEW]}
    kept = [stretches[0]]
    for place, stretch in enumerate(stretches[1:], 1):
        if place in closing:
            kept[-1].take(Stretch(stretch.start_s, stretch.end_s, stretch.busy_s, stretch.added))
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
