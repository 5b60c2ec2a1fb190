"""The gate of a CI run: which rows make it fail.

Only gated rows count, all judged together, so that noise fails a gate in 5 % of the runs and not in 5 % for each of
its rows (``family``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, get_args

from radixbench.capture.model import Capture
from radixbench.compare.change import Change, Comparison, VerdictName
from radixbench.compare.family import Judged, is_withdrawn, judge_together, misses_much, outcome
from radixbench.compare.verdict import HEADLINE, JUDGED
from radixbench.errors import UsageError
from radixbench.findings.words import percent
from radixbench.metrics.registry import metric
from radixbench.stats.power import ALPHA

_OVERLOOKED = frozenset({"worse", "undecided"})
"""Who asks for these wants to know what rows within noise could have missed."""


def gated(comparison: Comparison, metrics: Collection[str] = HEADLINE) -> tuple[Change, ...]:
    """The gated rows with the verdicts that hold among all of them, in the document's order."""
    return tuple(one.change for one in judged(comparison, metrics))


def check_gate(metrics: Iterable[str], captures: Sequence[Capture] = ()) -> tuple[str, ...]:
    """The metrics, each once; refuses those that nobody knows, that have no verdict, or that ``captures`` lack targets for."""
    names = tuple(dict.fromkeys(metrics))
    for name in names:
        if metric(name).better is None:
            raise UsageError(f"{name} is no quality and has no verdict", remedy="gate on another metric")
        if metric(name).on_request and captures and not any(one.scenario.goodput for one in captures):
            raise UsageError(
                f"--gate {name}: neither capture has targets", remedy="give them: --goodput ttft:500"
            )
    return names


def gate(
    comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Change, ...]:
    """The gated rows whose corrected verdict is one of ``fail_on``, in the document's order."""
    wanted = set(fail_on)
    unknown = sorted(wanted - set(get_args(VerdictName)))
    if unknown:
        raise UsageError(
            f"--fail-on: no verdict is called {', '.join(unknown)}",
            remedy=f"choose from {', '.join(get_args(VerdictName))}",
        )
    return tuple(row for row in gated(comparison, check_gate(metrics)) if row.verdict in wanted)


def withdrawn(
    comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE
) -> tuple[Change, ...]:
    """Gated rows that have one of these verdicts by themselves but not in the gate, where all are judged together."""
    wanted = set(fail_on)
    return tuple(
        one.own
        for one in judged(comparison, metrics)
        if is_withdrawn(one.change) and one.own.verdict in wanted
    )


def conclusion(comparison: Comparison, fail_on: Iterable[str], metrics: tuple[str, ...] = HEADLINE) -> str:
    """How the gate ended, in a line: ``passed`` only where every gated row could be judged.

    Rows within noise add which change would have stayed unseen; where that is a large one they judge nothing either.
    """
    return ended(gated(comparison, metrics), fail_on, metrics)


def ended(rows: Sequence[Change], fail_on: Iterable[str], metrics: Sequence[str]) -> str:
    """``conclusion`` of gated rows that are judged already."""
    wanted, on = set(fail_on), f"on {', '.join(metrics)}"
    failed = {row.metric for row in rows if row.verdict in wanted}
    if failed:
        return f"failed on {', '.join(name for name in metrics if name in failed)}"
    unjudged = Counter(row.verdict or "without a verdict" for row in rows if row.verdict not in JUDGED)
    counts = ", ".join(f"{n} of {len(rows)} gated rows {what}" for what, n in unjudged.items())
    seen = [row.detectable for row in rows if row.detectable is not None] if wanted & _OVERLOOKED else []
    is_judged = bool(rows) and not counts and not (seen and any(map(misses_much, rows)))
    told = [f"passed {on}" if is_judged else f"nothing {' or '.join(sorted(wanted))} was shown {on}", counts]
    if seen:
        what = "a loss" if "worse" in wanted else "a change"
        told.append(f"{what} of less than {_loss(max(seen))} may have been missed")
    return "; ".join(part for part in told if part)


def _loss(effect: float) -> str:
    """A relative effect; from 100 % on the factor that it comes to."""
    return percent(effect) if effect < 1.0 else f"{1.0 + effect:.3g}×"


def gate_document(
    comparison: Comparison, metrics: tuple[str, ...] = HEADLINE, fail_on: Collection[str] | None = None
) -> dict[str, Any]:
    """The gated rows as scripts read them: own and corrected verdict, p, Holm's p, and the effect each could show.

    ``verdict`` is what all come to: a row's verdict, or ``mixed``. ``failed`` and ``conclusion`` are ``null`` where
    nobody asked for a gate.
    """
    found = judged(comparison, metrics)
    rows = [one.change for one in found]
    return {
        "metrics": list(metrics),
        "correction": "holm",
        "level": round(ALPHA, 6),
        "verdict": outcome(rows),
        "rows": [judged_row(one) for one in found],
        "fail_on": sorted(fail_on) if fail_on is not None else None,
        "failed": any(row.verdict in fail_on for row in rows) if fail_on is not None else None,
        "conclusion": None if fail_on is None else conclusion(comparison, fail_on, metrics),
    }


def judged_row(one: Judged) -> dict[str, Any]:
    """A gated row as scripts read it."""
    return {
        "cell": dict(one.change.cell),
        "metric": one.change.metric,
        "verdict": one.change.verdict,
        "by_itself": one.own.verdict,
        "p": one.p,
        "p_holm": one.p_holm,
        "detectable": None if one.change.power is None else one.change.power.detectable,
        "reason": one.change.reason,
    }


def judged(comparison: Comparison, metrics: Collection[str] = HEADLINE) -> tuple[Judged, ...]:
    """The gated rows, judged together with those of comparisons beside this one, which are left out again."""
    own = [row for row in comparison.changes if row.metric in metrics]
    beside = [row for row in comparison.beside if row.metric in metrics]
    return judge_together(own, comparison.threshold, beside=beside)
