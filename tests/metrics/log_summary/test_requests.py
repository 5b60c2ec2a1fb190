"""Latency and reuse come from lines about single requests, or not at all."""

from __future__ import annotations

import pytest

from radixbench.logs.record import Rank
from tests.metrics.log_summary.records import answered, event, finish, note, prefill, step, summarise


def test_batch_lines_tell_no_latency() -> None:
    """Without request lines there is a reason in place of a figure."""
    found = summarise([prefill(100, 50)]).requests
    assert (found.n, found.ttft, found.e2e, found.hit_rate) == (0, None, None, None)
    assert "no lines about single requests" in (found.reason or "")


def test_finish_lines() -> None:
    """Tokens, the hit rate over requests, latency, and the time to first token where it is printed."""
    log = [
        finish(100, 25, 10, e2e_latency=1.0, first_token_latency=0.2),
        finish(300, 75, 20, e2e_latency=3.0, first_token_latency=0.4),
    ]
    found = summarise(log).requests
    assert (found.n, found.prompt_tokens, found.cached_tokens, found.output_tokens) == (2, 400, 100, 30)
    assert found.hit_rate == 0.25
    assert found.e2e is not None
    assert (found.e2e.n, found.e2e.p50) == (2, 2.0)
    assert found.ttft is not None
    assert found.ttft.p50 == pytest.approx(0.3)
    assert found.reason is None


def test_finish_lines_without_a_time_to_first_token() -> None:
    """It is printed with --enable-metrics only, and never made up from batch lines."""
    found = summarise([prefill(100), finish(100, 0, e2e_latency=1.0)]).requests
    assert found.ttft is None
    assert found.e2e is not None
    assert "--enable-metrics" in (found.reason or "")


def test_time_stats_lines_hold_queueing_only() -> None:
    """ReqTimeStats prints queue and forward time: no TTFT, no latency, and the old form no cached tokens."""
    new = event(
        "request_stats",
        extra={"rid": "a", "queue_duration_ms": 500.0, "forward_duration_ms": 900.0},
        input_len=100,
        cached_input_len=40,
        output_len=8,
    )
    found = summarise([new]).requests
    assert (found.n, found.hit_rate, found.ttft, found.e2e) == (1, 0.4, None, None)
    assert found.queue is not None
    assert found.queue.p50 == 0.5
    assert "neither time to first token nor latency" in (found.reason or "")
    old = event("request_stats", extra={"rid": "a", "queue_duration_ms": 500.0}, input_len=100, output_len=8)
    assert "cached tokens" in (summarise([old]).requests.reason or "")


def test_two_lines_about_one_request_are_one_request() -> None:
    """With both kinds of lines on, requests are not counted twice; each figure comes from the line that holds it."""
    log = [
        finish(100, 20, e2e_latency=1.0),
        event(
            "request_stats",
            extra={"queue_duration_ms": 10.0},
            input_len=100,
            cached_input_len=20,
            output_len=8,
        ),
    ]
    found = summarise(log).requests
    assert (found.n, found.prompt_tokens) == (1, 100)
    assert found.e2e is not None
    assert found.queue is not None


def test_ranks_that_print_the_same_requests_count_once() -> None:
    """Tensor ranks may all print ReqTimeStats; data-parallel ranks print their own."""

    def line(rank: Rank) -> object:
        return event("request_stats", rank=rank, input_len=100, cached_input_len=50, output_len=8)

    copies = [line(Rank("", None, (("TP", n),))) for n in range(4)]
    assert summarise(copies).requests.n == 1
    lost = [line(Rank("", None, (("TP", n),))) for n in (0, 1, 1)]
    assert summarise(lost).requests.n == 2
    own = [line(Rank("", n, (("TP", n),))) for n in range(4)]
    assert summarise(own).requests.n == 4


def test_our_own_requests_are_exact() -> None:
    """TTFT and latency in nanoseconds; a request without a token has no TTFT and is no 0."""
    log = [
        step(0, 0, 10, new_seq=1, new_tokens=60, cached_tokens=40),
        answered("a", 100, 40, ttft_ms=200, e2e_ms=1000, queue_ms=50), answered("b", 100, 40, ttft_ms=None, e2e_ms=10),
    ]  # fmt: skip
    found = summarise(log).requests
    assert found.n == 2
    assert found.hit_rate == 0.4
    assert found.ttft is not None
    assert (found.ttft.n, found.ttft.p50) == (1, pytest.approx(0.2))
    assert found.e2e is not None
    assert found.e2e.n == 2
    assert found.prefill is not None
    assert found.prefill.p50 == pytest.approx(0.15)
    assert found.decode is not None
    assert found.decode.p50 == pytest.approx(0.8)


def test_unknown_cached_tokens_are_not_0() -> None:
    """A request that says nothing of its cached tokens stays out of the hit rate."""
    found = summarise([finish(100, 50), finish(100, None), finish(100, ...)]).requests
    assert (found.n, found.prompt_tokens, found.cached_tokens, found.hit_rate) == (3, 300, 50, 0.5)
    assert found.known_prompt_tokens == 100


def test_health_checks_are_no_requests() -> None:
    """Their rid says so."""
    summary = summarise([finish(1, 0, rid="HEALTH_CHECK_17"), finish(10, 5, rid="user")])
    assert summary.requests.n == 1
    assert "1 health check is no request" in note(summary, "request-lines-left-out")
    timed = [
        event("request_stats", extra={"rid": rid}, input_len=1, output_len=1)
        for rid in ("HEALTH_CHECK_1", "a")
    ]
    assert summarise(timed).requests.n == 1


def test_aborted_requests_have_no_latency() -> None:
    """They count as requests, but their time is no answer's."""
    found = summarise(
        [finish(10, 0, e2e_latency=9.0, finish_reason="abort"), finish(10, 0, e2e_latency=1.0)]
    ).requests
    assert found.n == 2
    assert found.e2e is not None
    assert (found.e2e.n, found.e2e.p99) == (1, 1.0)


@pytest.mark.parametrize("latency", [None, "fast", -1.0, float("inf"), 10**400, True])
def test_absurd_latencies_are_left_out(latency: object) -> None:
    """What is no duration has no part in a quantile."""
    found = summarise([finish(10, 0, e2e_latency=latency), finish(10, 0, e2e_latency=2.0)]).requests
    assert found.e2e is not None
    assert (found.e2e.n, found.e2e.p50) == (1, 2.0)


def test_impossible_counts_are_told_without_batch_lines_too() -> None:
    """More cached than prompt tokens: out of the hit rate and of the tokens that it is made of, and a note says so."""
    summary = summarise([finish(100, 50), finish(100, 300), finish(100, ...)])
    assert (summary.requests.known_prompt_tokens, summary.requests.hit_rate) == (100, 0.5)
    assert note(summary, "cached-above-prompt").startswith("1 request with more cached")
