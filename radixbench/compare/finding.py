"""A caveat on its way: what was found, and which rows it touches.

Findings of one code become one ``Caveat``; its code is attached to every row that one of them touches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from radixbench.compare.arm import CellKey, cell_key
from radixbench.compare.change import Caveat, Change, Severity

_RANK: dict[Severity, int] = {"serious": 0, "warning": 1, "info": 2}
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """``cell`` and ``metrics`` of ``None`` mean all of them."""

    code: str
    severity: Severity
    text: str
    remedy: str
    cell: CellKey | None = None
    metrics: frozenset[str] | None = None

    def touches(self, change: Change) -> bool:
        """Whether the row is one of those the finding speaks of."""
        if self.cell is not None and self.cell != cell_key(change.cell):
            return False
        return self.metrics is None or change.metric in self.metrics


def caveats(findings: Iterable[Finding]) -> tuple[Caveat, ...]:
    """One caveat for each code, the gravest first; their texts joined, each once."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    merged = [_merge(code, found) for code, found in by_code.items()]
    return tuple(sorted(merged, key=lambda caveat: _RANK[caveat.severity]))


def codes(change: Change, findings: Iterable[Finding]) -> tuple[str, ...]:
    """The codes of all findings that touch a row, each once."""
    return tuple(dict.fromkeys(finding.code for finding in findings if finding.touches(change)))


def _merge(code: str, found: list[Finding]) -> Caveat:
    gravest = min(found, key=lambda finding: _RANK[finding.severity])
    texts = _told_once(list(dict.fromkeys(finding.text for finding in found)))
    shown = texts[:_SHOWN]
    if len(texts) > len(shown):
        shown.append(f"and {len(texts) - len(shown)} more")
    return Caveat(code=code, severity=gravest.severity, text="; ".join(shown), remedy=gravest.remedy)


def _told_once(texts: list[str]) -> list[str]:
    """What holds for both sides in the same words is said of both at once."""
    both = [text for text in texts if text.startswith("A: ") and f"B: {text[3:]}" in texts]
    repeated = {f"B: {text[3:]}" for text in both}
    return [f"A and B: {text[3:]}" if text in both else text for text in texts if text not in repeated]
