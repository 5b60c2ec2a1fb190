"""Days and years around a moment: what a time of day or a month and day mean, seen from it.

All moments are seconds since 1970 of the time on the wall, without zones.
"""

from __future__ import annotations

from datetime import date

DAY_S = 86_400
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FIRST_DAY, _LAST_DAY = 1 - _EPOCH_DAY, date.max.toordinal() - _EPOCH_DAY

_MIDNIGHT_STEP_S = -43_200.0
"""A time of day that falls back by more than this has passed midnight."""

_LATE_STEP_S = 82_800.0
"""A step forward by more than this, in a log that has passed midnight, is a line of the evening that came late."""


def day_start(year: int, month: int, day: int) -> float:
    """Midnight of a day. The 29 February of a year that has none is its 1 March."""
    return float((date(year, month, 1).toordinal() - _EPOCH_DAY + day - 1) * DAY_S)


def date_of(wall_s: float) -> date | None:
    """The day a moment lies in; ``None`` outside of the years 1 to 9999."""
    day = wall_s // DAY_S
    return date.fromordinal(int(day) + _EPOCH_DAY) if _FIRST_DAY <= day <= _LAST_DAY else None


def on_day(clock_s: float, *, near: float, first: float | None) -> float:
    """A time of day, seen from the moment ``near`` of a log that began at ``first``."""
    midnight = near // DAY_S * DAY_S
    step = midnight + clock_s - near
    if step < _MIDNIGHT_STEP_S:
        midnight += DAY_S
    elif step > _LATE_STEP_S and first is not None and first < midnight:
        midnight -= DAY_S
    return midnight + clock_s


def in_year(month: int, day: int, clock_s: float, *, near: float) -> float:
    """A month and day in the year that puts it nearest to the moment ``near``."""
    today = date_of(near)
    year = 1970 if today is None else min(max(today.year, 2), 9998)
    return min(
        (day_start(one, month, day) + clock_s for one in (year, year + 1, year - 1)),
        key=lambda wall: abs(wall - near),
    )


def clock_text(wall_s: float) -> str:
    """The time of day: ``11:17:01``, or ``11:17:01.250`` where the second isn't whole."""
    second, milli = divmod(round(wall_s * 1000) % (DAY_S * 1000), 1000)
    whole = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{whole}.{milli:03}" if milli else whole
