"""The gate of a CI run: which rows make it fail.

Only gated rows count. Holm's correction over all of them keeps the chance that noise fails a gate at
5 % for the whole gate, however many cells it has: a ``better`` or ``worse`` that doesn't survive the
correction is ``within-noise`` here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from radixbench.compare.change import Change, Comparison, VerdictName
from radixbench.compare.verdict import HEADLINE
from radixbench.errors import UsageError
from radixbench.findings.cell import cell_key
from radixbench.metrics.registry import metric
from radixbench.stats.holm import holm
from radixbench.stats.interval import log_ratios
from radixbench.stats.power import ALPHA, p_value
from radixbench.stats.sample import Absent

_JUDGED = frozenset({"better", "worse", "within-noise"})
_BLIND = 0.25
"""The smallest loss to be seen from which on a row within noise shows nothing at all."""


def gate(
    comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Change, ...]:
    """The gated rows whose corrected verdict is one of ``fail_on``, in the document's order."""
    wanted = set(fail_on)
    unknown = sorted(wanted - set(get_args(VerdictName)))
    if unknown:
        raise UsageError(
            f"no verdict is called {', '.join(unknown)}",
            remedy=f"choose from {', '.join(get_args(VerdictName))}",
        )
    for name in metrics:
        if metric(name).better is None:
            raise UsageError(f"{name} is no quality and has no verdict", remedy="gate on another metric")
    gated = [change for change in comparison.changes if change.metric in metrics]
    return tuple(change for change in corrected(gated) if change.verdict in wanted)


def withdrawn(
    comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Change, ...]:
    """Gated rows that have one of these verdicts by themselves but not in the gate, where all are judged together."""
    failing = {(cell_key(row.cell), row.metric) for row in gate(comparison, fail_on, metrics)}
    return tuple(
        row
        for row in comparison.changes
        if row.metric in metrics
        and row.verdict in set(fail_on)
        and (cell_key(row.cell), row.metric) not in failing
    )


def conclusion(comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE) -> str:
    """How the gate ended, in a line: ``passed`` only where every gated row could be judged.

    Rows within noise add which loss would have stayed unseen; where that is a large one they judge nothing either.
    """
    wanted, on = set(fail_on), f"on {', '.join(metrics)}"
    rows = corrected(row for row in comparison.changes if row.metric in metrics)
    if any(row.verdict in wanted for row in rows):
        return f"failed {on}"
    unjudged = Counter(row.verdict or "without a verdict" for row in rows if row.verdict not in _JUDGED)
    counts = ", ".join(f"{n} of {len(rows)} gated rows {what}" for what, n in unjudged.items())
    seen = [row.detectable for row in rows if row.detectable is not None] if "worse" in wanted else []
    is_judged = bool(rows) and not counts and max(seen, default=0.0) < _BLIND
    told = [f"passed {on}" if is_judged else f"nothing {' or '.join(sorted(wanted))} was shown {on}", counts]
    if seen:
        told.append(f"a loss below {1 + max(seen):.3g}× would not have been seen")
    return "; ".join(part for part in told if part)


def corrected(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The rows with every ``better`` and ``worse`` withdrawn that Holm's correction over them doesn't uphold."""
    rows = tuple(changes)
    tested = [(i, p) for i, p in enumerate(_p_of(row) for row in rows) if p is not None]
    upheld = {
        i for (i, _), adjusted in zip(tested, holm([p for _, p in tested]), strict=True) if adjusted <= ALPHA
    }
    return tuple(row if i in upheld else _withdrawn(row) for i, row in enumerate(rows))


def _p_of(change: Change) -> float | None:
    """The p of a row's paired log-ratios; ``None`` for a row that has no verdict of its own."""
    if change.verdict not in _JUDGED:
        return None
    logs = log_ratios([(a, b) for _, a, b in change.pairs])
    p = logs if isinstance(logs, Absent) else p_value(logs)
    return None if isinstance(p, Absent) else p


def _withdrawn(change: Change) -> Change:
    if change.verdict not in {"better", "worse"}:
        return change
    return replace(
        change, verdict="within-noise", reason="doesn't hold when all gated rows are judged together"
    )
