"""Parts of a run: the steady one, and its best second."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.metrics.answers import sort_out
from radixbench.metrics.phases import peak_output_throughput, steady_output_throughput, steady_window
from radixbench.metrics.throughput import output_throughput
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from tests.builders import failed_request, make_request, make_run, ns


def test_the_steady_part_of_a_closed_loop() -> None:
    """Two at a time, four in all: from the later first token to the first finish after the last send."""
    starts = (0.0, 0.1, 2.0, 2.1)
    requests = [make_request(i, send_s=at, ttft_s=0.5, output=141, gap_s=0.01) for i, at in enumerate(starts)]
    answers = sort_out(make_run(requests))
    assert steady_window(answers) == (ns(0.6), ns(3.9))
    measured = steady_output_throughput(answers)
    assert measured.n_values == 4
    assert isinstance(measured.value, float)


def test_a_batch_in_lockstep_has_the_rate_of_its_steps() -> None:
    """Eight answers of a token every 50 ms, each step's stamps a little apart: 160 tokens/s, the last step included."""
    requests = [make_request(i, send_s=0.0, ttft_s=0.2 + 0.0005 * i, output=11, gap_s=0.05) for i in range(8)]
    measured = steady_output_throughput(sort_out(make_run(requests)))
    assert measured.value == pytest.approx(160.0, rel=1e-6)


def test_events_of_one_read_count_at_their_stamp() -> None:
    """Nobody knows how they were spaced."""
    stamps = (ns(0.1), ns(0.1), ns(0.3), ns(0.3), ns(0.5))
    request = make_request(0, output=5, chunk_ns=stamps, chunk_tokens=(1,) * 5, end_ns=ns(0.5))
    assert steady_output_throughput(sort_out(make_run([request]))).value == pytest.approx(3 / 0.4)


def test_one_at_a_time_is_steady_throughout() -> None:
    """From the first token of all to the last token of all."""
    answers = sort_out(make_run([make_request(i, send_s=2.0 * i, output=11, gap_s=0.1) for i in range(3)]))
    assert steady_window(answers) == (ns(0.1), ns(5.1))


def test_answers_that_end_before_all_are_at_work_have_no_steady_part() -> None:
    """The first is done before the last has its first token."""
    requests = [make_request(0, output=2, end_ns=ns(3)), make_request(1, ttft_s=1.0)]
    assert isinstance(steady_window(sort_out(make_run(requests))), Absent)
    assert isinstance(steady_output_throughput(sort_out(make_run([failed_request(0)]))).value, Absent)


def test_a_short_run_has_no_best_second() -> None:
    """Below two seconds a peak would be the mean."""
    assert peak_output_throughput(sort_out(make_run([make_request(0)]))).value == Absent(
        "the run is shorter than two seconds"
    )
    assert isinstance(peak_output_throughput(sort_out(make_run([failed_request(0)]))).value, Absent)


def test_a_token_at_the_very_start_is_in_the_first_part() -> None:
    """Its stamp is that of the first send."""
    stamps = (0, 0, 0, ns(2.0))
    request = make_request(0, output=4, chunk_ns=stamps, chunk_tokens=(1,) * 4)
    assert peak_output_throughput(sort_out(make_run([request]))).value == pytest.approx(3.0)


def test_the_best_second_by_hand() -> None:
    """Ten tokens in the first second, thirty in the second, none in the third and one at the end."""
    stamps = (*(ns(0.1 * i) for i in range(1, 11)), *(ns(1 + i / 31) for i in range(1, 31)), ns(3.0))
    request = make_request(0, output=41, chunk_ns=stamps, chunk_tokens=(1,) * 41)
    measured = peak_output_throughput(sort_out(make_run([request])))
    assert measured.value == pytest.approx(30.0)
    assert measured.n_values == 3


@st.composite
def loads(draw: st.DrawFn) -> list[RequestRecord]:
    """Requests at any time, with events of any spacing, whose usage tells up to four times what events do."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(0, 5000),
                st.lists(st.integers(0, 3000), min_size=1, max_size=6),
                st.integers(1, 4),
            ),
            min_size=1,
            max_size=6,
        )
    )
    requests = []
    for number, (send_ms, gaps, factor) in enumerate(drawn):
        stamps = tuple(ns((send_ms + sum(gaps[: i + 1])) / 1000) for i in range(len(gaps)))
        requests.append(
            make_request(
                number,
                send_s=send_ms / 1000,
                output=len(gaps),
                chunk_ns=stamps,
                chunk_tokens=(1,) * len(gaps),
                output_tokens=factor * len(gaps),
                end_ns=stamps[-1],
            )
        )
    return requests


@given(loads())
@settings(max_examples=200, deadline=None)
def test_a_peak_is_never_below_its_mean(requests: list[RequestRecord]) -> None:
    """Whatever the spacing: every token lies in exactly one part."""
    answers = sort_out(make_run(requests))
    peak, mean = peak_output_throughput(answers).value, output_throughput(answers).value
    if isinstance(peak, float) and isinstance(mean, float):
        assert peak >= mean * (1 - 1e-9)
