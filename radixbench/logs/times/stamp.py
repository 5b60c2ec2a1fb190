"""A printed time, read as it stands: which of the forms servers print, and its numbers.

A zone at the end (``Z``, ``+08:00``, ``UTC``) is passed over: the axis of a log is the wall time it prints, so
that its times can be found again by eye. Seconds of a date count from 1970 as if the wall were in UTC.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from enum import IntEnum
from typing import NamedTuple

from radixbench.logs.times.days import DAY_S

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_ZONED = re.compile(r"(.{19}(?:[.,]\d{1,9})?) ?(?:[A-Z]{1,5}|[+-]\d\d:?\d\d)", re.ASCII)
_CLOCK = re.compile(r"(?:(\d\d)-(\d\d)[ T])?(\d\d?):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII)
_UPTIME = re.compile(r"(\d{1,7})\.(\d\d)\.(\d{3})\.(\d{3})", re.ASCII)
_EPOCH = re.compile(r"\d{9,10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19}", re.ASCII)


class Form(IntEnum):
    """The forms of a time, by how much each tells."""

    UPTIME = 0
    CLOCK = 1
    MONTH_DAY = 2
    DATE = 3


class Stamp(NamedTuple):
    """A time as printed. ``seconds`` count from 1970 (date), midnight (clock, month-day) or the server's start (uptime)."""

    form: Form
    seconds: float
    month: int | None = None
    day: int | None = None

    @property
    def month_and_day(self) -> tuple[int, int]:
        """Of a form that tells them."""
        if self.month is not None and self.day is not None:
            return self.month, self.day
        moment = date.fromordinal(int(self.seconds // DAY_S) + _EPOCH_DAY)
        return moment.month, moment.day


def read_stamp(text: str) -> Stamp | None:
    """The time that ``text`` is, nothing before or after it; ``None`` if it is none."""
    wall = read_date(text)
    if wall is not None:
        return Stamp(Form.DATE, wall)
    return read_undated(text)


def read_date(text: str) -> float | None:
    """Seconds of ``2026-08-26 11:17:01[.mmm]``, with ``T`` or ``|`` between, with or without a zone."""
    if len(text) < 19 or text[4] != "-" or text[13] != ":" or text[10] not in " T|":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        zoned = _ZONED.fullmatch(text)
        if zoned is None:
            return None
        try:
            moment = datetime.fromisoformat(zoned[1])
        except ValueError:
            return None
    return (
        (moment.toordinal() - _EPOCH_DAY) * DAY_S
        + moment.hour * 3600
        + moment.minute * 60
        + moment.second
        + moment.microsecond / 1e6
    )


def read_undated(text: str) -> Stamp | None:
    """A time of day, a month and day, an uptime ``3.44.875.509`` (minutes, seconds, ms, µs) or seconds of the epoch."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return _read_clock(*clock.groups())
    uptime = _UPTIME.fullmatch(text)
    if uptime is not None:
        minutes, seconds, milli, micro = map(int, uptime.groups())
        return Stamp(Form.UPTIME, minutes * 60 + seconds + milli / 1e3 + micro / 1e6)
    if _EPOCH.fullmatch(text) is not None:
        return Stamp(Form.DATE, _read_epoch(text))
    return None


def _read_clock(
    month: str | None, day: str | None, hour: str, minute: str, second: str, fraction: str | None
) -> Stamp | None:
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60:
        return None
    seconds = (
        int(hour) * 3600 + int(minute) * 60 + int(second) + (float(f"0.{fraction}") if fraction else 0.0)
    )
    if month is None or day is None:
        return Stamp(Form.CLOCK, seconds)
    if not 1 <= int(month) <= 12 or not 1 <= int(day) <= _DAYS_IN_MONTH[int(month) - 1]:
        return None
    return Stamp(Form.MONTH_DAY, seconds, int(month), int(day))


def _read_epoch(text: str) -> float:
    """Seconds, or milli-, micro- or nanoseconds where there are as many more digits."""
    whole = text.partition(".")[0]
    return float(text) if len(whole) <= 10 else int(text) / 10 ** (len(whole) - 10)
