"""Streamed quantiles against numpy's, kept and not kept."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.sample import Absent
from radixbench.stats.stream_quantile import KEPT, StreamQuantile

DURATIONS = st.floats(0, 1e6, allow_nan=False)


def _stream(values: list[float]) -> StreamQuantile:
    stream = StreamQuantile()
    for value in values:
        stream.add(value)
    return stream


def _long(seed: int, n: int) -> list[float]:
    chance = random.Random(seed)
    return [0.0 if chance.random() < 0.1 else chance.lognormvariate(-2, 2) for _ in range(n)]


@settings(deadline=None, derandomize=True)
@given(st.lists(DURATIONS, min_size=1, max_size=60), st.floats(0, 1))
def test_few_values_answer_as_numpy_does(values: list[float], q: float) -> None:
    """Up to the number that is kept the answer is exact."""
    stream = _stream(values)
    assert stream.exact
    assert stream.quantile(q) == float(np.quantile(values, q))


def test_many_values_answer_within_half_a_percent() -> None:
    """Beyond that number every quantile is at most 0.5 % off, zeros and extremes included."""
    values = _long(0, KEPT + 20_000)
    stream = _stream(values)
    assert not stream.exact
    for q in (0.0, 0.05, 0.3, 0.5, 0.9, 0.99, 0.999, 1.0):
        exact = float(np.quantile(values, q))
        assert stream.quantile(q) == pytest.approx(exact, rel=0.0051, abs=1e-300)
    assert stream.quantile(0.0) == min(values)
    assert stream.quantile(1.0) == max(values)


def test_two_streams_become_one() -> None:
    """Merging gives the quantiles of all values, whichever of the two is kept."""
    short, long = _long(1, 500), _long(2, KEPT + 1)
    for first, second in ((short, short), (short, long), (long, short)):
        stream = _stream(first)
        stream.merge(_stream(second))
        assert stream.n == len(first) + len(second)
        assert stream.quantile(0.5) == pytest.approx(float(np.quantile(first + second, 0.5)), rel=0.0051)


def test_nothing_has_no_quantile() -> None:
    """An empty stream answers with a reason."""
    assert StreamQuantile().quantile(0.5) == Absent("no values")


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_refuses_what_is_no_duration(value: float) -> None:
    """Negative, infinite and missing values are refused and leave no trace."""
    stream = StreamQuantile()
    with pytest.raises(ValueError, match="durations"):
        stream.add(value)
    assert stream.n == 0


def test_refuses_what_is_no_share() -> None:
    """A quantile of 50 is a slip for 0.5."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        _stream([1.0]).quantile(50)
