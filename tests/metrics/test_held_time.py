"""Counters as time over any window: interpolation, wraps and resets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.metrics.held_time import WRAP, Held, time_counter

MS = 1_000_000
S = 1_000 * MS


def test_a_window_gets_its_part_of_every_stretch() -> None:
    """100 ms counted in the first 200 ms, none in the next: the middle of both holds half of the 100."""
    counter = time_counter([(0, 7), (200 * MS, 7 + 100 * MS), (400 * MS, 7 + 100 * MS)])
    assert counter.between(100 * MS, 300 * MS) == Held(50 * MS, 200 * MS, 0)
    assert counter.between(0, 400 * MS) == Held(100 * MS, 400 * MS, 0)


def test_outside_of_the_readings_nothing_is_told() -> None:
    """A window that begins before the first reading is told of only in part; one beside them not at all."""
    counter = time_counter([(200 * MS, 0), (400 * MS, 200 * MS)])
    assert counter.between(0, 300 * MS) == Held(100 * MS, 100 * MS, 0)
    assert counter.between(500 * MS, 600 * MS) == Held(0, 0, 0)
    assert time_counter([]).between(0, 1) == time_counter([(0, 5)]).between(0, 1) == Held(0.0, 0.0, 0)
    assert counter.between(300 * MS, 300 * MS).told_ns == 0


def test_a_32_bit_counter_wraps() -> None:
    """4.29 s of nanoseconds fit into 32 bits: the fall is a step of 150 ms that went round."""
    counter = time_counter([(0, WRAP - 100 * MS), (200 * MS, 50 * MS), (400 * MS, 250 * MS)])
    assert counter.between(0, 400 * MS) == Held(350 * MS, 400 * MS, 0)


def test_a_32_bit_counter_may_wrap_more_than_once() -> None:
    """Nine seconds at full share, read every 200 ms: it went round twice, and nothing is lost."""
    counter = time_counter([(at, (at + WRAP - S) % WRAP) for at in range(0, 9 * S + 1, 200 * MS)])
    assert counter.between(0, 9 * S) == Held(9 * S, 9 * S, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (3 * S, 0),  # would be 1.29 s in 200 ms
        (WRAP + S, WRAP),  # too large for 32 bits
        (0, 60 * S),  # a minute in 200 ms
    ],
)
def test_any_other_fall_or_leap_is_a_reset(before: int, after: int) -> None:
    """Of that stretch nothing is told; those around it count."""
    readings = [(0, before), (200 * MS, after), (400 * MS, after + 100 * MS)]
    counter = time_counter(readings)
    assert counter.between(0, 400 * MS) == Held(100 * MS, 200 * MS, 1)
    assert counter.between(200 * MS, 400 * MS).resets == 0


def test_a_counter_brought_up_to_date_in_lumps_is_believed() -> None:
    """A driver that adds a whole second at once was only late with it."""
    counter = time_counter([(0, 0), (200 * MS, S), (1200 * MS, S)])
    assert counter.between(0, 1200 * MS) == Held(S, 1200 * MS, 0)


def test_a_narrow_counter_left_alone_for_too_long_tells_nothing() -> None:
    """It may have gone round more than once in 5 s."""
    counter = time_counter([(0, WRAP - MS), (200 * MS, MS), (5200 * MS, 2 * MS)])
    assert counter.between(0, 5200 * MS) == Held(2 * MS, 200 * MS, 1)


readings = st.lists(st.tuples(st.integers(1, 500 * MS), st.floats(0, 1)), min_size=2, max_size=30)


@given(readings, st.integers(0, 2**40), st.booleans(), st.floats(0, 1))
def test_windows_add_up(steps: list[tuple[int, float]], start: int, narrow: bool, part: float) -> None:
    """Two neighbouring windows hold what their union holds; 32 bits tell the same as 64, and no more than all time."""
    at, value, pairs = 0, start, [(0, start % WRAP if narrow else start)]
    for span, share in steps:
        at, value = at + span, value + round(span * share)
        pairs.append((at, value % WRAP if narrow else value))
    counter = time_counter(pairs)
    middle = round(part * at)
    first, second, both = counter.between(0, middle), counter.between(middle, at), counter.between(0, at)
    assert first.held_ns + second.held_ns == pytest.approx(both.held_ns, abs=1.0)
    assert both == Held(value - start, at, 0)
