"""Histograms as Prometheus wants them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.server.latency import Histogram


@given(st.lists(st.floats(min_value=0, max_value=100)))
def test_buckets_are_cumulative_and_end_with_all(values: list[float]) -> None:
    """Each bucket counts the observations up to its bound, the last one all of them."""
    histogram = Histogram("h", "", (0.5, 1.0, 10.0))
    for value in values:
        histogram.observe(value)
    expected = [(str(bound), float(sum(value <= bound for value in values))) for bound in (0.5, 1.0, 10.0)]
    assert histogram.buckets() == [*expected, ("+Inf", float(len(values)))]
    assert histogram.sum == sum(values)
