"""Shares that stay apart from nothing and from the whole."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.logs.numbers import clock_span, rate, usage

COUNTS = st.integers(0, 10**12)


def shown(text: str) -> float:
    """The number within ``≥ 37.1 %``."""
    return float(text.removeprefix("≥ ").removesuffix(" %").replace(",", ""))


@pytest.mark.parametrize(
    ("value", "lower", "told"),
    [
        (0.371, False, "37.1 %"),
        (0.0, False, "0 %"),
        (1.0, False, "100 %"),
        (0.99997, False, "99.997 %"),
        (0.00004, False, "0.004 %"),
        (0.37199, True, "≥ 37.1 %"),
        (0.99999, True, "≥ 99.99 %"),
        (0.29, True, "≥ 29.0 %"),
        (1.0, True, "≥ 100 %"),
        (1.234, False, "123.4 %"),
        (math.nan, False, "–"),
    ],
)
def test_a_rate_gets_the_decimals_it_needs(value, lower, told):
    """One as a rule, more where one would round to nothing or to all; bounds are rounded down."""
    assert rate(value, lower=lower) == told


@given(COUNTS, COUNTS)
def test_a_part_is_never_shown_as_nothing_or_as_all(cached, new):
    """0 % and 100 % are said of these alone."""
    if not cached + new:
        return
    told = rate(cached / (cached + new))
    if 0 < cached / (cached + new) < 1:
        assert 0 < shown(told) < 100
    assert abs(shown(told) - 100 * cached / (cached + new)) <= 0.0500001


@given(COUNTS, COUNTS)
def test_a_lower_bound_is_one(cached, new):
    """What is shown is never more than what is known."""
    if cached + new:
        value = cached / (cached + new)
        assert shown(rate(value, lower=True)) <= 100 * value * (1 + 1e-12)


def test_usage_is_as_printed():
    """A line's two decimals get no third."""
    assert usage(0.07) == "7 %"
    assert usage(0.994) == "99.4 %"
    assert usage(math.inf) == "–"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.812, "812 ms"),
        (45.2, "45 s"),
        (125.0, "2 min 05 s"),
        (3720.0, "1 h 02 min"),
        (273_600.0, "3 d 04 h"),
    ],
)
def test_lengths_take_the_unit_that_suits_them(seconds, told):
    """From milliseconds to days."""
    assert clock_span(seconds) == told
