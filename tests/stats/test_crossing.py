"""Where lines over seeds cross 0: the value, the interval's coverage, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from radixbench.stats.crossing import crossing
from radixbench.stats.estimate import Estimate
from radixbench.stats.sample import Absent


def test_lines_all_alike_cross_at_one_place() -> None:
    """Height over slope, with an interval of no width."""
    found = crossing([(3.0, 0.5)] * 4)
    assert isinstance(found, Estimate)
    assert (found.value, found.n) == (6.0, 4)
    assert (found.low, found.high) == pytest.approx((6.0, 6.0))


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_the_interval_covers_as_often_as_it_says(n: int, noise: float) -> None:
    """Over 2,000 seeded worlds a 95 % interval holds the true place in 93.5 to 96.5 % of those that have one."""
    rng = np.random.default_rng(11)
    held = told = 0
    for _ in range(2000):
        slopes = 2.0 + rng.normal(0.0, 2.0 * noise, n)
        heights = 6.0 + rng.normal(0.0, 6.0 * noise, n) + 0.5 * (slopes - 2.0)
        found = crossing(list(zip(heights.tolist(), slopes.tolist(), strict=True)))
        if isinstance(found, Absent):
            continue
        assert found.low is not None
        assert found.high is not None
        told += 1
        held += found.low <= 3.0 <= found.high
    assert told > 1500
    assert 0.935 < held / told < 0.965


def test_one_seed_has_no_interval() -> None:
    """A value alone."""
    assert crossing([(4.0, 2.0)]) == Estimate(2.0, None, None, 0.95, 1)


@pytest.mark.parametrize(
    "lines",
    [[], [(1.0, 0.0)] * 3, [(1.0, -1.0)] * 3, [(1.0, 1.0), (1.0, -0.5), (1.0, 0.6)], [(float("nan"), 1.0)]],
    ids=["none", "flat", "falling", "unsure", "not a number"],
)
def test_no_place_without_a_sure_slope(lines: list[tuple[float, float]]) -> None:
    """Where the seeds don't tell the slope from 0, the lines may never cross."""
    assert isinstance(crossing(lines), Absent)
