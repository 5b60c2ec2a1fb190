"""A moment of a log in a user's words, for ``--since`` and ``--until``: a time as logs print it, or a lapse.

Only the words are read here; where a moment without a date lies is for the log's timeline to say.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from radixbench.errors import UsageError
from radixbench.logs.times.days import DAY_S
from radixbench.logs.times.stamp import Stamp, read_stamp

_DAY_ONLY = re.compile(r"(?:\d{4}-)?\d\d-\d\d", re.ASCII)
_NO_SECONDS = re.compile(r"(?:(?:\d{4}-)?\d\d-\d\d[ T|])?\d\d?:\d\d", re.ASCII)
_DAYS_LATER = re.compile(r"(\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?)?) \+(\d{1,6})d", re.ASCII)
_LAPSE = re.compile(
    r"\+(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s?)?", re.ASCII
)
_SINCE_START = re.compile(r"\+(\d{1,6}):(\d\d):(\d\d(?:\.\d{1,9})?)", re.ASCII)
_SECONDS = (86_400.0, 3600.0, 60.0, 1.0)

FORMS = (
    "give a time as the log prints it (`2026-08-26 11:17`, `11:17:30`) or one after its first line (`+10m`)"
)


class Lapse(NamedTuple):
    """Seconds after the log's first line; with ``since_start`` (``+00:03:44``) after the server's start, where the log counts so."""

    seconds: float
    since_start: bool


def read_moment(text: str, flag: str) -> Stamp | Lapse:
    """What the words after ``flag`` mean; raises ``UsageError`` if nothing."""
    words = text.strip()
    if words.startswith("+"):
        return _read_lapse(words) or _refuse(words, flag)
    if words.startswith("-"):
        raise UsageError(
            f"{flag} {words}: where a log ends is not known while it is read",
            remedy="count from its first line (`+10m`) or give a time as it prints it",
        )
    later = _DAYS_LATER.fullmatch(words)
    if later is not None:
        stamp = _read_stamp(later[1]) or _refuse(text, flag)
        return stamp._replace(seconds=stamp.seconds + int(later[2]) * DAY_S)
    return _read_stamp(words) or _refuse(text, flag)


def _read_stamp(words: str) -> Stamp | None:
    """A time whose seconds, or whose clock, may be left out."""
    if _DAY_ONLY.fullmatch(words):
        words += " 00:00:00"
    elif _NO_SECONDS.fullmatch(words):
        words += ":00"
    return read_stamp(words)


def _read_lapse(words: str) -> Lapse | None:
    since_start = _SINCE_START.fullmatch(words)
    if since_start is not None:
        hours, minutes, seconds = since_start.groups()
        return Lapse(int(hours) * 3600 + int(minutes) * 60 + float(seconds), since_start=True)
    lapse = _LAPSE.fullmatch(words)
    if lapse is None or lapse.lastindex is None:
        return None
    parts = zip(lapse.groups(), _SECONDS, strict=True)
    return Lapse(sum(float(number) * unit for number, unit in parts if number is not None), since_start=False)


def _refuse(text: str, flag: str) -> NoReturn:
    raise UsageError(f"{flag} {text!r}: is no moment of a log", remedy=FORMS)
