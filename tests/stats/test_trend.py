"""Trends: the oracle's variance, ties, degenerate points, and how often noise looks like one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import kendalltau

from radixbench.stats.sample import Absent
from radixbench.stats.trend import MAX_POINTS, MIN_VALUES, Trend, trend

SMALL = st.integers(-5, 5).map(float)


def there(found: Trend | Absent) -> Trend:
    """The trend, which must be there."""
    assert isinstance(found, Trend), found
    return found


def kept_order(phi: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Normal noise of variance 1 in which each value resembles the one before by ``phi``."""
    noise = rng.standard_normal(size + 100)
    for i in range(1, len(noise)):
        noise[i] = phi * noise[i - 1] + math.sqrt(1 - phi * phi) * noise[i]
    return noise[100:]


def test_a_straight_rise_by_hand() -> None:
    """From 1 to 3 s over 20 s: a tenth of a second each second, in all as much as the median."""
    found = there(trend(range(21), [1.0 + 0.1 * i for i in range(21)]))
    assert found.slope == pytest.approx(0.1)
    assert found.change == pytest.approx(1.0)
    assert found.p < 1e-6
    assert found.n == 21


def test_the_order_of_points_is_that_of_x() -> None:
    """Points may come in any order."""
    xs, ys = [3.0, 1.0, 2.0, 6.0, 4.0, 5.0, 8.0, 7.0], [9.0, 1.0, 4.0, 36.0, 16.0, 25.0, 64.0, 49.0]
    assert trend(xs, ys) == trend(*zip(*sorted(zip(xs, ys, strict=True)), strict=True))


def test_one_wild_value_doesnt_move_the_slope() -> None:
    """A request that hung for a minute is no trend."""
    ys = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 60.0, 1.02, 0.98, 1.0, 1.03, 0.97]
    found = there(trend(range(12), ys))
    assert abs(found.change) < 0.1
    assert found.p > 0.3


def test_few_points_have_no_trend() -> None:
    """Seven values say nothing, and the reason says so."""
    assert trend(range(7), range(7)) == Absent(f"7 of at least {MIN_VALUES} values that a trend needs")
    assert trend([], []) == Absent(f"0 of at least {MIN_VALUES} values that a trend needs")


def test_degenerate_points() -> None:
    """One x for all, values that aren't finite, a median of 0: absent with the reason."""
    assert trend([1.0] * 9, range(9)) == Absent("all points have the same x, so that there is no trend")
    assert trend([1.0] * 5000 + [2.0], range(5001)) == Absent(
        "all points have the same x, so that there is no trend"
    )
    assert trend(range(9), [*range(8), math.nan]) == Absent("a value isn't finite")
    assert trend([*range(8), math.inf], range(9)) == Absent("a value isn't finite")
    zero = Absent("a median of 0, or next to it, has no relative change")
    assert trend(range(9), [0.0] * 9) == zero
    with pytest.raises(ValueError, match="9 xs and 8 ys"):
        trend(range(9), range(8))


def test_constant_values_have_no_trend() -> None:
    """No change, and nothing to be sure of."""
    assert trend(range(20), [0.3] * 20) == Trend(0.0, 0.0, 1.0, 20, 1.0)
    assert there(trend(range(500), [7.0] * 500)) == Trend(0.0, 0.0, 1.0, 500, 1.0)


def undoubted(xs: list[float], ys: list[float]) -> float | None:
    """p with scipy's variance, corrected for continuity; ``None`` where there is no order to speak of."""
    points = list(zip(xs, ys, strict=True))
    score = sum(np.sign(b[0] - a[0]) * np.sign(b[1] - a[1]) for i, a in enumerate(points) for b in points[:i])
    if abs(score) < 2:
        return None
    deviation = abs(score) / -ndtri(kendalltau(xs, ys, method="asymptotic").pvalue / 2)
    return float(math.erfc((abs(score) - 1) / deviation / math.sqrt(2)))


def test_the_variance_with_ties_is_the_oracles() -> None:
    """Values that leap to and fro resemble no neighbour: p is scipy's asymptotic one, corrected for continuity."""
    xs = [0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0, 7.0]
    ys = [1.0, 3.0, 1.0, 4.0, 2.0, 4.0, 2.0, 5.0, 3.0, 5.0, 3.0, 6.0]
    expected = undoubted(xs, ys)
    assert expected is not None
    assert expected < 0.05
    assert there(trend(xs, ys)).p == pytest.approx(expected, rel=1e-6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.tuples(SMALL, SMALL), min_size=MIN_VALUES, max_size=30))
def test_doubt_makes_no_trend(points: list[tuple[float, float]]) -> None:
    """Whatever the order and the ties, p is the oracle's, and resemblance only ever raises it."""
    xs, ys = ([10.0 + point[axis] for point in sorted(points)] for axis in (0, 1))
    found, expected = trend(xs, ys), undoubted(xs, ys)
    if isinstance(found, Trend) and expected is not None:
        assert found.p == pytest.approx(expected, rel=1e-6)
        assert found.p * (1 - 1e-9) <= found.p_alike <= 1.0


@pytest.mark.parametrize("n", [8, 20, 50, 1000])
def test_an_order_without_exception_is_a_trend(n: int) -> None:
    """However smoothly the values rise or fall, which makes neighbours as alike as can be."""
    for ys in (
        [1.0 + x for x in range(n)],
        [1.0 + x * x for x in range(n)],
        [math.exp(-x / n) for x in range(n)],
    ):
        assert there(trend(range(n), ys)).p_alike < 0.0011


@pytest.mark.parametrize("n", [20, 50, 1000])
def test_a_step_without_noise_is_a_trend(n: int) -> None:
    """Two levels, one after the other."""
    assert there(trend(range(n), [1.0] * (n // 2) + [2.0] * (n // 2))).p_alike < 0.0011


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.floats(0.1, 10), min_size=MIN_VALUES, max_size=40), st.floats(0.01, 100))
def test_units_dont_matter(ys: list[float], factor: float) -> None:
    """Change and p are the same in seconds and in milliseconds; turned round, the change changes sign."""
    here, there_ = there(trend(range(len(ys)), ys)), there(trend(range(len(ys)), [factor * y for y in ys]))
    assert there_.change == pytest.approx(here.change, abs=1e-9)
    back = there(trend([-x for x in range(len(ys))], ys))
    assert back.change == pytest.approx(-here.change, abs=1e-9)
    assert back.slope == pytest.approx(-here.slope, abs=1e-9)


@pytest.mark.parametrize("n", [8, 20, 50, 400])
def test_noise_is_seldom_a_trend(n: int) -> None:
    """Of 200 seeded runs of independent log-normal times, about 5 % at most have p below 0.05."""
    rng = np.random.default_rng(n)
    found = [there(trend(range(n), np.exp(0.4 * rng.standard_normal(n)))).p_alike < 0.05 for _ in range(200)]
    assert np.mean(found) < 0.08


@pytest.mark.parametrize(("phi", "n"), [(0.5, 200), (0.9, 1000)])
def test_queues_are_seldom_a_trend(phi: float, n: int) -> None:
    """Requests that resemble their neighbours raise that share by little, not to a third and a half."""
    rng = np.random.default_rng(n)
    found = [there(trend(range(n), np.exp(0.3 * kept_order(phi, n, rng)))).p_alike < 0.05 for _ in range(100)]
    assert np.mean(found) < 0.14


@pytest.mark.parametrize("n", [60, 200, 2000])
def test_a_step_is_found(n: int) -> None:
    """A card that slows by 20 % in mid-run is found, though a step leaves neighbours alike."""
    rng = np.random.default_rng(n)
    xs = np.arange(n)
    found = [
        there(trend(xs, np.exp(0.1 * rng.standard_normal(n)) * (1 + 0.2 * (xs > 0.6 * n)))).p_alike < 0.05
        for _ in range(50)
    ]
    assert np.mean(found) > 0.9


def test_many_points_cost_little() -> None:
    """A hundred thousand requests are judged by as many blocks as fifty thousand are, and the slope is theirs."""
    n = 100_000
    ys = 1.0 + np.arange(n) / n + 0.2 * np.random.default_rng(0).standard_normal(n)
    found = there(trend(np.arange(n), ys))
    assert n > MAX_POINTS
    assert found.slope * n == pytest.approx(1.0, abs=0.02)
    assert found.n == n


def test_blocks_of_one_x_leave_no_doubt_to_judge_by() -> None:
    """Where all but one of many points have the same x, nothing is found."""
    found = there(trend([1.0] * 500 + [2.0], range(501)))
    assert found.p_alike == 1.0
