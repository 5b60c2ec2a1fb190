"""Significance and the smallest effect that could have shown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import paired_ratio
from radixbench.stats.power import detectable_effect, p_value
from radixbench.stats.sample import Absent
from radixbench.stats.student import critical, found_shift, two_sided_p


def test_known_critical_values() -> None:
    """The table in every textbook."""
    assert critical(0.95, 1) == pytest.approx(12.7062, abs=1e-4)
    assert critical(0.95, 2) == pytest.approx(4.3027, abs=1e-4)
    assert critical(0.95, 9) == pytest.approx(2.2622, abs=1e-4)
    assert two_sided_p(critical(0.95, 4), 4) == pytest.approx(0.05)


def test_p_of_samples_without_spread() -> None:
    """No effect and no noise is no evidence; the same effect every time is all there can be."""
    assert p_value((0.0, 0.0, 0.0)) == 1.0
    assert p_value((0.1, 0.1, 0.1)) == 0.0
    assert isinstance(p_value((0.1,)), Absent)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(-1, 1).filter(lambda x: abs(x) > 1e-6), min_size=3, max_size=6, unique=True))
def test_p_and_interval_agree(logs: list[float]) -> None:
    """p is below 0.05 exactly where the interval excludes 1."""
    p = p_value(tuple(logs))
    found = paired_ratio([(math.exp(x), 1.0) for x in logs])
    assert isinstance(p, float)
    assert isinstance(found, Estimate)
    assert found.low is not None
    assert found.high is not None
    if abs(p - 0.05) > 1e-6:
        assert (p < 0.05) == (not found.low <= 1.0 <= found.high)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_detectable_effect_is_found_four_times_in_five(n: int) -> None:
    """Monte Carlo over 40,000 seeded experiments with a true shift of that size: power 80 %."""
    shift = found_shift(n - 1, alpha=0.05, power=0.8) / math.sqrt(n)
    drawn = np.random.default_rng(n).normal(shift, 1.0, (40_000, n))
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / math.sqrt(n))
    assert abs(np.mean(np.abs(t) > critical(0.95, n - 1)) - 0.8) < 0.01


def test_detectable_effect_by_hand() -> None:
    """Three log-ratios of spread 0.01: e^(5.653 · 0.01 / √3) − 1 = 3.3 %."""
    assert detectable_effect((-0.01, 0.0, 0.01)) == pytest.approx(math.expm1(5.65349 * 0.01 / math.sqrt(3)))


def test_more_runs_detect_less() -> None:
    """With the same spread, twice as many runs show a smaller effect."""
    few = detectable_effect((-0.01, 0.01) * 2)
    many = detectable_effect((-0.01, 0.01) * 4)
    assert isinstance(few, float)
    assert isinstance(many, float)
    assert many < few


def test_no_spread_hides_nothing_and_one_pair_tells_nothing() -> None:
    """Without noise any effect would show; a single pair, or one beyond numbers, has no answer."""
    assert detectable_effect((0.0, 0.0, 0.0)) == 0.0
    assert isinstance(detectable_effect((0.1,)), Absent)
    assert isinstance(detectable_effect((-500.0, 500.0)), Absent)
