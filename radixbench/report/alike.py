"""Sentences that differ in their numbers only, drawn together: ``21–35 prefill lines``.

Every run says the same things with its own counts. Told run by run they would hide the one that says
something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def drawn_together(sentences: Iterable[str]) -> tuple[str, ...]:
    """One sentence for each wording, in the order met; numbers that differ become ``lowest–highest``."""
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        groups.setdefault(wording(sentence), []).append(sentence)
    return tuple(_merged(group) for group in groups.values())


def wording(sentence: str) -> str:
    """What a sentence says apart from its numbers."""
    return _NUMBER.sub("#", sentence)


def _merged(sentences: Sequence[str]) -> str:
    columns = list(zip(*(_NUMBER.findall(one) for one in sentences), strict=True))
    ranges = iter([_range(column) for column in columns])
    return _NUMBER.sub(lambda _: next(ranges), sentences[0])


def _range(values: Sequence[str]) -> str:
    ordered = sorted(set(values), key=_value)
    low, high = ordered[0], ordered[-1]
    return low if _value(low) == _value(high) else f"{low}–{high}"


def _value(shown: str) -> float:
    return float(shown.replace(",", ""))
