"""The stopping rule: when it holds, and how often the interval it stops at holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import paired_ratio
from radixbench.stats.sequential import (
    MIN_SEEDS,
    STOPPED_COVERAGE,
    STOPPED_LEVEL,
    drawn_at,
    half_width,
    narrow_enough,
)
from radixbench.stats.student import critical

MOST = 60


def stopped(noise: NDArray[np.float64], target: float) -> tuple[NDArray[np.int_], NDArray[np.bool_]]:
    """How many seeds each sweep ends with and whether its interval then holds the truth, a log-ratio of 0.

    ``noise``: [sweep, seed, row]; all rows must be narrow, or ``MOST`` seeds be there.
    """
    n = np.arange(1, noise.shape[1] + 1)[None, :, None]
    mean = noise.cumsum(axis=1) / n
    variance = np.maximum((noise**2).cumsum(axis=1) - n * mean**2, 0.0) / np.maximum(n - 1, 1)
    t = np.array([0.0] + [critical(STOPPED_LEVEL, df) for df in range(1, noise.shape[1])])[None, :, None]
    half = t * np.sqrt(variance / n)
    is_narrow = (np.expm1(half) <= target).all(axis=2)
    is_narrow[:, : MIN_SEEDS - 1] = False
    is_narrow[:, -1] = True
    end = is_narrow.argmax(axis=1)
    held = np.take_along_axis(np.abs(mean) <= half, end[:, None, None], axis=1)[:, 0]
    return end + 1, held


def test_never_fewer_than_five() -> None:
    """Four alike pairs have no width at all, and are too few."""
    assert not narrow_enough([(1.0, 1.0)] * 4, 0.05)
    assert narrow_enough([(1.0, 1.0)] * 5, 0.05)
    assert narrow_enough([2.0] * 5, 0.05)
    assert not narrow_enough([], 0.05)


def test_the_farther_end_decides() -> None:
    """A ratio's interval reaches further up than down: e^h − 1, not 1 − e^−h, is held against the target."""
    pairs = [(math.exp(x), 1.0) for x in (-0.2, -0.1, 0.0, 0.1, 0.2)]
    half = critical(STOPPED_LEVEL, 4) * math.sqrt(0.025 / 5)
    found = paired_ratio(pairs, level=drawn_at(0.05))
    assert isinstance(found, Estimate)
    assert half_width(found) == pytest.approx(math.expm1(half))
    assert narrow_enough(pairs, math.expm1(half) + 1e-9)
    assert not narrow_enough(pairs, math.expm1(half) - 1e-9)
    assert narrow_enough([a for a, _ in pairs], math.expm1(half) + 1e-9)


def test_only_added_seeds_are_drawn_wider() -> None:
    """Where the number of seeds was settled beforehand, 95 % are 95 %."""
    assert (drawn_at(None), drawn_at(0.05)) == (0.95, STOPPED_LEVEL)


def test_what_has_no_width() -> None:
    """One value, an open end, a mean of 0: no width, and never narrow enough."""
    assert half_width(Estimate(1.0, None, None, 0.95, 1)) is None
    assert half_width(Estimate(1.0, 0.5, None, 0.95, 3)) is None
    assert half_width(Estimate(0.0, -1.0, 1.0, 0.95, 3)) is None
    assert half_width(Estimate(-2.0, -3.0, -1.0, 0.95, 3)) == 0.5
    assert half_width(Estimate(1e-300, 1e-310, 1e300, 0.95, 3)) is None
    assert not narrow_enough([(1.0, 0.0)] * 6, 0.05)
    assert not narrow_enough([(1.0, math.nan)] * 6, 0.05)
    assert not narrow_enough([math.inf] * 6, 0.05)
    assert not narrow_enough([(1e-300, 1e300), (1e300, 1e-300)] * 3, 0.05)
    with pytest.raises(ValueError, match="don't mix"):
        narrow_enough([(1.0, 1.0), 1.0] * 3, 0.05)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0.5, 2.0), min_size=5, max_size=12), st.floats(0.001, 1.0), st.floats(1.01, 3.0))
def test_a_wider_target_is_reached_no_later(values: list[float], target: float, more: float) -> None:
    """What is narrow enough for 5 % is so for 10 %, and turning the ratios round changes nothing."""
    pairs = [(value, 1.0) for value in values]
    if narrow_enough(pairs, target):
        assert narrow_enough(pairs, target * more)
    back = [(1.0, value) for value in values]
    assert narrow_enough(back, target * (1 + 1e-9)) or not narrow_enough(pairs, target * (1 - 1e-9))


def test_the_arrays_stop_where_the_rule_does() -> None:
    """Two hundred sweeps seed by seed through the rule itself, one and two rows: they end with the same seeds."""
    for rows in (1, 2):
        noise = 0.1 * np.random.default_rng(rows).standard_normal((100, MOST, rows))
        ends, _ = stopped(noise, 0.05)
        for sweep, end in zip(np.exp(noise), ends, strict=True):
            counts = range(1, MOST + 1)
            pairs = [[(float(x), 1.0) for x in sweep[:, row]] for row in range(rows)]
            enough = [n for n in counts if all(narrow_enough(row[:n], 0.05) for row in pairs)]
            assert min(enough, default=MOST) == end


@pytest.mark.parametrize("target", [0.02, 0.05, 0.10])
def test_a_stopped_interval_covers_as_often_as_promised(target: float) -> None:
    """10,000 seeded sweeps at each of nine spreads, the dip among them: at least as often, and at 95 % it would be less often."""
    shares = []
    for times in (0.5, 0.8, 1.1, 1.4, 1.7, 1.9, 2.1, 2.4, 3.0):
        noise = np.random.default_rng(int(10 * times)).standard_normal((10_000, MOST, 1))
        shares.append(float(stopped(target * times * noise, target)[1].mean()))
    assert min(shares) >= STOPPED_COVERAGE
    assert min(shares) < 0.97


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9, 1.0])
def test_two_rows_cover_no_worse(alike: float) -> None:
    """Where two gated rows must both be narrow each covers at least as promised, however alike they are."""
    for other in (0.5, 1.0):
        noise = np.random.default_rng(3).standard_normal((10_000, MOST, 2))
        noise[..., 1] = alike * noise[..., 0] + math.sqrt(1 - alike**2) * noise[..., 1]
        held = stopped(0.095 * np.array([1.0, other]) * noise, 0.05)[1]
        assert held.mean(axis=0).min() >= STOPPED_COVERAGE
