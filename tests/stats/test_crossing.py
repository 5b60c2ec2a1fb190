"""From where on curves over seeds lie above 0: the value, the interval's coverage, and when there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from radixbench.stats.crossing import above_from
from radixbench.stats.estimate import Estimate
from radixbench.stats.sample import Absent


def lines(*of: tuple[float, float]) -> Callable[[float], list[float]]:
    """Heights of lines by (height they have to make good, slope)."""
    return lambda place: [slope * place - height for height, slope in of]


def test_lines_all_alike_cross_at_one_place() -> None:
    """Height over slope, with an interval of no width."""
    found = above_from(lines(*[(3.0, 0.5)] * 4), 100.0)
    assert isinstance(found, Estimate)
    assert found.n == 4
    assert (found.value, found.low, found.high) == pytest.approx((6.0, 6.0, 6.0))


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_the_interval_covers_as_often_as_it_says(n: int, noise: float) -> None:
    """Over seeded worlds a 95 % interval holds the true place in about 95 % of those that have one."""
    rng = np.random.default_rng(11)
    held = told = 0
    for _ in range(250):
        slopes = 2.0 + rng.normal(0.0, 2.0 * noise, n)
        heights = 6.0 + rng.normal(0.0, 6.0 * noise, n) + 0.5 * (slopes - 2.0)
        found = above_from(lambda place, up=slopes, off=heights: list(up * place - off), 1000.0)
        if isinstance(found, Absent):
            continue
        assert found.low is not None
        assert found.high is not None
        told += 1
        held += found.low <= 3.0 <= found.high
    assert told > 150
    assert 0.91 < held / told < 0.985


def test_curves_count_from_their_last_rise() -> None:
    """A curve that is above 0, dips and rises again is above 0 for good only from there on."""
    found = above_from(lambda place: [(place - 2.0) * (place - 5.0)] * 3, 100.0)
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(5.0)


def test_curves_above_0_everywhere() -> None:
    """From 0 on, however little the seeds agree on the slope."""
    found = above_from(lines((-3.0, 0.1), (-3.1, -0.01), (-2.9, 0.2)), 10.0)
    assert isinstance(found, Estimate)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


def test_one_seed_has_no_interval() -> None:
    """A value alone."""
    found = above_from(lines((4.0, 2.0)), 10.0)
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(2.0)
    assert (found.low, found.high, found.n) == (None, None, 1)


@pytest.mark.parametrize(
    "of",
    [[], [(1.0, 0.0)] * 3, [(1.0, -1.0)] * 3, [(1.0, 1.0), (1.0, -0.5), (1.0, 0.6)], [(float("nan"), 1.0)]],
    ids=["none", "flat", "falling", "unsure", "not a number"],
)
def test_no_place_where_the_end_isn_t_surely_above_0(of: list[tuple[float, float]]) -> None:
    """Where the seeds don't tell the end from 0, the curves may never rise above it."""
    assert isinstance(above_from(lines(*of), 100.0), Absent)
