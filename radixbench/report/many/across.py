"""What was recorded of several captures, a column for each: what differs and what follows from it, and all the rest."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.compare.many import Many
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.many.model import Across
from radixbench.report.model import PairRow
from radixbench.report.setting import differences, facts

SAME = "as the reference"


def differences_across(many: Many) -> tuple[Across, ...]:
    """Every difference of any candidate from the reference; what forbids a verdict comes first."""
    tables = {c.sides[0]: {row.name: row for row in differences(c)} for c in many.comparisons}
    names = dict.fromkeys(name for table in tables.values() for name in table)
    rows = [_across(name, {who: table.get(name) for who, table in tables.items()}) for name in names]
    return tuple(sorted(rows, key=lambda row: ("refused", "caution", "neutral").index(row.tone)))


def _across(name: str, found: dict[str, PairRow | None]) -> Across:
    there = {who: row for who, row in found.items() if row is not None}
    references = list(dict.fromkeys(row.b for row in there.values()))
    by_status: dict[str, list[str]] = {}
    for who, row in there.items():
        by_status.setdefault(row.status, []).append(who)
    everyone = len(by_status) == 1 and len(there) == len(found)
    told = [status if everyone else f"{', '.join(whose)}: {status}" for status, whose in by_status.items()]
    tones = {row.tone for row in there.values()}
    return Across(
        name=name,
        values=(*(SAME if row is None else row.a for row in found.values()), " / ".join(references)),
        status="; ".join(told),
        tone=next(tone for tone in ("refused", "caution", "neutral") if tone in tones),
    )


def environment_across(sides: Sequence[Evidence]) -> tuple[Across, ...]:
    """Machine, software, server settings and identity of all captures; rows that differ say so."""
    tables = [dict(facts(side)) for side in sides]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = [(name, tuple(table.get(name, text.MISSING) for table in tables)) for name in names]
    return tuple(
        Across(name, values, "differs", "caution")
        if len(set(values)) > 1
        else Across(name, values, "", "neutral")
        for name, values in rows
    )
