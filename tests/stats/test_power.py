"""Significance and the smallest effect that could have shown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import paired_ratio
from radixbench.stats.joint_rule import found_shift
from radixbench.stats.power import POWER, chance, detectable_effect, p_value
from radixbench.stats.sample import Absent
from radixbench.stats.student import critical, two_sided_p


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
    assert p_value((0.1, math.nan)) == p_value((math.inf, 0.1)) == Absent("a value isn't finite")


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
    shift = found_shift(0.0, n - 1, 0.05, 0.8) / math.sqrt(n)
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
    """Without noise any effect that counts would show; a single pair, or one beyond numbers, has no answer."""
    assert detectable_effect((0.0, 0.0, 0.0)) == 0.0
    assert detectable_effect((0.1, 0.1, 0.1), threshold=0.03) == 0.03
    assert detectable_effect((1e-16, 0.0, -1e-16), threshold=0.03) == 0.03
    assert isinstance(detectable_effect((0.1, math.inf)), Absent)
    assert isinstance(detectable_effect((0.1, math.nan)), Absent)
    assert isinstance(detectable_effect((0.1,)), Absent)
    assert isinstance(detectable_effect((-500.0, 500.0)), Absent)


def verdicts(drawn: NDArray[np.float64], threshold: float) -> NDArray[np.int_]:
    """1, −1 or 0 for each row of log-ratios: better, worse or within noise."""
    n = drawn.shape[1]
    mean, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    is_found = (np.abs(mean) > critical(0.95, n - 1) * error) & (np.abs(np.expm1(mean)) >= threshold)
    return np.sign(mean).astype(int) * is_found


@pytest.mark.parametrize("threshold", [0.0, 0.03, 0.10])
@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_printed_chance_is_the_measured_one(n: int, threshold: float) -> None:
    """40,000 seeded experiments for each of five effects and three spreads: within a point of the exact chance."""
    noise = np.random.default_rng(n).standard_normal((40_000, n))
    for sd in (0.01, 0.05, 0.15):
        for effect in (-0.2, -0.05, 0.03, 0.1, 0.3):
            found = verdicts(math.log1p(effect) + sd * noise, threshold)
            measured = np.mean(found == np.sign(effect))
            assert abs(measured - chance(effect, sd=sd, n=n, threshold=threshold)) < 0.01
        assert (
            abs(np.mean(verdicts(sd * noise, threshold) != 0) - chance(0.0, sd=sd, n=n, threshold=threshold))
            < 0.01
        )


def test_ten_percent_are_found_with_five_seeds() -> None:
    """At a spread of 5 % or less five pairs show a true 10 % with at least 80 % chance, a loss of 10 % no less."""
    for sd in (0.0, 0.01, 0.03, 0.05):
        assert chance(0.10, sd=sd, n=5, threshold=0.03) >= POWER
        assert chance(-0.10, sd=sd, n=5, threshold=0.03) >= POWER
        assert chance(1 / 1.1 - 1, sd=sd, n=5, threshold=0.03) >= POWER


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_threshold_counts_in_what_is_detectable(n: int) -> None:
    """At the detectable effect the chance is 80 % by test and threshold together, at the threshold itself a half at most."""
    for sd in (0.0001, 0.003, 0.02, 0.1):
        logs = tuple(sd * math.sqrt((n - 1) / 2) * x for x in (1.0, -1.0, *[0.0] * (n - 2)))
        effect = detectable_effect(logs, threshold=0.03)
        assert isinstance(effect, float)
        assert effect > 0.03
        assert chance(effect, sd=sd, n=n, threshold=0.03) == pytest.approx(POWER, abs=1e-6)
        assert chance(0.03, sd=sd, n=n, threshold=0.03) <= 0.5 + 1e-9
        if effect < 1.0:
            assert chance(-effect, sd=sd, n=n, threshold=0.03) >= POWER - 1e-6


def test_chance_without_noise_or_pairs() -> None:
    """Without noise all is certain; fewer than two pairs and an endless spread never lead to a verdict."""
    assert chance(0.05, sd=0.0, n=3, threshold=0.03) == 1.0
    assert chance(0.02, sd=0.0, n=3, threshold=0.03) == 0.0
    assert chance(-0.05, sd=0.0, n=3, threshold=0.03) == 1.0
    assert chance(0.03, sd=0.0, n=3, threshold=0.03) == 1.0
    assert chance(0.0, sd=0.0, n=3) == 0.0
    assert chance(0.5, sd=0.01, n=1) == 0.0
    assert chance(0.5, sd=math.inf, n=5) == 0.0
    assert chance(-0.9, sd=0.0, n=3, threshold=1.0) == 0.0
    assert chance(0.05, sd=1e-320, n=3, threshold=0.03) == 1.0


@pytest.mark.parametrize(("effect", "sd"), [(-1.0, 0.1), (math.nan, 0.1), (0.1, -0.1), (0.1, math.nan)])
def test_refuses_what_is_no_effect_or_spread(effect: float, sd: float) -> None:
    """A factor of 0 and a negative spread are slips."""
    with pytest.raises(ValueError, match="no chance of an effect"):
        chance(effect, sd=sd, n=5)
