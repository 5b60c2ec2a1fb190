"""The steady part of a run: how much of it, and what its requests saw."""

from __future__ import annotations

import pytest

from radixbench.metrics.answers import sort_out
from radixbench.metrics.steady import SteadyPart, steady_part
from radixbench.stats.sample import Absent
from tests.builders import make_request, make_run
from tests.metrics.test_drift import closed


def test_the_first_wave_is_not_in_it() -> None:
    """A first wave that waits a second for its prefill, then 100 ms: the steady part tells 100 ms."""
    part = steady_part(sort_out(make_run(closed(40, lambda n: 1.0 if n < 4 else 0.1))))
    assert isinstance(part, SteadyPart)
    assert part.ttft_p50 == pytest.approx(0.1)
    assert part.tpot_p50 == pytest.approx(0.1)
    assert part.requests == 36
    assert 0.75 < part.share < 0.9
    assert part.seconds == pytest.approx(part.share * 7.5, rel=0.1)


def test_a_few_requests_have_no_median() -> None:
    """The part has its length, and says nothing of latency."""
    part = steady_part(sort_out(make_run(closed(10, lambda _: 0.2))))
    assert isinstance(part, SteadyPart)
    assert part.requests < 8
    assert part.ttft_p50 is None


def test_a_run_that_never_is_steady_says_so() -> None:
    """One wave: the first ends before anything else is at work; no request at all: why."""
    wave = steady_part(sort_out(make_run([make_request(n, ttft_s=0.1 + n) for n in range(3)])))
    assert isinstance(wave, Absent)
    assert "before all of them were at work" in wave.reason
    assert isinstance(steady_part(sort_out(make_run([]))), Absent)
