"""Rates by hand: what is counted, over which window, and when there is none."""

from __future__ import annotations

import pytest

from radixbench.metrics.answers import sort_out
from radixbench.metrics.throughput import (
    duration,
    input_throughput,
    output_throughput,
    prefill_throughput,
    request_throughput,
)
from radixbench.stats.sample import Absent
from tests.builders import failed_request, make_request, make_run, ns

TWO = [
    make_request(0, send_s=1.0, ttft_s=0.5, output=5, gap_s=0.1, prompt_tokens=1000, cached=0),
    make_request(1, send_s=2.0, ttft_s=0.6, output=5, gap_s=0.1, prompt_tokens=1000, cached=600),
]


def test_rates_over_first_send_to_last_token() -> None:
    """Sends at 1 and 2 s, last token at 3 s: 10 tokens out, 2,000 in, 1,400 computed, over 2 s."""
    answers = sort_out(make_run(TWO))
    assert duration(answers).value == pytest.approx(2.0)
    assert output_throughput(answers).value == pytest.approx(5.0)
    assert input_throughput(answers).value == pytest.approx(1000.0)
    assert prefill_throughput(answers).value == pytest.approx(700.0)
    assert request_throughput(answers).value == pytest.approx(1.0)
    assert output_throughput(answers).n_values == 2


def test_the_end_of_the_response_doesnt_stretch_the_window() -> None:
    """Usage events and connection ends after the last token are the server's and client's business."""
    slow_end = [make_request(0, ttft_s=0.5, output=2, gap_s=0.5, end_ns=ns(60))]
    assert duration(sort_out(make_run(slow_end))).value == pytest.approx(1.0)


def test_failed_requests_give_no_tokens_but_take_time() -> None:
    """A request that failed first doesn't shorten the window it blocked."""
    answers = sort_out(make_run([failed_request(0, send_s=0.0), *TWO[1:]]))
    assert duration(answers).value == pytest.approx(3.0)
    assert request_throughput(answers).value == pytest.approx(1 / 3)


def test_two_prompts_of_a_thousand_in_one_second() -> None:
    """Two prompts of 1,000 tokens prefilled within a second are 2,000 tokens/s, whatever the batch."""
    answers = sort_out(
        make_run([make_request(i, ttft_s=1.0, output=1, prompt_tokens=1000) for i in range(2)])
    )
    assert prefill_throughput(answers).value == pytest.approx(2000.0)


def test_unknown_counts_make_no_rate() -> None:
    """A missing count doesn't make a rate smaller, it makes it unknown; unknown hits hide what was computed."""
    unknown = sort_out(make_run([TWO[0], make_request(1, output_tokens=None)]))
    assert output_throughput(unknown).value == Absent("output tokens unknown for 1 of 2 requests")
    silent = sort_out(make_run([make_request(0, cached=None)]))
    assert isinstance(prefill_throughput(silent).value, Absent)
    assert isinstance(input_throughput(silent).value, float)


def test_no_answer_no_rate() -> None:
    """No division by zero: a run without tokens says why, one of a single instant too."""
    nothing = sort_out(make_run([failed_request(0)]))
    for rate in (duration, output_throughput, input_throughput, prefill_throughput, request_throughput):
        assert rate(nothing).value == Absent("none of 1 requests counts: 1 failed or cancelled")
    instant = sort_out(make_run([make_request(0, ttft_s=0.0, output=1)]))
    assert duration(instant).value == Absent("first send and last token carry the same stamp")
