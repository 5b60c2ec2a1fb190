"""Histograms: no value gets lost."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.bins import Bins, bins
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
    assert bins([1.0, math.nan], 5) == Absent("a value isn't finite")
    assert isinstance(bins([0.0, 1.0], 5, log=True), Absent)
    with pytest.raises(ValueError, match="at least 1 bin"):
        bins([1.0], 0)


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
