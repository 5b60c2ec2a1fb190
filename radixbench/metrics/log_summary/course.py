"""One rank's sums over time: in all, in each window, in each stretch of work.

A log has many lines in one second, so a line in the second of the one before costs one comparison; only a
new second looks at gaps and windows. Lines without a time are kept in a row of their own, so that the
rows always add up to the whole.
"""

from __future__ import annotations

from radixbench.metrics.log_summary.stretches import (
    FINE_S,
    SHORTEST_IDLE_S,
    STAMP_S,
    Rest,
    Stretch,
    Stretches,
)
from radixbench.metrics.log_summary.sums import (
    NOTHING,
    SUM_NAMES,
    Moment,
    Peaks,
    Row,
    Sums,
    minus,
    plus,
    read_sums,
)
from radixbench.metrics.log_summary.widths import MOST_KEPT, NARROWEST, joined, wider

JUMP_BACK_S = 60.0
JUMP_AHEAD_S = 86_400.0
_STARTS = frozenset({"ready", "restart"})
_NEVER = float("inf")
_NO_MOMENT = float("nan")
"""Equals no moment, not even itself."""


class Course:
    """``sums`` and ``peaks`` are to be raised by whoever reads a line, after ``reach`` was told its time.

    ``gap_s`` is the time since the rank's last work, ``None`` where either has no time. ``width`` ``None``
    lets windows grow so that there are at most 720 of them. ``probes`` are lines that were no work.
    """

    __slots__ = (
        "_added", "_cut_by", "_ends", "_fixed", "_last", "_now", "_place", "_rest", "_rest_s", "_rows", "_starts",
        "disorder", "first_s", "gap_s", "jumps_ahead", "jumps_back", "peaks", "probes", "stretches", "sums", "visited_s", "width",
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
        self.probes = 0
        self._cut_by: str | None = None
        self._rest: Rest | None = None
        self._rest_s = 0.0
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
            if self.gap_s != 0.0 and at_s is not None:
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

    def probe(self, at_s: float | None) -> None:
        """A line about to be added is a probe of an idle server: no work, unless the next one says that it went on."""
        last = self._last
        if at_s is None or (last is not None and at_s < last - JUMP_BACK_S):
            self.reach(at_s, True)
            return
        self.gap_s = None if last is None else max(at_s - last, 0.0)
        latest = max(-_NEVER if last is None else last, self._rest_s if self._rest else -_NEVER)
        if at_s < latest:
            jumps = at_s < latest - JUMP_BACK_S
            self.jumps_back += jumps
            self.disorder += not jumps
        if self._rest is None:
            self._rest = Rest(at_s, read_sums(self.sums))
        self._rest_s = at_s
        self.probes += 1
        self.visit(at_s)

    def step(self, at_s: float | None, took_s: float, rest_s: float | None) -> None:
        """A step of known times is about to be added, after ``rest_s`` without one (``None``: it is the first)."""
        self.stretches.exact_s = STAMP_S
        self._now = _NO_MOMENT
        if at_s is None or self._last is None or rest_s is None or rest_s <= STAMP_S:
            self.reach(at_s, resting=False)
            return
        start_s = max(at_s - int(took_s), self._last)
        self._last = max(at_s, self._last)
        self.stretches.part(start_s, rest_s, read_sums(self.sums), self._end_rest())
        self.stretches.go_on(self._last - start_s, self._last)
        self.visit(at_s)

    def spend(self, start_s: float, at_s: float, before: Moment) -> None:
        """A line at ``at_s`` tells of work since ``start_s``; such spans may overlap. ``before``: the sums without that work."""
        self.stretches.exact_s = FINE_S
        last = self._last
        if last is not None and start_s < last and self.stretches.open:
            if last < at_s:
                self.stretches.go_on(at_s - last, at_s)
                self._last = at_s
            self.stretches.reach_back(start_s)
        else:
            self._go(start_s, True, self._end_rest(), before)
            assert self._last is not None
            if at_s > self._last:
                self.stretches.go_on(at_s - self._last, at_s)
                self._last = at_s
        self.visit(at_s)

    def tell(self, at_s: float | None, before_s: float) -> None:
        """A line at ``at_s`` is about to be added that tells of the time before it, ``before_s`` among others."""
        if at_s is None:
            self.reach(None, True)
            return
        self._pass(at_s, resting=True)
        self.visit(at_s, before_s)

    def pause(self) -> None:
        """A line says that nothing is at work: what comes next begins a stretch."""
        if self.stretches.open:
            self.stretches.close(read_sums(self.sums))

    def visit(self, at_s: float | None, before_s: float = 0.0) -> None:
        """A line is about to be added to the window ``before_s`` before it; it belongs to no stretch of its own."""
        self._now = _NO_MOMENT
        if at_s is not None:
            self.first_s = at_s if self.first_s is None else self.first_s
            self.visited_s = at_s
        place = None if at_s is None else int((at_s - before_s) // self.width)
        if place != self._place:
            self._turn(place)

    def cut(self, name: str, at_s: float | None = None) -> None:
        """An event ends the present stretch."""
        self.stretches.cut(name, at_s, read_sums(self.sums), self._end_rest())
        self._cut_by = name
        self._now = _NO_MOMENT

    def rows(self) -> dict[int | None, Row]:
        """The windows so far by place (start / width); ``None`` holds the lines without a time."""
        self._settle()
        return self._rows

    def worked(self, interval_s: float = 0.0) -> list[Stretch]:
        """The stretches of work so far; ``interval_s``: each line tells of so many seconds before it."""
        return self.stretches.all(read_sums(self.sums), self._rest, self._working_lines, interval_s)

    def rests(self, stretches: list[Stretch]) -> list[Rest]:
        """Lines that were no work, between these stretches and after them."""
        last = self.stretches.last_rest(read_sums(self.sums), self._rest)
        found = [one.rest for one in stretches]
        return [one for one in (*found, last) if one is not None]

    def idle_after_s(self, interval_s: float = 0.0) -> float:
        """Longer gaps between lines are idle."""
        return self.stretches.idle_after_s(self._working_lines, interval_s)

    @property
    def _working_lines(self) -> int:
        return self.sums.prefill_batches + self.sums.decode_batches - self.probes

    def forget_repeated(self) -> None:
        """Cached tokens taken for repeated ones weren't: put them back."""
        self._settle()
        at = SUM_NAMES.index("repeated_tokens")
        for row in self._rows.values():
            row.added = (*row.added[:at], 0, *row.added[at + 1 :])
        self.sums.repeated_tokens = 0
        self._added = read_sums(self.sums)

    def _pass(self, at_s: float, resting: bool) -> None:
        rest = self._rest
        if rest is not None:
            self._rest = None
            if not resting:  # what looked like a probe was the beginning of this
                self._go(self._rest_s, True, rest)
                rest = None
        self._go(at_s, resting, rest)

    def _go(self, at_s: float, resting: bool, rest: Rest | None, before: Moment | None = None) -> None:
        """Work at ``at_s``; ``rest``: lines since the last work that were none; ``before``: the sums without it, if not the present ones."""
        last = self._last
        if last is None:
            self.first_s = at_s if self.first_s is None else self.first_s
            self._last = at_s
            self.stretches.part(at_s, None, before or read_sums(self.sums), rest)
            return
        gap = self.gap_s = at_s - last
        if gap < 0.0:
            self.gap_s = 0.0
            if gap >= -JUMP_BACK_S:
                self.disorder += 1
                if not self.stretches.open:  # printed after the last one's end, whatever its stamp
                    self._cut_by = None
                    self.stretches.part(last, None, before or read_sums(self.sums), rest)
                return
            self.jumps_back += 1
        self._last = at_s
        ahead = gap > JUMP_AHEAD_S and (rest is None or at_s - self._rest_s > JUMP_AHEAD_S)
        self.jumps_ahead += ahead
        stretches = self.stretches
        if gap < 0.0 or not stretches.open:
            stretches.part(at_s, None, before or read_sums(self.sums), rest)
            if self._cut_by is not None and self._cut_by not in _STARTS and 0.0 < gap <= SHORTEST_IDLE_S:
                stretches.go_on(gap, at_s)
            self._cut_by = None
        elif rest is not None and gap > SHORTEST_IDLE_S:  # probes in it found nothing at work
            stretches.part(at_s, None, before or read_sums(self.sums), rest)
        elif ahead or (resting and gap > (stretches.exact_s or SHORTEST_IDLE_S)):
            stretches.part(at_s, gap, before or read_sums(self.sums), rest)
        elif resting and stretches.exact_s:
            stretches.pause(at_s)
        else:
            stretches.go_on(gap, at_s)

    def _end_rest(self) -> Rest | None:
        rest, self._rest = self._rest, None
        return rest

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
