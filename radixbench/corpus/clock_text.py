"""Prompt heads that carry the time, which breaks the prefix of everything behind them.

System prompts that are equal but for dates and times differ by when they were made; so does one whose
template has a place for the present time. Both end the reuse across conversations at the same character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from radixbench.corpus.wording import counted

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?\b"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?" + _ZONE
_PLACE: Final = re.compile(
    r"\{\{?\s*(?:(?:now|today|date|time|datetime|timestamp|(?:current|present|todays)_?(?:date|time|datetime))\b"
    r"|strftime_now\([^)}]*\))[^{}]{0,40}\}?\}",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    # The look-ahead and the capitals of names make this 30 times as fast as trying every character.
    r"(?=[\dA-Z])(?:"
    + "|".join(
        (
            r"\b\d{4}-\d{1,2}-\d{1,2}(?:[T ]" + _TIME + ")?",
            r"\b\d{4}年\d{1,2}月\d{1,2}日",
            r"\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b",
            rf"\b{_MONTH}\s+{_DAY}(?:,?\s+\d{{4}}\b)?",
            rf"\b{_DAY}\s+{_MONTH}(?:,?\s+\d{{4}}\b)?",
            rf"\b{_MONTH}\s+\d{{4}}\b",
            r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
            r"\b" + _TIME,
            r"\b1\d{9}(?:\d{3})?\b",
        )
    )
    + ")"
)
_MOST: Final = 10_000
_SHOWN: Final = 40


@dataclass(slots=True)
class _Head:
    """The first text seen of all that are equal but for the time, and where a later one differs."""

    first: str
    seen: int = 0
    at: int | None = None


@dataclass(slots=True)
class HeadWatch:
    """Looks at system prompts as they come; keeps one of each kind, up to a limit."""

    _heads: dict[str, _Head] = field(default_factory=dict)
    _same: dict[str, _Head] = field(default_factory=dict)

    def see(self, prompt: str) -> None:
        """Look at the system prompt of one conversation."""
        head = self._same.get(prompt) or self._compared(prompt)
        if head is not None:
            head.seen += 1

    def _compared(self, prompt: str) -> _Head | None:
        """The head of a text not seen before; ``None`` once there are too many."""
        if len(self._same) >= _MOST:
            return None
        timeless = _CLOCK.sub("\0", prompt)
        head = self._heads.get(timeless)
        if head is None:
            place = _PLACE.search(prompt)
            head = self._heads[timeless] = _Head(prompt, at=None if place is None else place.start())
        else:
            differs = _first_change(head.first, prompt)
            head.at = differs if head.at is None else min(head.at, differs)
        self._same[prompt] = head
        return head

    def findings(self) -> tuple[str, ...]:
        """One line for each kind of head that changes over time; positions are characters from 0."""
        return tuple(
            f"prompt head changes over time at char {head.at} ({counted(head.seen, 'conversation')}):"
            f" {head.first[head.at : head.at + _SHOWN]!r}; what follows it is never shared"
            for head in self._heads.values()
            if head.at is not None
        )


def _first_change(one: str, other: str) -> int:
    """Where the first date or time begins that differs; what stands before it is equal."""
    pairs = zip(_CLOCK.finditer(one), _CLOCK.finditer(other), strict=False)
    found = (mine.start() for mine, theirs in pairs if mine.group() != theirs.group())
    return next(found, 0)
