"""The axis of a log's charts: seconds from its first window, with the clock times that the log itself prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from radixbench.metrics.log_summary.model import Window
from radixbench.report import text
from radixbench.report.logs.labels import shared_date, time_of_day

_DAY = 86400
_MOST_TICKS = 8
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, _DAY)
_ANY_LEAP_YEAR = "2004-"


class TimeAxis(NamedTuple):
    """Turns moments of a log into places on the axis; ``ticks`` have words ready to print."""

    origin_s: float
    end: float
    title: str
    ticks: tuple[tuple[float, str], ...]

    def at(self, moment_s: float) -> float:
        """Seconds since the axis begins, within it."""
        return min(max(round(moment_s - self.origin_s, 3), 0.0), self.end)


def time_axis(windows: Sequence[Window]) -> TimeAxis:
    """Clock times where labels are such; else the time since the first line."""
    first, last = windows[0], windows[-1]
    end = round(max(last.start_s + last.length_s - first.start_s, 1e-3), 3)
    clock = time_of_day(first.label)
    date = shared_date([window.label for window in windows])
    step = _step(end)
    if clock is None:
        places = [place * step for place in range(int(end / step) + 1)]
        ticks = tuple((place, text.left(place)) for place in places)
        return TimeAxis(first.start_s, end, "time since the first line", ticks)
    offset = math.ceil(clock / step) * step - clock
    places = [offset + place * step for place in range(int(max(end - offset, -step) / step) + 1)]
    words = _Words(first.label, clock, step, dated="-" not in date)
    ticks = tuple((round(place, 3), words.at(place)) for place in places)
    return TimeAxis(first.start_s, end, f"time in the log, {date}" if date else "time in the log", ticks)


def _step(seconds: float) -> float:
    for step in _STEPS:
        if seconds / step <= _MOST_TICKS:
            return step
    return _DAY * math.ceil(seconds / _DAY / _MOST_TICKS)


class _Words(NamedTuple):
    """How ticks are written: with the day where the log takes several, with seconds where ticks are that close."""

    label: str
    clock: float
    step: float
    dated: bool

    def at(self, place: float) -> str:
        """The clock at so many seconds after the label."""
        moment = round(self.clock + place)
        minutes, seconds = divmod(moment % _DAY, 60)
        clock = f"{minutes // 60:02}:{minutes % 60:02}"
        if self.step < 60:
            clock += f":{seconds:02}"
        midnight = _midnight(self.label) if self.dated else None
        return clock if midnight is None else f"{midnight + timedelta(seconds=moment):%m-%d} {clock}"


def _midnight(label: str) -> datetime | None:
    """When the day of a label begins; a year that isn't printed is made up."""
    date, _, clock = label.partition(" ")
    try:
        return (
            datetime.fromisoformat(date if len(date) > len("12-31") else _ANY_LEAP_YEAR + date)
            if clock
            else None
        )
    except ValueError:
        return None
