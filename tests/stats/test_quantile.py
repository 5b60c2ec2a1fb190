"""Quantiles against numpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.quantile import median, quantile
from radixbench.stats.sample import Absent, Sample

FLOATS = st.floats(-1e9, 1e9, allow_nan=False)


def test_interpolates_between_neighbours() -> None:
    """The linear method: a quarter of the way from 1 to 5 in five values lies on the second."""
    sample = Sample((5.0, 1.0, 2.0, 4.0, 3.0))
    assert quantile(sample, 0.25) == 2.0
    assert quantile(sample, 0.99) == pytest.approx(4.96)
    assert median(Sample((1.0, 2.0))) == 1.5


def test_nothing_has_no_quantile() -> None:
    """An empty sample answers with a reason, never 0; an absent one keeps its own."""
    assert quantile(Sample(()), 0.5) == Absent("no values")
    assert median(Absent("the server was down")) == Absent("the server was down")


def test_refuses_what_is_no_share() -> None:
    """A quantile of 50 is a slip for 0.5."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(Sample((1.0,)), 50)


@settings(deadline=None, derandomize=True)
@given(st.lists(FLOATS, min_size=1, max_size=50), st.floats(0, 1))
def test_is_numpys(values: list[float], q: float) -> None:
    """Whatever the values, the answer is numpy's, and lies between the extremes."""
    found = quantile(Sample(tuple(values)), q)
    assert found == float(np.quantile(values, q))
