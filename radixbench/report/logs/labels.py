"""Moments and events as a log prints them, without what every row would repeat."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from radixbench.report import text

_DATED = re.compile(r"(\d{4}-)?\d\d-\d\d ")
_CLOCK = re.compile(r"(?:[\d-]+ )?(\d\d):(\d\d):(\d\d(?:\.\d+)?)")

_EVENT_WORDS = {"server_args": "server start"}


def shared_date(labels: Sequence[str]) -> str:
    """The date that all labels have, or at least the year; "" if they differ even in that or have none."""
    dates = {found[0].strip() if (found := _DATED.match(label)) else "" for label in labels}
    if len(dates) == 1:
        return dates.pop()
    years = {found[1] or "" if (found := _DATED.match(label)) else "" for label in labels}
    return years.pop().removesuffix("-") if len(years) == 1 else ""


def without_date(label: str, date: str) -> str:
    """A label without what ``shared_date`` found in it."""
    return label.removeprefix(date).lstrip(" -") if date else label


def time_of_day(label: str) -> float | None:
    """Seconds since midnight of a label that is a time of day, with or without its date."""
    found = _CLOCK.fullmatch(label)
    if found is None:
        return None
    return 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3])


def between(first: str | None, last: str | None) -> str:
    """``2026-10-16 14:01:00 to 14:03:12``."""
    if first is None or last is None:
        return ""
    if first == last:
        return first
    return f"{first} to {without_date(last, shared_date([first, last]))}"


def event_word(name: str) -> str:
    """``flush refused`` for ``flush_refused``."""
    return _EVENT_WORDS.get(name, name.replace("_", " "))


def events_words(events: Mapping[str, int]) -> str:
    """``flush, 2 retract``."""
    return ", ".join(
        event_word(name) if n == 1 else f"{text.count(n)} {event_word(name)}" for name, n in events.items()
    )
