"""Clock times at the ticks of a log's charts."""

from __future__ import annotations

import pytest

from radixbench.metrics.log_summary.model import Window
from radixbench.report.logs.time_axis import time_axis


def axis(first: str, last: str, seconds: float, length: float = 10.0):
    """The axis of two windows that lie so far apart."""
    return time_axis([Window(500.0, length, first), Window(500.0 + seconds, length, last)])


def words(first: str, last: str, seconds: float) -> list[str]:
    """What is printed at its ticks."""
    return [word for _, word in axis(first, last, seconds).ticks]


def test_ticks_stand_at_round_times_of_the_log_s_own_clock():
    """Not at round distances from its first line."""
    found = axis("2026-08-23 09:04:50", "2026-08-23 09:09:40", 290.0)
    assert found.ticks == (
        (10.0, "09:05"),
        (70.0, "09:06"),
        (130.0, "09:07"),
        (190.0, "09:08"),
        (250.0, "09:09"),
    )
    assert found.title == "time in the log, 2026-08-23"
    assert found.end == 300.0


def test_short_logs_get_seconds_and_long_ones_their_days():
    """A tick says what tells it from its neighbours."""
    assert words("09:00:00", "09:00:10", 10.0)[:2] == ["09:00:00", "09:00:05"]
    assert words("2026-12-31 18:00:00", "2027-01-01 18:00:00", 86_400.0) == [
        "12-31 18:00",
        "01-01 00:00",
        "01-01 06:00",
        "01-01 12:00",
        "01-01 18:00",
    ]
    assert words("02-28 12:00:00", "02-29 12:00:00", 86_400.0)[2] == "02-29 00:00"
    assert len(words("2026-01-01 00:00:00", "2026-12-31 00:00:00", 364 * 86_400.0)) <= 9


def test_a_time_of_day_runs_over_midnight():
    """A log without dates has no day to name."""
    assert words("23:59:50", "00:00:40 +1d", 50.0)[:3] == ["23:59:50", "00:00:00", "00:00:10"]


@pytest.mark.parametrize("label", ["+00:03:44.875", "1234.000 s", "nonsense", "99-99 10:00:00"])
def test_labels_that_are_no_clock_count_from_the_first_line(label):
    """Uptimes, and whatever a log may print."""
    found = axis(label, label, 100.0)
    assert all(0 <= place <= found.end for place, _ in found.ticks)
    if not label.endswith("10:00:00"):
        assert found.title == "time since the first line"
        assert found.ticks[1] == (15, "15 s")


def test_moments_outside_are_drawn_at_its_ends():
    """An event before the first window stays on the picture."""
    found = axis("09:00:00", "09:01:00", 60.0)
    assert (found.at(0.0), found.at(510.0), found.at(9e9)) == (0.0, 10.0, 70.0)
