"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.report import text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 s"),
        (0.0123, "12.3 ms"),
        (0.9999, "1.00 s"),
        (1.0, "1.00 s"),
        (123.4, "123 s"),
        (4200.0, "4,200 s"),
        (3.2e-6, "3.20 µs"),
        (5e-10, "0.500 ns"),
    ],
)
def test_durations_take_the_unit_that_suits_them(seconds, shown):
    """Three significant digits in s, ms, µs or ns."""
    assert text.duration(seconds) == shown


def test_an_interval_shares_unit_and_decimals_with_its_value():
    """Value and interval read as one figure."""
    assert text.quantity(0.0123, "s", 0.00951, 0.0149).whole == "12.3 ms (9.5–14.9)"
    assert text.factor(24.13, 22.81, 25.52).whole == "24.1× (22.8–25.5)"
    assert text.quantity(1234.5, "tokens/s", 1200.2, 1260.9).whole == "1,234 tokens/s (1,200–1,261)"


def test_an_interval_that_would_vanish_by_rounding_gets_one_more_decimal():
    """A narrow interval stays visible; one without any width is left out."""
    assert text.factor(1.0601, 1.0592, 1.0610).whole == "1.060× (1.059–1.061)"
    assert text.factor(2.0, 2.0, 2.0).whole == "2.00×"


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.031, "3.1 %"),
        (0.868, "86.8 %"),
        (0.0011, "0.11 %"),
        (-0.00001, "−0.0010 %"),
    ],
)
def test_fractions_are_percent(fraction, shown):
    """One decimal, more below 1 %."""
    assert text.percent(fraction) == shown


def test_a_chosen_share_is_shown_as_chosen():
    """A level or threshold isn't a measurement: no decimals are added."""
    assert text.share(0.95) == "95 %"
    assert text.share(0.025) == "2.5 %"


def test_large_effects_are_factors():
    """Nobody reads 1,647 %."""
    assert text.effect(0.031) == "3.1 %"
    assert text.effect(16.47) == "17.5×"


def test_differences_carry_a_sign_and_percentage_points():
    """A difference of fractions is in points; a negative interval is joined by "to"."""
    assert text.difference(0.848, "ratio", None, None).value == "+84.8 points"
    assert text.difference(-120.0, "tokens", -150.0, -90.0).span == "−150 to −90"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (45.4, "45 s"), (125, "2 min 05 s"), (3720, "1 h 02 min"), (-3, "0 s")],
)
def test_time_left_is_coarse(seconds, shown):
    """Nobody needs milliseconds of an estimate."""
    assert text.left(seconds) == shown


def test_what_is_not_finite_or_not_there_is_a_dash():
    """Neither NaN nor a missing count pretends to be a number."""
    assert text.number(math.nan) == text.MISSING
    assert text.count(None) == text.MISSING
    assert text.size(None) == text.MISSING


def test_words_for_lists_counts_and_ranges():
    """Lists, plurals, seeds and sizes in words."""
    assert text.several(["a", "b", "c"]) == "a, b and c"
    assert text.several([]) == ""
    assert text.plural(1, "seed") == "1 seed"
    assert text.plural(2, "batch", "batches") == "2 batches"
    assert text.ranges([2, 0, 1, 5]) == "0–2, 5"
    assert text.size(32 * 2**30) == "32.0 GiB"
    assert text.size(12) == "12 B"


def test_a_moment_is_told_in_utc():
    """The wall clock of a capture reads the same everywhere."""
    assert text.moment(1_792_152_060_000_000_000) == "2026-10-16 12:01 UTC"


@given(st.floats(min_value=1e-9, max_value=1e12, allow_nan=False))
def test_three_significant_digits_stay_within_half_a_unit_of_the_third(value):
    """Rounding never moves a number by more than 0.5 % of itself."""
    shown = float(text.number(value).replace(",", ""))
    assert abs(shown - value) <= 0.00501 * value


@given(st.floats(min_value=1e-9, max_value=1e4), st.floats(min_value=0.5, max_value=1.0))
def test_a_figure_never_leaves_its_own_interval(value, shrink):
    """Rounding alike keeps low ≤ value ≤ high as shown."""
    shown = text.quantity(value, "tokens", value * shrink, value / shrink)
    if shown.span:
        low, high = (float(edge.replace(",", "")) for edge in shown.span.split("–"))
        middle = float(shown.value.removesuffix(" tokens").replace(",", ""))
        assert low <= middle <= high
