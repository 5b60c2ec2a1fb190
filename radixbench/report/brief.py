"""What figures and sections come to in a few lines, for a terminal and a pull request: each a sentence with its tone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.report import text
from radixbench.report.cells import at_cell
from radixbench.report.client import client_brief
from radixbench.report.evidence import Evidence
from radixbench.report.law_section import law_brief
from radixbench.report.mode import verification, verification_tone
from radixbench.report.model import Figure, Section, Statement
from radixbench.report.parts import CACHED
from radixbench.report.shortfall import CellAccount, cell_accounts, efficiency_words
from radixbench.report.words import known

_MOST_CELLS = 4
_MOST_NOTES = 3


def brief(
    sides: Sequence[Evidence], figures: Sequence[Figure], sections: Sequence[Section]
) -> tuple[Statement, ...]:
    """The cache of each arm first, then what reuse came to, then what speaks against the figures."""
    return (
        *(_cache(side) for side in sides),
        *_reuse(sides),
        *_notes(figures),
        *(statement for section in sections for statement in _of_section(section, sides)),
    )


def _cache(side: Evidence) -> Statement:
    runs = side.capture.runs
    declared = " / ".join(known(run.protocol.declared for run in runs)) or "unknown"
    return Statement(
        f"{side.arm.name}, prefix cache: {side.arm.cache}; state {declared} → {verification(runs)}",
        verification_tone(runs),
    )


def _reuse(sides: Sequence[Evidence]) -> Iterator[Statement]:
    """The hit efficiency of an arm's cells, and what was not reused in all of them, by cause."""
    accounts = cell_accounts(sides)
    for side in sides:
        told = [one for one in accounts if one.side is side and one.efficiency is not None]
        if not told:
            continue
        shown = [
            f"{efficiency_words(one.efficiency)} {at_cell(one.cell)}"
            for one in told[-_MOST_CELLS:]
            if one.efficiency is not None
        ]
        rest = f" ({len(told) - len(shown)} more cells in the report)" if len(told) > len(shown) else ""
        yield Statement(
            f"{side.arm.name}, hit efficiency: {', '.join(shown)}{rest}; {_lost(told)}", "neutral"
        )


def _lost(told: Sequence[CellAccount]) -> str:
    parts = [one.parts for one in told]
    lost = {name: sum(one[name] for one in parts) for name in parts[0] if name != CACHED}
    named = [f"{name} {text.count(tokens)}" for name, tokens in lost.items() if tokens]
    if named:
        return f"not reused, in tokens: {', '.join(named)}"
    over = any(one.efficiency is not None and one.efficiency > 1 for one in told)
    return "the cache held more than these runs had put there" if over else "everything shared was reused"


def _notes(figures: Sequence[Figure]) -> Iterator[Statement]:
    """What the figures about levels and turns say of themselves."""
    for figure in figures:
        if figure.key in {"levels", "turns"}:
            yield from (Statement(note) for note in figure.notes[:_MOST_NOTES])


def _of_section(section: Section, sides: Sequence[Evidence]) -> Iterator[Statement]:
    if section.key == "failures":
        yield from section.says
    elif section.key == "law":
        yield from law_brief(section)
    elif section.key == "client":
        yield client_brief(sides)
    elif section.key == "sources":
        disputes = sum(one.word == "contradiction" for one in section.says)
        told = f"Who counted cached tokens: {text.plural(disputes, 'contradiction')}, see sources-disagree."
        yield Statement(told if disputes else "All who counted cached tokens agree.", section.says[0].tone)
    elif section.key == "corpus":
        yield from section.says[:1]
