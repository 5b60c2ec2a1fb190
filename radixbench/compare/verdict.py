"""The verdict of one row, in a fixed order of questions.

1  may these captures be compared at all?                    no  → incomparable
2  3 pairs, every figure there, 99 % of the answers came?    no  → undecided
3  does the interval exclude 1 and is the effect at least
the threshold?                                            yes → better or worse
4                                                                  within-noise
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.compare.change import Factor, VerdictName

MIN_PAIRS = 3
THRESHOLD = 0.03
JUDGED = frozenset({"better", "worse", "within-noise"})
"""Verdicts that rest on an interval; the others say that there is nothing to rest on."""
HEADLINE = ("ttft_p50", "output_throughput")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, and why there is no firmer one."""

    name: VerdictName
    reason: str | None = None


def conclude(
    factor: Factor | None,
    *,
    forbidden: str | None,
    obstacle: str | None,
    n_pairs: int,
    threshold: float,
) -> Verdict:
    """``forbidden`` says why the captures can't be compared, ``obstacle`` what the row lacks."""
    if forbidden is not None:
        return Verdict("incomparable", forbidden)
    if obstacle is not None:
        return Verdict("undecided", obstacle)
    if n_pairs < MIN_PAIRS:
        return Verdict("undecided", f"{n_pairs} of at least {MIN_PAIRS} pairs")
    if factor is None or factor.low is None or factor.high is None:
        return Verdict("undecided", "the factor has no interval")
    if factor.low <= 1.0 <= factor.high or abs(factor.value - 1.0) < threshold:
        return Verdict("within-noise")
    return Verdict("better" if factor.value > 1.0 else "worse")
