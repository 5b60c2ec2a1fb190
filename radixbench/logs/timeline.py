"""Printed times to seconds on one axis per log, whatever form each line has.

Undated times are placed by the last moment seen: a time of day that falls back by more than twelve hours is the
next day's, a month and day lie in the nearest year, an uptime that falls back to near zero is a restart.
Small steps back stay as they are printed, and zones are passed over: the axis is the wall's. What a log
leaves out (its year, its day) is made up until a line tells it, and the axis then goes on without a jump.
"""

from __future__ import annotations

from typing import NamedTuple

from radixbench.errors import UsageError
from radixbench.logs.times.days import DAY_S, clock_text, date_of, day_start, in_year, on_day
from radixbench.logs.times.moment import FORMS, Lapse, read_moment
from radixbench.logs.times.stamp import Form, Stamp, read_date, read_undated

_CACHE_SIZE = 4096
_CACHE_REACH_S = 3600.0
"""An undated text seen before means the same moment if that lies this near; what ``on_day`` says then is the same."""

_PLAIN_YEAR, _LEAP_YEAR = 2002, 2004
"""The year of a log that prints none, and the one it turns into with its first 29 February."""

_PRINTS = {
    Form.UPTIME: "only the time since the server's start",
    Form.CLOCK: "times of day without a date",
    Form.MONTH_DAY: "times without a year",
    Form.DATE: "dates",
}

_RESTART_STEP_S = 5.0
_RESTART_UPTIME_S = 60.0


class _Run(NamedTuple):
    """One run of a server that prints its uptime: where on the axis it began, and its last uptime."""

    start_s: float
    uptime_s: float


class Timeline:
    """The axis of one log; it is fed the times of the lines in their order."""

    def __init__(self) -> None:
        self._form: Form | None = None  # the form that told most so far
        self._offset_s = 0.0  # wall = axis + offset; not 0 once a made-up day or year became known
        self._first_s: float | None = None
        self._last_s: float | None = None
        self._runs: dict[str, _Run] = {}
        self._dated: dict[str, float] = {}
        self._undated: dict[str, float] = {}

    def at(self, text: str, source: str = "") -> float | None:
        """The moment that ``text`` is, in seconds on this log's axis; ``None`` if it is none.

        ``source`` tells servers apart whose uptimes run beside each other.
        """
        at_s = self._dated.get(text)
        if at_s is None:
            at_s = self._read(text, source)
            if at_s is None:
                return None
        self._last_s = at_s
        return at_s

    def label(self, at_s: float) -> str:
        """A moment in the style of this log; an uptime is ``+00:03:44.875``, a time of the next day ``00:03:44 +1d``."""
        wall = round((at_s + self._offset_s) * 1000) / 1000 if abs(at_s) < 1e12 else None
        day = None if wall is None else date_of(wall)
        if self._form is None or wall is None or day is None:
            return f"{at_s:.3f} s"
        match self._form:
            case Form.DATE:
                return f"{day} {clock_text(wall)}"
            case Form.MONTH_DAY:
                return f"{day.month:02}-{day.day:02} {clock_text(wall)}"
            case Form.CLOCK:
                days = int(wall // DAY_S)
                return clock_text(wall) + (f" {days:+}d" if days else "")
            case Form.UPTIME:
                milli = round(abs(wall) * 1000)
                clock = f"{milli // 3_600_000:02}:{milli // 60_000 % 60:02}:{milli // 1000 % 60:02}"
                return f"{'-' if wall < 0 else '+'}{clock}.{milli % 1000:03}"

    def moment(self, text: str, *, end: bool = False) -> float:
        """A moment in a user's words, for ``--since`` or, with ``end``, ``--until``, on this log's axis.

        It is a time as the log prints it, whose seconds or clock may be left out, or ``+10m`` after the first line. A time of day
        means the first line's day, or the next where that would be over twelve hours before it (for ``--until``:
        before it at all). All but a full date can be placed only once a time was read. Raises
        ``UsageError`` for what is no moment, or none of this log.
        """
        flag = "--until" if end else "--since"
        named = read_moment(text, flag)
        if self._first_s is None or self._form is None:
            if isinstance(named, Stamp) and named.form is Form.DATE:
                return named.seconds
            raise UsageError(f"{flag} {text}: no line of the log prints a time", remedy=f"leave {flag} out")
        if isinstance(named, Lapse):
            from_start = named.since_start and self._form is Form.UPTIME
            return named.seconds if from_start else self._first_s + named.seconds
        wall = self._named(named, self._first_s + self._offset_s, end=end)
        if wall is None:
            raise UsageError(f"{flag} {text}: the log prints {_PRINTS[self._form]}", remedy=FORMS)
        return wall - self._offset_s

    def _named(self, stamp: Stamp, first_wall: float, *, end: bool) -> float | None:
        """Where on the wall a user's time lies; ``None`` where the log's own times can't tell."""
        assert self._form is not None
        if stamp.form is Form.UPTIME:
            return stamp.seconds if self._form is Form.UPTIME else None
        if self._form < min(stamp.form, Form.MONTH_DAY):
            return None
        if stamp.form is Form.CLOCK:
            wall = on_day(stamp.seconds, near=first_wall, first=None)
            return wall + DAY_S if end and wall <= first_wall else wall
        if stamp.form is Form.DATE and self._form is Form.DATE:
            return stamp.seconds
        return in_year(*stamp.month_and_day, stamp.seconds % DAY_S, near=first_wall)

    def _read(self, text: str, source: str) -> float | None:
        wall = read_date(text)
        if wall is not None:
            at_s = _kept(self._dated, text, self._on_wall(Form.DATE, wall))
        else:
            known = self._undated.get(text)
            if known is not None and self._last_s is not None and abs(known - self._last_s) < _CACHE_REACH_S:
                return known
            stamp = read_undated(text)
            if stamp is None:
                return None
            if stamp.form is Form.UPTIME:
                at_s = self._since_start(stamp.seconds, source)
            else:
                at_s = _kept(self._undated, text, self._on_wall(stamp.form, self._placed(stamp)))
        if self._first_s is None:
            self._first_s = at_s
        return at_s

    def _on_wall(self, form: Form, wall: float) -> float:
        """A moment of the wall on the axis. The first one that tells more than all before it fixes the offset."""
        if self._form is None or form > self._form:
            if self._form is not None and self._last_s is not None:
                self._offset_s = wall - self._continued(wall)
            self._form = form
            self._dated.clear()
            self._undated.clear()
        return wall - self._offset_s

    def _continued(self, wall: float) -> float:
        """Where on the axis a moment is placed if it tells no more than the lines before it did."""
        assert self._last_s is not None
        day = date_of(wall)
        if self._form is Form.UPTIME or day is None:
            return self._last_s
        less = Stamp(self._form or Form.CLOCK, wall % DAY_S, day.month, day.day)
        return self._placed(less) - self._offset_s

    def _placed(self, stamp: Stamp) -> float:
        """Where on the wall a moment lies, seen from the last one."""
        if stamp.form is Form.DATE:
            return stamp.seconds
        seen = self._last_s is not None and self._form is not None and self._form >= stamp.form
        if stamp.form is Form.CLOCK:
            return (
                on_day(stamp.seconds, near=self._last_wall, first=self._first_wall) if seen else stamp.seconds
            )
        month, day = stamp.month_and_day
        leap_day = (month, day) == (2, 29)
        if not seen:
            return day_start(_LEAP_YEAR if leap_day else _PLAIN_YEAR, month, day) + stamp.seconds
        if leap_day and self._form is Form.MONTH_DAY:
            self._turn_leap()
        return in_year(month, day, stamp.seconds, near=self._last_wall)

    def _turn_leap(self) -> None:
        """The made-up year has a 29 February after all: another one that does takes its place."""
        made_up = date_of(in_year(2, 28, 0.0, near=self._last_wall))
        if made_up is not None and made_up.year % 4:
            self._offset_s += day_start(_LEAP_YEAR, 1, 1) - day_start(made_up.year, 1, 1)

    @property
    def _last_wall(self) -> float:
        return (self._last_s or 0.0) + self._offset_s

    @property
    def _first_wall(self) -> float:
        return (self._first_s or 0.0) + self._offset_s

    def _since_start(self, uptime_s: float, source: str) -> float:
        """An uptime on the axis. A server's first one, and the first after a restart, are placed at the last moment seen."""
        run = self._runs.get(source)
        restarted = run is not None and uptime_s < min(run.uptime_s - _RESTART_STEP_S, _RESTART_UPTIME_S)
        if run is not None and not restarted:
            start_s = run.start_s
        else:
            start_s = 0.0 if self._last_s is None else self._last_s - uptime_s
        self._runs[source] = _Run(start_s, uptime_s)
        if self._form is None:
            self._form = Form.UPTIME
        return start_s + uptime_s


def _kept(known: dict[str, float], text: str, at_s: float) -> float:
    if len(known) >= _CACHE_SIZE:
        known.clear()
    known[text] = at_s
    return at_s
