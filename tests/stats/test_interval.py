"""Intervals: closed forms, degenerate samples, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import (
    log_ratios,
    mean_interval,
    paired_difference,
    paired_ratio,
    spread,
)
from radixbench.stats.sample import Absent, Sample

POSITIVE = st.floats(1e-6, 1e6, allow_nan=False)


def estimate(found: Estimate | Absent) -> Estimate:
    """The estimate, which must be there."""
    assert isinstance(found, Estimate), found
    return found


def test_arithmetic_mean_by_hand() -> None:
    """Mean 2, standard deviation 1, n 3: half width t(0.975, 2) / √3 = 4.30265 / 1.73205."""
    found = estimate(mean_interval(Sample((1.0, 2.0, 3.0)), kind="arithmetic"))
    assert found.value == 2.0
    assert found.low == pytest.approx(2 - 4.302653 / math.sqrt(3))
    assert found.high == pytest.approx(2 + 4.302653 / math.sqrt(3))
    assert (found.level, found.n) == (0.95, 3)


def test_geometric_mean_by_hand() -> None:
    """Of 1, 10, 100 the geometric mean is 10, and its interval is symmetric in the ratio."""
    found = estimate(mean_interval(Sample((1.0, 10.0, 100.0)), kind="geometric"))
    assert found.value == pytest.approx(10.0)
    assert found.low is not None
    assert found.high is not None
    assert found.high / 10 == pytest.approx(10 / found.low)
    assert math.log10(found.high) == pytest.approx(1 + 4.302653 / math.sqrt(3))


def test_two_values_have_a_wide_interval() -> None:
    """One degree of freedom: t is 12.706."""
    found = estimate(mean_interval(Sample((1.0, 3.0)), kind="arithmetic"))
    assert found.low == pytest.approx(2 - 12.7062)


def test_one_value_has_no_interval() -> None:
    """One run says what it measured and nothing about the next."""
    found = estimate(mean_interval(Sample((0.25,)), kind="geometric"))
    assert (found.value, found.low, found.high, found.n) == (pytest.approx(0.25), None, None, 1)


def test_nothing_in_nothing_out() -> None:
    """No values, absent values, impossible values: absent with the reason."""
    assert mean_interval(Sample(()), kind="arithmetic") == Absent("no values")
    assert mean_interval(Absent("lost"), kind="geometric") == Absent("lost")
    assert mean_interval(Sample((1.0, math.nan)), kind="arithmetic") == Absent("a value isn't finite")
    assert isinstance(mean_interval(Sample((1.0, 0.0)), kind="geometric"), Absent)
    assert isinstance(paired_ratio([(1.0, 0.0)]), Absent)
    assert isinstance(log_ratios([(-1.0, 1.0)]), Absent)


@settings(deadline=None, derandomize=True)
@given(POSITIVE, st.integers(2, 10))
def test_constant_samples_have_no_width(value: float, n: int) -> None:
    """All runs alike: the interval is the value, not a rounding error around it."""
    found = estimate(mean_interval(Sample((value,) * n), kind="arithmetic"))
    assert found.low == found.high == found.value
    assert spread((value,) * n) == 0.0


@settings(deadline=None, derandomize=True)
@given(st.lists(POSITIVE, min_size=2, max_size=8))
def test_identical_pairs_have_ratio_one(values: list[float]) -> None:
    """A capture against itself: ratio exactly 1, interval exactly 1 to 1."""
    found = estimate(paired_ratio([(value, value) for value in values]))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=8))
def test_swapped_pairs_have_the_reciprocal(pairs: list[tuple[float, float]]) -> None:
    """Swapping the sides turns the ratio and its interval upside down."""
    there = estimate(paired_ratio(pairs))
    back = estimate(paired_ratio([(b, a) for a, b in pairs]))
    assert back.value == pytest.approx(1 / there.value)
    if there.high is not None and back.low is not None and math.isfinite(1 / there.high):
        assert back.low == pytest.approx(1 / there.high)


def test_a_spread_beyond_floating_point_leaves_the_end_open() -> None:
    """e^x out of range says nothing: the end is unknown, not infinite."""
    found = estimate(paired_ratio([(1e-300, 1e300), (1e300, 1e-300)]))
    assert (found.low, found.high) == (None, None)
    assert found.value == pytest.approx(1.0)
    wide = estimate(mean_interval(Sample((1e200, -1e200)), kind="arithmetic"))
    assert (wide.value, wide.low, wide.high) == (0.0, None, None)


def test_a_ratio_beyond_floating_point_is_absent() -> None:
    """No factor of infinity, and none of 0."""
    beyond = Absent("the values are too far apart for a ratio")
    assert paired_ratio([(1e300, 1e-300)] * 3) == beyond
    assert paired_ratio([(1e-300, 1e300)] * 3) == beyond


def test_paired_difference_by_hand() -> None:
    """Differences of 1, 2 and 3."""
    found = estimate(paired_difference([(2.0, 1.0), (4.0, 2.0), (6.0, 3.0)]))
    assert found.value == 2.0
    assert found.low == pytest.approx(2 - 4.302653 / math.sqrt(3))


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_intervals_cover_the_truth(n: int) -> None:
    """Of 2,000 seeded data sets with log-normal noise, 95 % of the ratio's intervals hold the truth."""
    rng = np.random.default_rng(n)
    a = np.exp(rng.normal(math.log(1.3), 0.05, (2000, n)))
    b = np.exp(rng.normal(0.0, 0.05, (2000, n)))
    held = 0
    for row in range(2000):
        found = estimate(paired_ratio(list(zip(a[row].tolist(), b[row].tolist(), strict=True))))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.3 <= found.high
    assert 0.935 <= held / 2000 <= 0.965
