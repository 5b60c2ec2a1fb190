"""The gated rows judged together, as people read them: one claim about several figures.

Each row by itself is wrong in 5 % of the cases where nothing changed; of six rows one or more is in a quarter of
them. Holm's correction keeps that chance at 5 % for all gated rows together: a ``better`` or ``worse`` that doesn't
survive it is ``within-noise`` here, and says so. The headline and the gate speak of these verdicts; rows that
aren't gated, and the document's rows, keep their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from radixbench.compare.change import Change
from radixbench.compare.power import power
from radixbench.compare.verdict import JUDGED, THRESHOLD
from radixbench.stats.holm import holm
from radixbench.stats.interval import log_ratios
from radixbench.stats.power import ALPHA, p_value
from radixbench.stats.sample import Absent

_BLIND = 0.25
WITHDRAWN = "doesn't hold when all gated rows are judged together"
"""The reason of a row that is better or worse by itself only."""

Outcome = Literal["better", "worse", "mixed", "within-noise", "undecided", "incomparable"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A gated row: ``change`` with the verdict that holds among all of them, ``own`` by itself.

    ``alpha`` is the level at which this row is decided while the others are as they are; its ``detectable`` and
    ``power`` are those of that level. ``p`` and ``p_holm`` are to be held against 0.05, and ``None`` for rows without a
    verdict.
    """

    change: Change
    own: Change
    p: float | None = None
    p_holm: float | None = None
    alpha: float | None = None


def judge_together(
    changes: Iterable[Change], threshold: float = THRESHOLD, *, beside: Iterable[Change] = ()
) -> tuple[Judged, ...]:
    """The rows with every ``better`` and ``worse`` withdrawn that Holm's correction over them doesn't uphold.

    Rows ``beside`` them belong to the same claim and aren't returned.
    """
    rows = tuple(changes)
    ps = [_p_of(row) for row in (*rows, *beside)]
    adjusted = iter(holm([p for p in ps if p is not None]))
    holms = [None if p is None else next(adjusted) for p in ps]
    still_open = sum(h is not None and h > ALPHA for h in holms)
    return tuple(
        Judged(row, row) if p is None or h is None else _judged(row, p, h, still_open, threshold)
        for row, p, h in zip(rows, ps, holms, strict=False)
    )


def corrected(changes: Iterable[Change], threshold: float = THRESHOLD) -> tuple[Change, ...]:
    """The rows with the verdicts that hold among all of them."""
    return tuple(one.change for one in judge_together(changes, threshold))


def is_withdrawn(change: Change) -> bool:
    """Whether a corrected row is better or worse by itself only."""
    return change.verdict == "within-noise" and change.reason == WITHDRAWN


def is_blind(change: Change) -> bool:
    """Whether a row within noise would have missed even a large effect, far above what counts: it shows nothing at all."""
    return change.verdict == "within-noise" and not is_withdrawn(change) and misses_much(change)


def misses_much(change: Change) -> bool:
    """Whether a row could only have shown a large effect, far above what counts."""
    return change.detectable is not None and change.detectable >= max(_BLIND, 2.0 * change.threshold)


def outcome(rows: Sequence[Change]) -> Outcome:
    """What corrected rows come to: ``undecided`` also where only some of them lack a verdict and none changed."""
    verdicts = {row.verdict for row in rows}
    if {"better", "worse"} <= verdicts:
        return "mixed"
    if "worse" in verdicts:
        return "worse"
    if "better" in verdicts:
        return "better"
    if verdicts == {"within-noise"}:
        return "within-noise"
    return "incomparable" if "incomparable" in verdicts else "undecided"


def _judged(row: Change, p: float, p_holm: float, still_open: int, threshold: float) -> Judged:
    upheld = p_holm <= ALPHA
    alpha = row.alpha / (still_open + 1 if upheld else still_open)
    change = row
    if row.power is not None and alpha < row.alpha:
        stricter = power(row.pairs, threshold=threshold, alpha=alpha)
        change = replace(change, power=stricter, detectable=None if stricter is None else stricter.detectable)
    if row.verdict != "within-noise":
        change = (
            replace(change, detectable=None)
            if upheld
            else replace(change, verdict="within-noise", reason=WITHDRAWN)
        )
    return Judged(change, row, p, p_holm, alpha)


def _p_of(change: Change) -> float | None:
    """The p of a row's paired log-ratios, as against 0.05; ``None`` for a row that has no verdict of its own."""
    if change.verdict not in JUDGED:
        return None
    logs = log_ratios([(a, b) for _, a, b in change.pairs])
    p = logs if isinstance(logs, Absent) else p_value(logs)
    return None if isinstance(p, Absent) else min(1.0, p * ALPHA / change.alpha)
