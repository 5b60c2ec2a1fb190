"""Which way a factor errs, by clocks and throttling of the two arms."""

from __future__ import annotations

import pytest

from radixbench.compare.bound import Pace, Paces
from radixbench.compare.change import Change, Comparison
from radixbench.compare.comparison import compare
from tests.builders import CARD, gpu_samples, make_sweep

HEAT = 0x20


def sweep(
    on: dict[str, int], off: dict[str, int], *, on_ttft: float = 0.1, **options: float | None
) -> Comparison:
    """On against off on one card, with these readings in each arm."""
    arms = make_sweep(
        on=on_ttft,
        on_options={"gpu": gpu_samples(**on), "devices": [CARD], "identity": {"device": "cuda"}},
        off_options={"gpu": gpu_samples(**off), "devices": [CARD], "identity": {"device": "cuda"}},
    )
    return compare(*arms, **options)  # type: ignore[arg-type]  # values are the test's


def ttft(comparison: Comparison) -> Change:
    """The row of the median TTFT."""
    return next(c for c in comparison.changes if c.metric == "ttft_p50")


def codes(comparison: Comparison) -> set[str]:
    """All caveats that speak of clocks."""
    return {c.code for c in comparison.caveats} - {"few-values", "random-weights"}


def test_a_cool_card_bounds_nothing() -> None:
    """Same clocks, no reasons: no bound, no caveat."""
    comparison = sweep({}, {})
    assert ttft(comparison).bound is None
    assert codes(comparison) == set()


def test_the_slower_side_throttled_is_an_upper_bound() -> None:
    """Off would have been faster on a cool card: the factor is at most this."""
    comparison = sweep({}, {"reasons": HEAT})
    assert ttft(comparison).bound == "upper"
    assert "throttled" in ttft(comparison).caveats
    (caveat,) = [c for c in comparison.caveats if c.code == "throttled"]
    assert "the off side was throttled in 100 % of samples" in caveat.text
    assert "(most in a run: SW thermal slowdown 100 % of samples)" in caveat.text
    assert "the factor is an upper bound" in caveat.text


def test_the_faster_side_throttled_is_a_lower_bound() -> None:
    """On would have been faster still."""
    assert ttft(sweep({"reasons": HEAT}, {})).bound == "lower"


def test_the_bound_is_of_the_number_printed() -> None:
    """A slower, throttled A at a factor of 0.5 could only be better than that: at least 0.5."""
    slower = sweep({"reasons": HEAT}, {}, on_ttft=2.0)
    assert ttft(slower).factor is not None
    assert ttft(slower).bound == "lower"


def test_both_throttled_bounds_nothing() -> None:
    """Which way the factor errs can't be told, and that is a caveat."""
    comparison = sweep({"reasons": HEAT}, {"reasons": 0x4})
    assert ttft(comparison).bound is None
    assert codes(comparison) == {"both-throttled"}


def test_a_slower_clock_bounds_like_throttling() -> None:
    """1,580 against 1,965 MHz without a reason, as with locked clocks."""
    comparison = sweep({"clock": 1965}, {"clock": 1580})
    assert ttft(comparison).bound == "upper"
    assert codes(comparison) == {"clock-gap"}
    assert ttft(sweep({"clock": 1580}, {"clock": 1965})).bound == "lower"


def test_one_throttled_the_other_slower_bounds_nothing() -> None:
    """Both arms are handicapped, each in its way."""
    comparison = sweep({"reasons": HEAT, "clock": 1965}, {"clock": 1580})
    assert ttft(comparison).bound is None


def test_idle_is_no_throttling_and_two_percent_no_gap() -> None:
    """A card that only idles bounds nothing, since it isn't the one that served; a clock 1.5 % lower passes."""
    assert codes(sweep({"reasons": 1, "clock": 345}, {"clock": 1960})) == {"clock-unknown"}
    comparison = sweep({"clock": 1930}, {"clock": 1960})
    assert codes(comparison) == set()
    assert ttft(comparison).bound is None


def test_clock_floor() -> None:
    """Below half of the maximum, or below the floor that was asked for."""
    low = {"clock": 900, "reasons": 2}
    assert codes(sweep(low, low)) == {"clock-floor"}
    assert codes(sweep(low, low, clock_floor_mhz=800.0)) == set()
    assert codes(sweep({}, {}, clock_floor_mhz=1950.0)) == {"clock-floor"}


def test_temperature_gap() -> None:
    """A start 16 °C warmer than the other arm's."""
    assert codes(sweep({"temperature": 50}, {"temperature": 66})) == {"temperature-gap"}
    assert codes(sweep({"temperature": 50}, {"temperature": 65})) == set()


def test_no_clocks_are_unknown_not_fine() -> None:
    """Without readings nobody knows whether the arms ran at one speed."""
    comparison = compare(*make_sweep())
    assert codes(comparison) == {"clock-unknown"}
    assert ttft(comparison).bound is None


@pytest.mark.parametrize(("share", "throttled"), [(None, False), (0.0, False), (0.04, False), (0.05, True)])
def test_single_samples_at_the_edges_are_noise(share: float | None, throttled: bool) -> None:
    """Under one sample in twenty doesn't count as throttled."""
    assert Pace(throttled_share=share, sm_clock=None).throttled is throttled


def test_unknown_clocks_have_no_gap() -> None:
    """A gap needs both sides."""
    assert Paces(Pace(None, 1900.0), Pace(None, None)).clock_gap is None
