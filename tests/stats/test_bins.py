"""Histograms and cumulative curves: no value gets lost, every point is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.bins import Bins, Curve, bins, ecdf
from radixbench.stats.sample import Absent

VALUES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=80)


def test_bins_by_hand() -> None:
    """Two bins from 0 to 4: the middle belongs to the upper one, the last edge to the last."""
    assert bins([0.0, 1.0, 2.0, 4.0], 2) == Bins((0.0, 2.0, 4.0), (2, 2))
    found = bins([1.0, 10.0, 99.0, 100.0], 2, log=True)
    assert isinstance(found, Bins)
    assert found.edges == pytest.approx((1.0, 10.0, 100.0))
    assert sum(found.counts) == 4


def test_alike_values_share_a_bin_without_width() -> None:
    """A constant has one place."""
    assert bins([3.0] * 5, 10) == Bins((3.0, 3.0), (5,))
    assert bins([3.0], 10, log=True) == Bins((3.0, 3.0), (1,))


def test_what_has_no_bins() -> None:
    """Nothing, what isn't finite, and 0 on a logarithmic axis: absent with the reason."""
    assert bins([], 5) == Absent("no values")
    assert ecdf([], 5) == Absent("no values")
    assert bins([1.0, math.nan], 5) == Absent("a value isn't finite")
    assert ecdf([1.0, math.inf], 5) == Absent("a value isn't finite")
    assert isinstance(bins([0.0, 1.0], 5, log=True), Absent)
    with pytest.raises(ValueError, match="at least 1 bin"):
        bins([1.0], 0)
    with pytest.raises(ValueError, match="at least 2 points"):
        ecdf([1.0], 1)


@settings(deadline=None, derandomize=True)
@given(VALUES, st.integers(1, 40), st.booleans())
def test_every_value_is_in_one_bin(values: list[float], count: int, log: bool) -> None:
    """Counts add up to the number of values, edges rise from the least to the greatest."""
    found = bins(values, count, log=log)
    assert isinstance(found, Bins)
    assert sum(found.counts) == len(values)
    assert (found.edges[0], found.edges[-1]) == (min(values), max(values))
    assert list(found.edges) == sorted(found.edges)
    assert len(found.counts) == len(found.edges) - 1 <= count


@settings(deadline=None, derandomize=True)
@given(VALUES, st.integers(2, 30))
def test_every_point_of_the_curve_is_exact(values: list[float], points: int) -> None:
    """A point says which share of the values is at most there, and the curve ends at the greatest with all."""
    found = ecdf(values, points)
    assert isinstance(found, Curve)
    assert len(found.values) <= points
    for value, share in zip(found.values, found.shares, strict=True):
        assert share == pytest.approx(sum(v <= value for v in values) / len(values))
    assert (found.values[0], found.values[-1]) == (min(values), max(values))
    assert found.shares[-1] == 1.0


def test_few_values_keep_every_step() -> None:
    """Ties are one step."""
    assert ecdf([2.0, 1.0, 2.0, 3.0], 10) == Curve((1.0, 2.0, 3.0), (0.25, 0.75, 1.0))


def test_a_thinned_curve_stays_close() -> None:
    """Of 100,000 values 200 points remain, no share further from the next than a two-hundredth."""
    found = ecdf(np.random.default_rng(0).lognormal(size=100_000), 200)
    assert isinstance(found, Curve)
    assert len(found.values) == 200
    assert np.diff(found.shares).max() < 0.0051
