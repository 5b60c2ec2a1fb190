"""The chance of a verdict: against the noncentral t, its limits, and the shift that reaches a chance."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import nctdtr, ndtr, ndtri

from radixbench.stats.joint_rule import found_shift, joint_chance
from radixbench.stats.student import critical

DF = st.integers(1, 60)
ALPHA = st.floats(1e-4, 0.2)


@settings(deadline=None, derandomize=True)
@given(st.floats(0.01, 30), DF, ALPHA)
def test_without_a_bar_it_is_the_noncentral_t(shift: float, df: int, alpha: float) -> None:
    """With nothing but the t test to pass, scipy's distribution is the oracle."""
    oracle = 1.0 - float(nctdtr(df, shift, critical(1.0 - alpha, df)))
    assert joint_chance(shift, 0.0, df, alpha) == pytest.approx(oracle, abs=1e-9)


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 30), st.floats(0, 30), DF, ALPHA)
def test_two_conditions_are_harder_than_either(shift: float, bar: float, df: int, alpha: float) -> None:
    """Not above the chance of either condition, not below what both leave at least."""
    tested, reached = joint_chance(shift, 0.0, df, alpha), float(ndtr(shift - bar))
    both = joint_chance(shift, bar, df, alpha)
    assert tested + reached - 1.0 - 1e-9 <= both <= min(tested, reached) + 1e-9


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 20), st.floats(0.01, 5), st.floats(0, 20), DF)
def test_a_larger_effect_is_found_more_often(shift: float, more: float, bar: float, df: int) -> None:
    """The chance rises with the true shift and falls with the bar."""
    assert joint_chance(shift, bar, df, 0.05) <= joint_chance(shift + more, bar, df, 0.05) + 1e-9
    assert joint_chance(shift, bar + more, df, 0.05) <= joint_chance(shift, bar, df, 0.05) + 1e-9


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 1e4), DF, ALPHA, st.floats(0.3, 0.99))
def test_the_found_shift_is_found_that_often(bar: float, df: int, alpha: float, power: float) -> None:
    """At the shift the chance is the one asked for."""
    assert joint_chance(found_shift(bar, df, alpha, power), bar, df, alpha) == pytest.approx(power, abs=1e-6)


def test_a_high_bar_alone_decides() -> None:
    """Where the threshold is far beyond the noise of the test, the shift is the bar and a normal quantile."""
    assert found_shift(1000.0, 4, 0.05, 0.8) == pytest.approx(1000.0 + float(ndtri(0.8)), abs=1e-6)
    assert joint_chance(1000.0, 1000.0, 4, 0.05) == pytest.approx(0.5)


def test_no_shift_is_found_as_often_as_the_level_says() -> None:
    """Half of the level on either side, for few and for many degrees of freedom."""
    for df in (1, 4, 100, 10_000):
        assert joint_chance(0.0, 0.0, df, 0.05) == pytest.approx(0.025, abs=1e-9)
    assert math.isclose(joint_chance(5.0, 0.0, 10**6, 0.05), float(ndtr(5.0 - 1.959964)), abs_tol=1e-5)
