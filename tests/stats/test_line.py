"""Least squares: by hand, against numpy, and points that have no line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from radixbench.stats.line import Line, fit_line
from radixbench.stats.sample import Absent

POINT = st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))


def test_by_hand() -> None:
    """Through (0, 1), (1, 3), (2, 2): slope 1/2, residuals −1/2, 1, −1/2."""
    found = fit_line([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])
    assert found == Line(
        pytest.approx(1.5), pytest.approx(0.5), pytest.approx(0.25), pytest.approx(math.sqrt(1.5)), 3
    )
    assert isinstance(found, Line)
    assert found.at(4.0) == pytest.approx(3.5)


def test_two_points_leave_no_residual_to_tell() -> None:
    """Any line passes through two points: how far others would lie off it, nobody knows."""
    assert fit_line([1.0, 3.0], [1.0, 5.0]) == Line(-1.0, 2.0, 1.0, None, 2)


def test_constant_values_are_a_level_line() -> None:
    """No slope, and nothing left over."""
    assert fit_line([1.0, 2.0, 5.0], [3.0, 3.0, 3.0]) == Line(3.0, 0.0, 1.0, 0.0, 3)


def test_points_without_a_line() -> None:
    """One point, one x, no finite value: absent with the reason."""
    assert fit_line([], []) == Absent("0 of at least 2 points that a line needs")
    assert fit_line([1.0], [1.0]) == Absent("1 of at least 2 points that a line needs")
    assert fit_line([2.0] * 4, [1.0, 2.0, 3.0, 4.0]) == Absent(
        "all points have the same x, so that there is no slope"
    )
    assert fit_line([1.0, 2.0], [1.0, math.nan]) == Absent("a value isn't finite")
    assert fit_line([1.0, math.inf], [1.0, 2.0]) == Absent("a value isn't finite")
    with pytest.raises(ValueError, match="2 xs and 1 ys"):
        fit_line([1.0, 2.0], [1.0])


def test_a_large_offset_costs_no_digits() -> None:
    """Start times since 1970 in nanoseconds have the slope of those since the start."""
    near, far = (
        fit_line([offset + i for i in range(9)], [2.0 * i for i in range(9)]) for offset in (0, 2**50)
    )
    assert isinstance(near, Line)
    assert isinstance(far, Line)
    assert far.slope == pytest.approx(near.slope, rel=1e-12)


@settings(deadline=None, derandomize=True)
@given(st.lists(POINT, min_size=3, max_size=30))
def test_is_numpys(points: list[tuple[float, float]]) -> None:
    """Slope and intercept are those of numpy's least squares, and r² lies between 0 and 1."""
    xs, ys = ([point[axis] for point in points] for axis in (0, 1))
    assume(np.ptp(xs) > 1.0)
    found = fit_line(xs, ys)
    assert isinstance(found, Line)
    slope, intercept = np.polyfit(xs, ys, 1)
    scale = 1.0 + np.abs(ys).max()
    assert found.slope == pytest.approx(slope, abs=1e-7 * scale)
    assert found.intercept == pytest.approx(intercept, abs=1e-7 * scale * (1 + np.abs(xs).max() / np.ptp(xs)))
    assert 0.0 <= found.r_squared <= 1.0
