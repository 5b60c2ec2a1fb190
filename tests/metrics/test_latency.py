"""Latencies by hand, and what never becomes one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.metrics.answers import sort_out
from radixbench.metrics.definition import Measured
from radixbench.metrics.latency import (
    e2e,
    e2e_quantile,
    itl,
    itl_quantile,
    tpot,
    tpot_quantile,
    ttft,
    ttft_quantile,
)
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from tests.builders import failed_request, make_request, make_run, ns


def ttft_p50(requests: list[RequestRecord]) -> Measured:
    """The median TTFT of a run of these requests."""
    return ttft_quantile(sort_out(make_run(requests)), 0.5)


def test_ttft_starts_when_the_request_was_due() -> None:
    """Sent 0.3 s late in an open loop, first token 0.1 s after that: the user waited 0.4 s."""
    late = make_request(send_s=1.0, ttft_s=0.1, due_ns=ns(0.7))
    assert ttft(late) == pytest.approx(0.4)
    assert ttft(make_request(send_s=1.0, ttft_s=0.1)) == pytest.approx(0.1)


def test_e2e_ends_with_the_last_token() -> None:
    """The usage event and the end of the stream come later and don't count."""
    request = make_request(ttft_s=0.1, output=4, gap_s=0.01, end_ns=ns(9))
    assert e2e(request) == pytest.approx(0.13)


def test_a_chunk_of_k_tokens_gives_k_equal_gaps() -> None:
    """10 events of 4 tokens, 40 ms apart: 36 gaps of 10 ms, not 9 of 40."""
    gaps = itl(make_request(output=40, chunk=4, gap_s=0.04))
    assert gaps == pytest.approx([0.01] * 36)


def test_an_event_without_tokens_closes_no_gap() -> None:
    """Its time goes to the next token."""
    request = make_request(chunk_ns=(ns(1), ns(2), ns(4)), chunk_tokens=(1, 0, 1))
    assert itl(request) == [3.0]


def test_tpot_by_hand() -> None:
    """100 tokens in 25 events 40 ms apart: 0.96 s over 99 tokens."""
    assert tpot(make_request(output=100, chunk=4, gap_s=0.04)) == pytest.approx(0.96 / 99)


def test_one_event_has_no_decode_time() -> None:
    """An answer in its first event, or of one token, has no TPOT instead of one near 0."""
    assert tpot(make_request(output=4, chunk=4)) is None
    assert tpot(make_request(output=1)) is None
    assert tpot(make_request(output_tokens=None)) is None
    answers = sort_out(make_run([make_request(output=4, chunk=4)]))
    assert tpot_quantile(answers, 0.5).value == Absent("no answer has 2 or more tokens in 2 or more events")
    assert itl_quantile(answers, 0.5).value == Absent("no answer came in 2 or more events")


def test_empty_and_failed_answers_never_enter() -> None:
    """Six empty answers of ten don't pull the median to 0."""
    empty = [make_request(i, output=0, ttft_s=0.0) for i in range(6)]
    good = [make_request(6 + i, ttft_s=0.1 * (1 + i)) for i in range(3)]
    measured = ttft_p50([*empty, *good, failed_request(9)])
    assert measured.value == pytest.approx(0.2)
    assert measured.n_values == 3


def test_nothing_left_says_why() -> None:
    """Zero successes: no traceback, no 0, but the causes with their counts."""
    measured = ttft_p50([make_request(0, output=0), failed_request(1)])
    assert measured.n_values == 0
    assert measured.value == Absent(
        "none of 2 requests counts: 1 completed without a token, 1 failed or cancelled"
    )
    assert ttft_p50([]).value == Absent("no request was sent")


def test_stamps_that_run_backwards_are_left_out() -> None:
    """A first token before the request, or tokens out of order, can't be."""
    early = make_request(0, send_s=5.0, chunk_ns=(ns(4.0),), chunk_tokens=(1,))
    mixed = make_request(1, chunk_ns=(ns(2.0), ns(1.0)), chunk_tokens=(1, 1))
    answers = sort_out(make_run([early, mixed, make_request(2, ttft_s=0.1)]))
    assert answers.excluded == {"impossible-times": 2}
    assert ttft_quantile(answers, 0.5).n_values == 1


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 10**9)), min_size=2, max_size=20))
def test_gaps_and_tokens_add_up(chunks: list[tuple[int, int]]) -> None:
    """All gaps together are last minus first token, one gap for each token after the first event."""
    stamps = tuple(sum(gap for _, gap in chunks[: i + 1]) for i in range(len(chunks)))
    sizes = tuple(size for size, _ in chunks)
    request = make_request(chunk_ns=stamps, chunk_tokens=sizes, output_tokens=sum(sizes))
    gaps = itl(request)
    assert len(gaps) == sum(sizes[1:])
    assert sum(gaps) == pytest.approx(e2e(request) - ttft(request))


def test_quantiles_of_a_run() -> None:
    """100 TTFTs of 10 ms to 1 s: the p99 lies between the two largest."""
    answers = sort_out(make_run([make_request(i, ttft_s=0.01 * (i + 1)) for i in range(100)]))
    assert ttft_quantile(answers, 0.99).value == pytest.approx(0.9901)
    assert e2e_quantile(answers, 0.5).value == pytest.approx(0.505 + 0.03)


def test_events_read_at_one_go_are_one_event() -> None:
    """Five tokens whose events carry two stamps have gaps that add up to the time between them, none of them 0."""
    ns = 1_000_000
    request = make_request(
        output=5, chunk_ns=(100 * ns, 100 * ns, 140 * ns, 140 * ns, 140 * ns), chunk_tokens=(1, 1, 1, 1, 1)
    )
    assert itl(request) == pytest.approx([0.04 / 3] * 3)


@pytest.mark.parametrize(
    "requests",
    [
        [],
        [failed_request(0), failed_request(1)],
        [make_request(output=1)],
        [make_request(output=4, chunk=4)],
        [make_request(output=0)],
        [make_request(chunk_ns=(), chunk_tokens=())],
    ],
    ids=["none sent", "all failed", "one token", "one event", "no token", "no event"],
)
def test_a_run_without_gaps_has_no_itl(requests: list[RequestRecord]) -> None:
    """Absent with a reason, whatever left nothing to measure; never an error."""
    measured = itl_quantile(sort_out(make_run(requests)), 0.5)
    assert isinstance(measured.value, Absent)
    assert measured.value.reason


def test_one_token_beside_many_leaves_the_gaps_of_the_others() -> None:
    """An answer of one event closes none and takes none from its neighbours."""
    requests = [make_request(i, output=1 if i % 2 else 4, gap_s=0.01) for i in range(4)]
    assert itl_quantile(sort_out(make_run(requests)), 0.5).value == pytest.approx(0.01)
