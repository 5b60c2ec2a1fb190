"""One rank's sums over time: in all, in each window, in each stretch of work.

A log has many lines in one second, so a line in the second of the one before costs one comparison; only a
new second looks at gaps and windows. Lines without a time are kept in a row of their own, so that the
rows always add up to the whole.
"""

from __future__ import annotations

from radixbench.metrics.log_summary.stretches import SHORTEST_IDLE_S, Stretch, Stretches
from radixbench.metrics.log_summary.sums import NOTHING, SUM_NAMES, Peaks, Row, Sums, minus, plus, read_sums
from radixbench.metrics.log_summary.widths import MOST_KEPT, NARROWEST, joined, wider

JUMP_BACK_S = 60.0
JUMP_AHEAD_S = 86_400.0
_NEVER = float("inf")
_NO_MOMENT = float("nan")
"""Equals no moment, not even itself."""


class Course:
    """``sums`` and ``peaks`` are to be raised by whoever reads a line, after ``reach`` was told its time.

    ``gap_s`` is the time since the rank's line before, ``None`` where either has no time. ``width`` ``None``
    lets windows grow so that there are at most 720 of them.
    """

    __slots__ = (
        "_added", "_ends", "_fixed", "_last", "_now", "_place", "_rows", "_starts",
        "disorder", "first_s", "gap_s", "jumps_ahead", "jumps_back", "peaks", "stretches", "sums", "visited_s", "width",
    )  # fmt: skip

    def __init__(self, width: float | None) -> None:
        self.sums = Sums()
        self.peaks = Peaks()
        self.stretches = Stretches()
        self.width = NARROWEST if width is None else width
        self.gap_s: float | None = None
        self.first_s: float | None = None
        self.visited_s: float | None = None
        self.disorder = self.jumps_back = self.jumps_ahead = 0
        self._fixed = width is not None
        self._last: float | None = None
        self._now: float | None = None
        self._place: int | None = None
        self._starts, self._ends = _NEVER, -_NEVER
        self._rows: dict[int | None, Row] = {None: Row(peaks=self.peaks)}
        self._added = NOTHING

    @property
    def last_s(self) -> float | None:
        """The latest moment reached."""
        return self._last

    def reach(self, at_s: float | None, resting: bool) -> None:
        """A line at ``at_s`` is about to be added; ``resting``: nothing was at work before it."""
        if at_s == self._now:
            if self.gap_s:
                self.gap_s = 0.0
            return
        self._now = at_s
        if at_s is None:
            self.gap_s = None
            self._turn(None)
            return
        self._pass(at_s, resting)
        if not self._starts <= at_s < self._ends:
            self._turn(int(at_s // self.width))

    def linger(self, at_s: float) -> None:
        """Lines up to ``at_s`` follow in the window and the stretch just reached, whose gaps are noted elsewhere."""
        assert self._last is not None
        self.stretches.last(at_s - self._last, at_s)
        self._last = self._now = at_s

    def spend(self, start_s: float, at_s: float) -> None:
        """A line at ``at_s`` is about to be added that tells of work since ``start_s``; such spans may overlap."""
        last = self._last
        if last is not None and start_s < last:
            if last < at_s:
                self.stretches.go_on(at_s - last, at_s)
                self._last = at_s
        else:
            self._pass(start_s, resting=True)
            self.stretches.go_on(at_s - start_s, at_s)
            self._last = at_s
        self.visit(at_s)

    def visit(self, at_s: float | None) -> None:
        """A line that is no work is about to be added: it belongs to a window, to no stretch."""
        self._now = _NO_MOMENT
        if at_s is not None:
            self.first_s = at_s if self.first_s is None else self.first_s
            self.visited_s = at_s
        place = None if at_s is None else int(at_s // self.width)
        if place != self._place:
            self._turn(place)

    def cut(self, name: str) -> None:
        """An event ends the present stretch."""
        self.stretches.cut(name, read_sums(self.sums))
        self._now = _NO_MOMENT

    def rows(self) -> dict[int | None, Row]:
        """The windows so far by place (start / width); ``None`` holds the lines without a time."""
        self._settle()
        return self._rows

    def worked(self) -> list[Stretch]:
        """The stretches of work so far."""
        return self.stretches.all(read_sums(self.sums), self.sums.prefill_batches + self.sums.decode_batches)

    def forget_repeated(self) -> None:
        """Cached tokens taken for repeated ones weren't: put them back."""
        self._settle()
        at = SUM_NAMES.index("repeated_tokens")
        for row in self._rows.values():
            row.added = (*row.added[:at], 0, *row.added[at + 1 :])
        self.sums.repeated_tokens = 0
        self._added = read_sums(self.sums)

    def _pass(self, at_s: float, resting: bool) -> None:
        last = self._last
        if last is None:
            self.first_s = at_s if self.first_s is None else self.first_s
            self._last = at_s
            self.stretches.part(at_s, None, read_sums(self.sums))
            return
        gap = self.gap_s = at_s - last
        if gap < 0.0:
            self.gap_s = 0.0
            if gap >= -JUMP_BACK_S:
                self.disorder += 1
                return
            self.jumps_back += 1
        self._last = at_s
        ahead = gap > JUMP_AHEAD_S
        self.jumps_ahead += ahead
        if gap < 0.0 or not self.stretches.open:
            self.stretches.part(at_s, None, read_sums(self.sums))
        elif ahead or (resting and gap > SHORTEST_IDLE_S):
            self.stretches.part(at_s, gap, read_sums(self.sums))
        else:
            self.stretches.go_on(gap, at_s)

    def _turn(self, place: int | None) -> None:
        """Go on in another window."""
        self._settle()
        self._place = place
        row = self._rows.get(place)
        if row is None:
            row = self._rows[place] = Row()
            if not self._fixed and len(self._rows) > MOST_KEPT:
                self._widen()
                assert self._place is not None
                place = self._place
                row = self._rows[place]
        self.peaks = row.peaks
        if place is None:
            self._starts, self._ends = _NEVER, -_NEVER
        else:
            self._starts, self._ends = place * self.width, (place + 1) * self.width

    def _settle(self) -> None:
        """Give the present window its share."""
        now = read_sums(self.sums)
        if now != self._added:
            row = self._rows[self._place]
            added = minus(now, self._added)
            row.added = added if row.added is NOTHING else plus(row.added, added)
            self._added = now

    def _widen(self) -> None:
        assert self._place is not None
        timeless = self._rows.pop(None)
        timed: dict[int, Row] = {place: row for place, row in self._rows.items() if place is not None}
        while len(timed) >= MOST_KEPT:
            factor = int(wider(self.width) // self.width)
            self.width = wider(self.width)
            self._place //= factor
            timed = joined(timed, factor, Row.take)
        self._rows = {None: timeless}
        for place, row in timed.items():
            self._rows[place] = row
