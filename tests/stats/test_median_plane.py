"""Median regression: known planes, robustness, and what has no slope."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.stats.median_plane import Plane, median_plane
from radixbench.stats.sample import Absent


@given(
    intercept=st.floats(0.001, 1.0),
    slope=st.floats(1e-6, 1e-3),
    other=st.floats(0.0, 1e-4),
)
def test_points_on_a_plane_give_it_back(intercept: float, slope: float, other: float) -> None:
    """Without noise the plane is the one that the points lie on."""
    xs, zs = [32, 32, 64, 1056, 1056, 4128], [0, 1024, 512, 0, 300, 100]
    found = median_plane([xs, zs], [intercept + slope * x + other * z for x, z in zip(xs, zs, strict=True)])
    assert isinstance(found, Plane)
    assert found.intercept == pytest.approx(intercept, rel=1e-6, abs=1e-9)
    assert found.slopes == pytest.approx((slope, other), rel=1e-6, abs=1e-10)
    assert found.at(100, 10) == pytest.approx(intercept + 100 * slope + 10 * other)


def test_a_third_of_outliers_moves_nothing() -> None:
    """Requests that waited ten times as long as the law says leave the median's line where it is."""
    xs = [x for x in range(10, 1010, 10) for _ in range(3)]
    ys = [(0.01 + 1e-4 * x) * (10.0 if place % 3 == 0 else 1.0) for place, x in enumerate(xs)]
    found = median_plane([xs], ys)
    assert isinstance(found, Plane)
    assert (found.intercept, found.slopes[0]) == pytest.approx((0.01, 1e-4), rel=1e-4)


def test_half_of_skewed_noise_lies_above() -> None:
    """With log-normal noise of median 1 the line is unbiased, and half of the points lie above it."""
    rng = np.random.default_rng(5)
    xs = rng.integers(1, 4000, 4000)
    ys = (0.005 + 2e-4 * xs) * rng.lognormal(0.0, 0.7, len(xs))
    found = median_plane([xs.tolist()], ys.tolist())
    assert isinstance(found, Plane)
    assert found.slopes[0] == pytest.approx(2e-4, rel=0.06)
    above = np.mean(ys > found.intercept + found.slopes[0] * xs)
    assert 0.48 < above < 0.52


def test_constant_ys_have_a_slope_of_exactly_0() -> None:
    """Rounding makes no slope out of none."""
    found = median_plane([[1, 2, 3, 4]], [0.1] * 4)
    assert isinstance(found, Plane)
    assert found.slopes == (0.0,)
    assert found.intercept == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("columns", "ys"),
    [
        ([[5, 5, 5]], [1.0, 2.0, 3.0]),
        ([[1, 2, 3, 4], [4, 3, 2, 1]], [1.0, 2.0, 3.0, 4.0]),
        ([[1, 2, 3, 4], [7, 7, 7, 7]], [1.0, 2.0, 3.0, 4.0]),
        ([[1]], [1.0]),
        ([[1, 2, 3]], [1.0, 0.0, 3.0]),
        ([[1, 2, 3]], [1.0, float("nan"), 3.0]),
    ],
    ids=["constant", "collinear", "one constant", "one point", "a zero", "not a number"],
)
def test_no_plane_without_slopes_of_their_own(columns: list[list[float]], ys: list[float]) -> None:
    """Columns that don't vary, or that follow from one another, leave no plane; nor do values without a ratio."""
    assert isinstance(median_plane(columns, ys), Absent)
