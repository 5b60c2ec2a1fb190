"""Arrivals: the rate asked for, the right spread, the first at once, the same for ever."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.arrivals import MIN_BURSTINESS, constant, gamma, poisson, recorded

RATES = st.floats(0.01, 10_000)
SHAPES = st.floats(MIN_BURSTINESS, 100)
KNOWN_POISSON = (0.0, 0.8431966597353727, 1.0677703506817768, 1.4348557346617719)
KNOWN_GAMMA = (0.0, 1.9252419540652241, 1.9252490540880942, 1.9304652543874985)


def gaps(offsets: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(offsets)]


def spread(offsets: Sequence[float]) -> float:
    """The coefficient of variation of the gaps."""
    found = gaps(offsets)
    return statistics.pstdev(found) / statistics.mean(found)


@given(count=st.integers(0, 200), rate=RATES, shape=SHAPES, seed=st.integers(0, 1000))
def test_any_load_starts_at_once_and_only_goes_on(count: int, rate: float, shape: float, seed: int) -> None:
    """As many offsets as asked for, the first 0, none before its forerunner, all within count / rate."""
    loads = (
        constant(count, rate),
        poisson(count, rate, seed=seed),
        gamma(count, rate, burstiness=shape, seed=seed),
    )
    for offsets in loads:
        assert len(offsets) == count
        assert offsets[:1] == (0.0,) * min(count, 1)
        assert list(offsets) == sorted(offsets)
        assert all(offset <= count / rate * (1 + 1e-9) for offset in offsets)


def test_the_rate_is_the_one_asked_for() -> None:
    """Over 20,000 arrivals the mean gap is 1 / rate to a thousandth, for every seed and shape."""
    for offsets in (constant(20_000, 200.0), poisson(20_000, 200.0, seed=3)):
        assert statistics.mean(gaps(offsets)) == pytest.approx(1 / 200, rel=1e-3)
    for shape in (0.1, 0.5, 4.0):
        offsets = gamma(20_000, 200.0, burstiness=shape, seed=3)
        assert statistics.mean(gaps(offsets)) == pytest.approx(1 / 200, rel=1e-3)


@pytest.mark.parametrize("shape", [0.1, 0.3, 0.999, 1.0, 1.5, 4.0, 100.0])
def test_gamma_gaps_spread_as_their_shape_says(shape: float) -> None:
    """The coefficient of variation is 1 / sqrt(shape)."""
    found = [spread(gamma(20_000, 10.0, burstiness=shape, seed=seed)) for seed in range(3)]
    assert statistics.mean(found) == pytest.approx(1 / math.sqrt(shape), rel=0.05)


def test_poisson_gaps_are_exponential() -> None:
    """Mean and spread are equal, and the share of gaps above t falls as exp(-t)."""
    offsets = poisson(20_000, 1.0, seed=0)
    assert spread(offsets) == pytest.approx(1, rel=0.03)
    found = gaps(offsets)
    for moment in (0.1, 0.5, 1.0, 2.0, 3.0):
        assert sum(gap > moment for gap in found) / len(found) == pytest.approx(math.exp(-moment), abs=0.012)


def test_gamma_gaps_have_the_distribution_of_their_shape() -> None:
    """Shape 2 against its closed form 1 - (1 + 2t) exp(-2t), shape 1/2 against the error function."""
    twos, halves = (gaps(gamma(20_000, 1.0, burstiness=shape, seed=5)) for shape in (2.0, 0.5))
    for moment in (0.05, 0.2, 0.5, 1.0, 2.0):
        below = sum(gap <= moment for gap in twos) / len(twos)
        assert below == pytest.approx(1 - (1 + 2 * moment) * math.exp(-2 * moment), abs=0.012)
        below = sum(gap <= moment for gap in halves) / len(halves)
        assert below == pytest.approx(math.erf(math.sqrt(moment / 2)), abs=0.012)


def test_constant_arrivals_do_not_drift() -> None:
    """The last of a million is where multiplication puts it, not where a million additions would."""
    offsets = constant(1_000_001, 30.0)
    assert offsets[-1] == 1_000_000 / 30.0


def test_a_burstiness_of_one_is_poisson() -> None:
    """Both names give the very same arrivals."""
    assert gamma(50, 7.0, burstiness=1, seed=2) == poisson(50, 7.0, seed=2)


def test_a_seed_fixes_the_arrivals_for_ever() -> None:
    """Known values of seed 0, and others for another seed."""
    assert poisson(4, 2.0, seed=0) == pytest.approx(KNOWN_POISSON, rel=1e-12)
    assert gamma(4, 2.0, burstiness=0.25, seed=0) == pytest.approx(KNOWN_GAMMA, rel=1e-12)
    assert poisson(4, 2.0, seed=0) == poisson(4, 2.0, seed=0)
    assert poisson(4, 2.0, seed=0) != poisson(4, 2.0, seed=1)


def test_a_rate_only_scales_time() -> None:
    """Twice the rate is the same pattern in half the time, so that cells differ in their rate alone."""
    slow, fast = poisson(100, 5.0, seed=1), poisson(100, 10.0, seed=1)
    assert fast == pytest.approx([offset / 2 for offset in slow])


def test_a_trace_keeps_its_order_and_starts_at_once() -> None:
    """Timestamps count from the earliest, and speed divides them."""
    assert recorded([100.0, 103.0, 101.0], speed=2.0) == (0.0, 1.5, 0.5)
    assert recorded([]) == ()
    assert recorded([-4.0, 0.5]) == (0.0, 4.5)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_what_makes_no_arrivals_is_refused(value: float) -> None:
    """Rates, shapes and speeds that are no positive numbers end in one clear line."""
    for refused in (
        lambda: constant(1, value),
        lambda: poisson(1, value, seed=0),
        lambda: gamma(1, value, burstiness=2, seed=0),
        lambda: gamma(1, 1.0, burstiness=value, seed=0),
        lambda: recorded([0.0], speed=value),
    ):
        with pytest.raises(UsageError, match="makes no arrivals; give"):
            refused()
    with pytest.raises(UsageError, match="can't be negative"):
        poisson(1, 1.0, seed=-1)
    with pytest.raises(UsageError, match="no numbers"):
        recorded([0.0, math.nan])


def test_arrivals_all_at_once_are_no_division_by_zero() -> None:
    """Gaps so bursty that every one is smaller than a float can hold leave all arrivals at the start."""
    for seed in range(40):
        offsets = gamma(2, 1.0, burstiness=MIN_BURSTINESS, seed=seed)
        assert offsets[0] == 0
        assert math.isfinite(offsets[1])
