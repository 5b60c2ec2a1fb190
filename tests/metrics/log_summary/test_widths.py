"""Window widths: joined, never split, and few enough to show."""

from __future__ import annotations

from collections import Counter

import pytest

from radixbench.metrics.log_summary.widths import MOST_KEPT, MOST_SHOWN, joined, shown_width, wider
from tests.metrics.log_summary.records import prefill, summarise

YEAR_S = 31_536_000


def test_each_width_divides_the_next() -> None:
    """From a second to weeks and beyond."""
    width = 1.0
    for _ in range(30):
        assert wider(width) > width
        assert wider(width) % width == 0
        width = wider(width)


def test_neighbours_are_joined() -> None:
    """Sums of the windows that lie in one wider window, also before the axis' zero."""
    rows = {place: Counter(n=1) for place in (-3, -1, 0, 1, 5)}
    assert joined(rows, 2, Counter.update) == {
        -2: Counter(n=1),
        -1: Counter(n=1),
        0: Counter(n=2),
        2: Counter(n=1),
    }


@pytest.mark.parametrize("width", [1.0, 5.0, 30.0, 1800.0, 86_400.0])
@pytest.mark.parametrize("n", [1, 60, 61, 700, 5000])
def test_what_is_shown_is_few(width: float, n: int) -> None:
    """At most sixty rows, a multiple of the stored width, and no wider than need be."""
    shown = shown_width(width, range(n))
    assert shown % width == 0
    rows = len({int(place * width // shown) for place in range(n)})
    assert rows <= MOST_SHOWN
    assert n <= MOST_SHOWN or rows > MOST_SHOWN // 10


def test_years_between_lines_stay_bounded() -> None:
    """A log with a line each year for a thousand years, as damaged stamps may have it."""
    summary = summarise([prefill(1, at=YEAR_S * n) for n in range(1000)])
    assert 0 < len(summary.windows) <= MOST_SHOWN < MOST_KEPT
    assert sum(row.new_tokens for row in summary.windows) == 1000
