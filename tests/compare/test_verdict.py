"""The order of questions behind a verdict."""

from __future__ import annotations

import pytest

from radixbench.compare.change import Factor
from radixbench.compare.verdict import Verdict, conclude

CLEAR = Factor(value=2.0, low=1.8, high=2.2, level=0.95)


def ask(
    factor: Factor | None, *, forbidden: str | None = None, obstacle: str | None = None, n_pairs: int = 3
) -> Verdict:
    """The verdict at the default threshold."""
    return conclude(factor, forbidden=forbidden, obstacle=obstacle, n_pairs=n_pairs, threshold=0.03)


def test_forbidden_comes_first() -> None:
    """Captures that can't be compared aren't undecided, even without any figure."""
    assert ask(None, forbidden="weights", obstacle="absent", n_pairs=0) == Verdict("incomparable", "weights")


def test_obstacles_come_before_numbers() -> None:
    """A lacking figure outweighs the clearest interval."""
    assert ask(CLEAR, obstacle="A: no token") == Verdict("undecided", "A: no token")
    assert ask(CLEAR, n_pairs=2) == Verdict("undecided", "2 of at least 3 pairs")
    assert ask(None) == Verdict("undecided", "the factor has no interval")


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (2.0, 1.8, 2.2, "better"),
        (0.5, 0.4, 0.6, "worse"),
        (1.5, 0.9, 2.5, "within-noise"),
        (1.5, 1.0, 2.0, "within-noise"),
        (1.029, 1.02, 1.04, "within-noise"),
        (1.031, 1.02, 1.04, "better"),
        (0.971, 0.96, 0.98, "within-noise"),
        (0.969, 0.96, 0.98, "worse"),
    ],
)
def test_interval_and_threshold(value: float, low: float, high: float, verdict: str) -> None:
    """An interval that touches 1, or an effect below the threshold, is within noise."""
    assert ask(Factor(value=value, low=low, high=high, level=0.95)).name == verdict
