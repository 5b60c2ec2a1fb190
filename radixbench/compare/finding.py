"""How findings become caveats: those of one code become one, and its code is attached to every row that one touches."""

from __future__ import annotations

from collections.abc import Iterable

from radixbench.compare.change import Caveat, Change
from radixbench.findings.cell import cell_key
from radixbench.findings.model import Finding, Severity

_RANK: dict[Severity, int] = {"serious": 0, "warning": 1, "info": 2}
_SHOWN = 6


def caveats(findings: Iterable[Finding]) -> tuple[Caveat, ...]:
    """One caveat for each code, the gravest first; their texts joined, each once."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    merged = [_merge(code, found) for code, found in by_code.items()]
    return tuple(sorted(merged, key=lambda caveat: _RANK[caveat.severity]))


def codes(change: Change, findings: Iterable[Finding]) -> tuple[str, ...]:
    """The codes of all findings that touch a row, each once."""
    return tuple(dict.fromkeys(finding.code for finding in findings if touches(finding, change)))


def touches(finding: Finding, change: Change) -> bool:
    """Whether the row is one of those the finding speaks of."""
    if finding.cell is not None and finding.cell != cell_key(change.cell):
        return False
    return finding.metrics is None or change.metric in finding.metrics


def _merge(code: str, found: list[Finding]) -> Caveat:
    gravest = min(found, key=lambda finding: _RANK[finding.severity])
    texts = _told_once(_by_text(found))
    shown = texts[:_SHOWN]
    if len(texts) > len(shown):
        shown.append(f"and {len(texts) - len(shown)} more")
    return Caveat(code=code, severity=gravest.severity, text="; ".join(shown), remedy=gravest.remedy)


def _by_text(found: list[Finding]) -> list[str]:
    """What several places say in the same words is said of the first of them and of how many more."""
    places: dict[str, list[str]] = {}
    for finding in found:
        where = places.setdefault(finding.text, [])
        if finding.place not in where:
            where.append(finding.place)
    return [text for words, where in places.items() for text in _placed(words, where)]


def _placed(text: str, places: list[str]) -> list[str]:
    named = [place for place in places if place]
    if not named:
        return [text]
    if all(map(_is_side, named)):
        return [f"{place}: {text}" for place in named]
    more = (
        f" and {len(named) - 1:,} more runs"
        if len(named) > 2
        else f" and {named[1]}"
        if len(named) == 2
        else ""
    )
    return [f"{named[0]}{more}: {text}"]


def _told_once(texts: list[str]) -> list[str]:
    """What holds for several sides in the same words is said of all of them at once."""
    sides: dict[str, list[str]] = {}
    for text in texts:
        side, colon, words = text.partition(": ")
        told = colon and _is_side(side)
        sides.setdefault(words if told else text, []).append(side if told else "")
    return [f"{_all_of(letters)}{words}" for words, letters in sides.items()]


def _all_of(letters: list[str]) -> str:
    """``A, B and D: ``; "" for words without a side."""
    named = sorted({letter for letter in letters if letter})
    if not named:
        return ""
    return f"{', '.join(named[:-1])} and {named[-1]}: " if len(named) > 1 else f"{named[0]}: "


def _is_side(place: str) -> bool:
    """Whether a place is a whole side, by its letter."""
    return len(place) == 1 and place.isalpha() and place.isupper()
