"""What people type behind a flag: lists of numbers and words, percentages, and lengths of time.

Every refusal is one line that begins with the flag.
"""

from __future__ import annotations

import math
import re

from radixbench.errors import ScenarioError
from radixbench.units import Seconds

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *(ms|s|m|h|d)?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS = 18
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *%", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, None: 1.0}


def parse_int(text: str, *, flag: str) -> int:
    """One whole number; a list, a fraction or a word is refused by the flag's name."""
    word = text.strip()
    if not _INTEGER.fullmatch(word):
        raise ScenarioError(f"{flag}: {word!r} is not a whole number", remedy="write one, without commas")
    return _int_of(word, flag, "write a smaller one")


def parse_float(text: str, *, flag: str) -> float:
    """One number; a list or a word is refused by the flag's name."""
    word = text.strip()
    if not _DECIMAL.fullmatch(word):
        raise ScenarioError(f"{flag}: {word!r} is not a number", remedy="write one, such as 0.5")
    return float(word)


def parse_int_list(text: str, *, flag: str, example: str = "0,1024,4096") -> tuple[int, ...]:
    """``0,1024,4096`` as numbers; text, gaps and repeated values are refused by the flag's name."""
    remedy = f"write whole numbers with commas between them, such as {flag} {example}"
    values: list[int] = []
    for word in _split(text, flag, remedy):
        if not _INTEGER.fullmatch(word):
            raise ScenarioError(f"{flag}: {word!r} is not a whole number", remedy=remedy)
        value = _int_of(word, flag, remedy)
        if value in values:
            raise ScenarioError(f"{flag}: {value} stands there twice", remedy="give each value once")
        values.append(value)
    return tuple(values)


def parse_float_list(text: str, *, flag: str) -> tuple[float, ...]:
    """``0.5,1,4`` as numbers; ``inf``, text, gaps and repeated values are refused by the flag's name."""
    remedy = f"write numbers with commas between them, such as {flag} 0.5,1,4"
    values: list[float] = []
    for word in _split(text, flag, remedy):
        if word.lower().lstrip("+-") in ("inf", "infinity"):
            raise ScenarioError(
                f"{flag}: {word} is no rate",
                remedy="for all at once take a closed loop with --max-concurrency",
            )
        if not _DECIMAL.fullmatch(word):
            raise ScenarioError(f"{flag}: {word!r} is not a number", remedy=remedy)
        value = float(word)
        if value in values:
            raise ScenarioError(f"{flag}: {word} stands there twice", remedy="give each value once")
        values.append(value)
    return tuple(values)


def parse_words(text: str, *, flag: str) -> tuple[str, ...]:
    """``fcfs,lpm`` as words; gaps and repeated words are refused by the flag's name."""
    words = _split(text, flag, "write words with commas between them")
    for index, word in enumerate(words):
        if word in words[:index]:
            raise ScenarioError(f"{flag}: {word} stands there twice", remedy="give each value once")
    return tuple(words)


def parse_duration(text: str, *, flag: str) -> Seconds:
    """``90``, ``90s``, ``1.5m``, ``2h`` or ``500ms`` in seconds."""
    found = _DURATION.fullmatch(text.strip())
    length = float(found[1]) * _SECONDS[found[2]] if found else math.inf
    if not math.isfinite(length):
        raise ScenarioError(
            f"{flag}: {text!r} is no length of time",
            remedy="write seconds, or a number and its unit, such as 500ms, 90s, 30m or 2h",
        )
    return length


def parse_percent(text: str, *, flag: str) -> float:
    """``5%`` as 0.05; a number without its sign is refused, since nobody could tell 5 from 0.05."""
    found = _PERCENT.fullmatch(text.strip())
    if found is None:
        raise ScenarioError(
            f"{flag}: {text!r} is no percentage", remedy=f"write one with its sign: {flag} 5%"
        )
    return float(found[1]) / 100.0


def _int_of(word: str, flag: str, remedy: str) -> int:
    if len(word) > _MOST_DIGITS:
        raise ScenarioError(f"{flag}: {word[:_MOST_DIGITS]}… is far too large", remedy=remedy)
    return int(word)


def _split(text: str, flag: str, remedy: str) -> list[str]:
    words = [part.strip() for part in text.split(",")]
    if all(words):
        return words
    gap = "the list is empty" if not text.strip() else f"a value is missing in {text!r}"
    raise ScenarioError(f"{flag}: {gap}", remedy=remedy)
