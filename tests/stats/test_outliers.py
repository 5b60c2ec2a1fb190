"""Outliers: where the fences stand, and that nothing gets lost."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.outliers import MIN_VALUES, Fences, Outliers, classify, stands_apart
from radixbench.stats.sample import Absent


def test_by_hand() -> None:
    """Quartiles 2 and 4: mild beyond −1 and 7, severe beyond −4 and 10."""
    found = classify([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found == Outliers(0, 0, 0, 0, 5, Fences(-4.0, -1.0, 7.0, 10.0))


def test_each_class_is_counted_once() -> None:
    """Two far below, one just below, one just above, three far above, of 107."""
    usual = [float(x) for x in range(1, 101)]
    found = classify([*usual, -150.0, -160.0, -60.0, 170.0, 300.0, 400.0, 500.0])
    assert isinstance(found, Outliers)
    assert (found.low_severe, found.low_mild, found.high_mild, found.high_severe) == (2, 1, 1, 3)
    assert (found.total, found.n) == (7, 107)


def test_a_value_on_the_fence_is_usual() -> None:
    """Only what lies beyond a fence counts."""
    found = classify([1.0, 2.0, 3.0, 4.0, 5.0, 3.0])
    assert isinstance(found, Outliers)
    on_fence = classify([2.0, 2.0, 4.0, 4.0, 7.0])
    assert isinstance(on_fence, Outliers)
    assert on_fence.fences.high_mild == 7.0
    assert on_fence.total == 0


def test_few_and_broken_values() -> None:
    """Fewer than five values, or one that isn't finite, have no quartiles worth the name."""
    assert classify([]) == Absent("0 of at least 5 values that outliers need")
    assert classify([1.0, 2.0, 3.0, 400.0]) == Absent("4 of at least 5 values that outliers need")
    assert classify([1.0, 2.0, 3.0, 4.0, math.nan]) == Absent("a value isn't finite")
    assert classify([1.0, 2.0, 3.0, 4.0, math.inf]) == Absent("a value isn't finite")


def test_ties() -> None:
    """Values all alike have no outliers; where most are alike, quartiles can't tell which of the others are."""
    found = classify([3.0] * 9)
    assert found == Outliers(0, 0, 0, 0, 9, Fences(3.0, 3.0, 3.0, 3.0))
    assert isinstance(classify([0.0] * 8 + [1.0, 2.0]), Absent)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=MIN_VALUES, max_size=60))
def test_classes_are_disjoint_and_mirror(values: list[float]) -> None:
    """At most half of the values are outliers; with signs turned, low and high change places."""
    found, mirrored = classify(values), classify([-value for value in values])
    if isinstance(found, Absent) or isinstance(mirrored, Absent):
        assert type(found) is type(mirrored)
        return
    assert found.total <= len(values) / 2
    assert (
        found.fences.low_severe <= found.fences.low_mild <= found.fences.high_mild <= found.fences.high_severe
    )
    low, high = found.low_mild + found.low_severe, found.high_mild + found.high_severe
    assert abs(mirrored.low_mild + mirrored.low_severe - high) <= 1
    assert abs(mirrored.high_mild + mirrored.high_severe - low) <= 1


def test_normal_values_have_the_shares_tukey_gave() -> None:
    """Of 100,000 normal values 0.7 % lie beyond the inner fences."""
    found = classify(np.random.default_rng(0).standard_normal(100_000))
    assert isinstance(found, Outliers)
    assert 0.006 < found.total / found.n < 0.008


def test_few_normal_values_seldom_have_one_apart() -> None:
    """At 5 %, as often as it says (Grubbs' test), where Tukey's fences see a severe outlier in 13 % of fives."""
    rng = np.random.default_rng(3)
    samples = rng.normal(10.0, 1.0, (4000, 5))
    apart = 0
    for sample in samples:
        place = int(np.abs(sample - sample.mean()).argmax())
        apart += stands_apart(sample.tolist(), place, alpha=0.05)
    assert 0.04 < apart / len(samples) < 0.06


def test_values_that_are_all_the_same_but_one() -> None:
    """Any difference stands apart from none; none doesn't."""
    assert stands_apart([1.0, 1.0, 1.0, 2.0], 3, alpha=0.01)
    assert not stands_apart([1.0] * 4, 0, alpha=0.01)
