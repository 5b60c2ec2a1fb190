"""Caveats as a reader meets them: the gravest first, each with its cells, and how much of it a short list tells.

A page tells every caveat whole. A terminal and a pull request tell what may change a verdict; what only informs,
or repeats a fact that is told already, is named there by its code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from radixbench.compare.change import Caveat, Change
from radixbench.report.cells import cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import FIRST, CaveatView, Short
from radixbench.report.sources import only_above_maximum
from radixbench.report.words import HEADLINE_METRICS, SEVERITY_MARKS, SEVERITY_ORDER, SEVERITY_TONES

_STATE_FAULTS = frozenset({"off-not-off", "cold-not-cold", "not-primed", "not-warm"})
_DISPUTE = "sources-disagree"


def caveat_views(
    caveats: Sequence[Caveat],
    changes: Sequence[Change],
    sides: Sequence[Evidence],
    gate: Sequence[str] = HEADLINE_METRICS,
) -> tuple[CaveatView, ...]:
    """Gravest first, each with the cells whose rows carry it."""
    ordered = sorted(caveats, key=lambda caveat: SEVERITY_ORDER.index(caveat.severity))
    repeated = _repeated(caveats, sides)
    return tuple(
        CaveatView(
            code=caveat.code,
            severity=caveat.severity,
            mark=SEVERITY_MARKS[caveat.severity],
            tone=SEVERITY_TONES[caveat.severity],
            text=caveat.text,
            remedy=caveat.remedy,
            where=_where(caveat.code, changes),
            short=_short(caveat, changes, {*gate, *FIRST}, repeated),
        )
        for caveat in ordered
    )


def _repeated(caveats: Sequence[Caveat], sides: Sequence[Evidence]) -> frozenset[str]:
    """Codes whose fact another caveat tells: too many hits, where that is why a run is set aside."""
    told = _STATE_FAULTS & {caveat.code for caveat in caveats}
    return frozenset({_DISPUTE}) if told and only_above_maximum(sides) else frozenset()


def _short(
    caveat: Caveat, changes: Sequence[Change], shown: Collection[str], repeated: Collection[str]
) -> Short:
    if caveat.code in repeated:
        return "code"
    if caveat.severity != "info":
        return "whole"
    touched = {change.metric for change in changes if caveat.code in change.caveats}
    return "code" if not touched or touched & set(shown) else ""


def _where(code: str, changes: Sequence[Change]) -> str:
    marked = {cell_title(change.cell) for change in changes if code in change.caveats}
    everywhere = {cell_title(change.cell) for change in changes}
    if not marked:
        return ""
    if marked == everywhere:
        return "all cells"
    return "; ".join(dict.fromkeys(cell_title(c.cell) for c in changes if cell_title(c.cell) in marked))
