"""Windows added up: fewer rows, the same tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.metrics.log_summary.model import Window
from radixbench.report.logs.stretches import share, stretched

PLACES = st.lists(st.integers(0, 5000), min_size=1, max_size=120, unique=True).map(sorted)


def window(place: int) -> Window:
    """A window whose figures follow from its place."""
    return Window(
        start_s=1e9 + 10.0 * place,
        length_s=10.0,
        label=f"at {place}",
        prefill_batches=place % 3,
        new_tokens=place,
        cached_tokens=2 * place,
        hit_rate=share(2 * place, place),
        decode_batches=1,
        output_throughput=100.0 + place,
        output_tokens=(100.0 + place) * 4,
        output_s=4.0,
        running_max=place % 7,
        queue_max=None if place % 2 else place,
        usage_max=place / 5000,
        pools={"token": place / 5000},
        server_hit_rate=place / 5000,
        events={"flush": 1} if place % 5 == 0 else {},
    )


@given(PLACES, st.integers(1, 40))
def test_nothing_is_lost_by_adding_up(places, most):
    """Sums stay, highest values stay highest, and there are no more rows than asked for."""
    windows = [window(place) for place in places]
    fewer, of = stretched(windows, most)
    assert len(fewer) <= most
    for name in ("new_tokens", "cached_tokens", "prefill_batches", "decode_batches"):
        assert sum(getattr(w, name) for w in fewer) == sum(getattr(w, name) for w in windows)
    assert sum(w.events.get("flush", 0) for w in fewer) == sum(w.events.get("flush", 0) for w in windows)
    assert max(w.running_max or 0 for w in fewer) == max(w.running_max or 0 for w in windows)
    assert [w.start_s for w in fewer] == sorted({w.start_s for w in fewer})
    assert all(w.length_s == 10.0 * of for w in fewer)


def test_rates_are_of_sums_and_not_means_of_rates():
    """Throughput is all tokens over all time, the hit rate all cached over all tokens."""
    windows = [window(1), window(300), window(301)]
    ((first, last), of) = stretched(windows, 2)
    assert of > 1
    assert first == replace(window(1), length_s=10.0 * of)
    assert last.output_throughput == pytest.approx((400.0 + 401.0) / 2)
    assert last.hit_rate == pytest.approx(2 / 3)
    assert last.server_hit_rate == 301 / 5000


def test_few_windows_stay_as_they_are():
    """Nothing is touched that fits."""
    windows = tuple(window(place) for place in range(5))
    assert stretched(windows, 5) == (windows, 1)
    assert stretched(windows, None) == (windows, 1)
