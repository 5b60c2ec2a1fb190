"""The gate over several candidates: which of whose rows make it fail, all gated rows of all of them judged as one family."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from radixbench.compare.change import Change
from radixbench.compare.family import outcome
from radixbench.compare.gate import ended, gate, gated, judged, judged_row, withdrawn
from radixbench.compare.many import Many
from radixbench.compare.verdict import HEADLINE, JUDGED
from radixbench.stats.power import ALPHA


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate's letter with one of its rows."""

    name: str
    change: Change


def many_gate(
    many: Many, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Candidate, ...]:
    """The gated rows whose corrected verdict is one of ``fail_on``, candidate by candidate. Raises as ``gate`` does."""
    wanted = tuple(fail_on)
    return tuple(Candidate(c.sides[0], row) for c in many.comparisons for row in gate(c, wanted, metrics))


def many_withdrawn(
    many: Many, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Candidate, ...]:
    """Gated rows that have one of these verdicts by themselves but not in the gate."""
    wanted = tuple(fail_on)
    return tuple(
        Candidate(c.sides[0], row) for c in many.comparisons for row in withdrawn(c, wanted, metrics)
    )


def many_conclusion(many: Many, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE) -> str:
    """How the gate ended, in a line that names the candidates it failed for and those that it couldn't judge."""
    wanted = set(fail_on)
    rows = {c.sides[0]: gated(c, metrics) for c in many.comparisons}
    failed = [name for name, own in rows.items() if any(row.verdict in wanted for row in own)]
    told = ended([row for own in rows.values() for row in own], wanted, metrics)
    if failed:
        return told.replace("failed", f"failed for {', '.join(failed)}", 1)
    unjudged = [name for name, own in rows.items() if any(row.verdict not in JUDGED for row in own)]
    return f"{told}; not all of {', '.join(unjudged)} could be judged" if unjudged else told


def many_gate_document(
    many: Many, metrics: tuple[str, ...] = HEADLINE, fail_on: Collection[str] | None = None
) -> dict[str, Any]:
    """As ``gate_document``, over all candidates; each row names its own in ``candidate``."""
    rows = [row for c in many.comparisons for row in gated(c, metrics)]
    return {
        "metrics": list(metrics),
        "correction": "holm",
        "level": round(ALPHA, 6),
        "verdict": outcome(rows),
        "rows": list(_rows(many, metrics)),
        "fail_on": None if fail_on is None else sorted(fail_on),
        "failed": None if fail_on is None else any(row.verdict in fail_on for row in rows),
        "conclusion": None if fail_on is None else many_conclusion(many, fail_on, metrics),
    }


def _rows(many: Many, metrics: Collection[str]) -> Iterator[dict[str, Any]]:
    for comparison in many.comparisons:
        for one in judged(comparison, metrics):
            yield {"candidate": comparison.sides[0]} | judged_row(one)
