"""Sums of batch lines: what counts, what counts twice, what can't be read."""

from __future__ import annotations

import pytest

from tests.metrics.log_summary.records import codes, decode, event, finish, note, prefill, step, summarise


def test_hit_rate_is_cached_over_all_prompt_tokens() -> None:
    """The sums of the lines, nothing else."""
    found = summarise([prefill(100, 300), prefill(50, 0, at=1), prefill(50, 100, at=2, new_seq=3)]).prefill
    assert (found.batches, found.new_seq, found.new_tokens, found.cached_tokens) == (3, 5, 200, 400)
    assert found.hit_rate == pytest.approx(2 / 3)
    assert (found.hit_rate_bound, found.reason, found.largest_batch_tokens) == (None, None, 100)


def test_fault_58_no_prefill_lines() -> None:
    """A log of decode lines only: cached tokens unknown, not 0 (sgl-project/sglang#19067)."""
    summary = summarise([decode(at=n) for n in range(3)])
    found = summary.prefill
    assert (found.batches, found.new_tokens, found.cached_tokens, found.hit_rate) == (None, None, None, None)
    assert found.reason == "no prefill lines: cached tokens unknown"
    assert note(summary, "no-prefill-lines").startswith("No prefill lines: cached tokens unknown")
    assert summary.throughput.input is None
    assert summary.throughput.computed is None


def test_fault_59_no_decode_lines() -> None:
    """The same the other way round (sgl-project/sglang#9099)."""
    summary = summarise([prefill(100, at=n) for n in range(3)])
    assert summary.decode.batches is None
    assert summary.decode.reason is not None
    assert "no-decode-lines" in codes(summary)
    assert summary.throughput.output is None


def test_fault_61_unknown_keys_change_nothing() -> None:
    """A key that nobody knows yet is no error and no figure."""
    plain = summarise([prefill(100, 50)])
    odd = summarise([prefill(100, 50, extra={"#await-prefill-req": 3})])
    assert odd.prefill == plain.prefill
    assert odd.notes == plain.notes


def test_cut_lines_count_with_what_can_be_read() -> None:
    """A cut prefill line counts if both token counts are there; otherwise it is counted as left out."""
    summary = summarise([
        prefill(100, 50), prefill(10, 20, at=1, token_usage=..., running_req=..., queue_req=..., truncated=True),
        prefill(10, ..., at=2, truncated=True),
    ])  # fmt: skip
    assert (summary.prefill.batches, summary.prefill.cached_tokens) == (2, 70)
    told = note(summary, "truncated-lines")
    assert "2 lines are cut" in told
    assert "1 prefill line without readable token counts is left out" in told


@pytest.mark.parametrize("value", [None, 3.5, True, "nan", -1, 10**30])
def test_absurd_counts_are_left_out(value: object) -> None:
    """No number, a truth value, a negative or an impossible count: the line is told, not summed."""
    summary = summarise([prefill(100, 50), prefill(value, 1, at=1), prefill(1, value, at=2)])
    assert (summary.prefill.batches, summary.prefill.new_tokens) == (1, 100)


@pytest.mark.parametrize("value", [None, 3.5, True, "nan", -1, 10**30, float("1e300")])
def test_absurd_values_beside_the_counts_do_no_harm(value: object) -> None:
    """Whatever stands where a number should, the line's other figures count."""
    odd = dict.fromkeys(("new_seq", "running_req", "queue_req", "pending_token", "cache_hit_rate_pct"), value)
    rates = {"accept_len": value, "accept_rate": value, "token": value, "queue_req": value}
    summary = summarise(
        [prefill(100, 50, **odd), decode(value, value, at=1, **rates), decode(2, value, at=2)]
    )
    assert (summary.prefill.new_tokens, summary.decode.batches) == (100, 2)


def test_batch_lines_of_a_fork_are_no_batches() -> None:
    """A fork's own ``Prefill rank batch`` line is told and left out."""
    summary = summarise([prefill(100, 50), event("unknown_batch_line", words="Prefill rank batch")])
    assert summary.prefill.batches == 1
    assert note(summary, "unknown-batch-lines").startswith(
        "1 line of another kind of batch is no scheduler's"
    )


def test_malformed_lines_are_told() -> None:
    """Lines that belong to a server and say nothing readable."""
    assert "nothing can be read of 3 lines" in note(summarise([prefill(1)], malformed=3), "truncated-lines")


def test_fault_67_retractions_count_a_prompt_again() -> None:
    """Two requests sent back are prefilled twice: prompts leave them out, the note gives the requests' own hit rate."""
    log = [
        prefill(100, 0), prefill(100, 0, at=1), event("retract", at=2, retracted_reqs=2), prefill(110, 0, at=3, new_seq=2),
        finish(100, 50, at=4), finish(100, 0, at=5), finish(100, 170, at=6),
    ]  # fmt: skip
    summary = summarise(log)
    assert (summary.prefill.new_seq, summary.prefill.readmissions, summary.prefill.prompts) == (4, 2, 2)
    assert (summary.pressure.retract_events, summary.pressure.retracted_requests) == (1, 2)
    assert "their hit rate is 25.0 %" in note(summary, "retracted-counted-again")
    odd = note(summary, "cached-above-prompt")
    assert odd.startswith("1 request with more cached tokens than prompt tokens")
    assert "1 retraction" in odd


def test_retractions_without_request_lines() -> None:
    """Where nothing counts a request once, the note says what would."""
    summary = summarise([prefill(100), event("retract", at=1, retracted_reqs=1), prefill(120, at=2)])
    assert "this log has none that tell cached tokens" in note(summary, "retracted-counted-again")


def test_our_own_steps_tell_retractions_too() -> None:
    """The exact count of a step line stands where the warning line is missing."""
    log = [
        step(0, 0, 10, new_seq=1, new_tokens=10), step(1, 10, 20, running_req=1, new_tokens=1, retracted_req=1),
        step(2, 20, 30, new_seq=1, new_tokens=11),
    ]  # fmt: skip
    assert summarise(log).prefill.prompts == 1


def test_decode_figures() -> None:
    """Running requests, graph share and accept length, weighted by running requests."""
    log = [
        decode(1, at=0, cuda_graph=True, accept_len=2.0, accept_rate=0.5), decode(3, at=1, cuda_graph=False, accept_len=4.0, accept_rate=0.9),
    ]  # fmt: skip
    found = summarise(log).decode
    assert (found.batches, found.running_mean, found.running_max, found.graph_share) == (2, 2.0, 3, 0.5)
    assert found.accept_len == pytest.approx(3.5)
    assert found.accept_rate == pytest.approx(0.8)


def test_an_empty_log_has_no_figures() -> None:
    """Nothing but absent values and reasons."""
    summary = summarise([])
    assert (summary.prefill.reason, summary.decode.reason) == ("no batch lines", "no batch lines")
    assert (summary.first, summary.span_s, summary.windows, summary.phases, summary.ranks) == (
        None,
        None,
        (),
        (),
        (),
    )
    assert summary.throughput.output is None
    assert summary.requests.n == 0


def test_who_was_sent_back_and_not_admitted_again_is_no_readmission() -> None:
    """A log that ends with a retraction, and one that goes on with fewer sequences than were sent back."""
    ten = [prefill(100, at=float(i)) for i in range(10)]
    last = summarise([*ten, event("retract", at=10, retracted_reqs=8)])
    assert (last.prefill.prompts, last.prefill.readmissions) == (10, 0)
    assert "retracted-counted-again" not in codes(last)
    later = summarise([*ten, event("retract", at=10, retracted_reqs=8), prefill(100, at=11, new_seq=3)])
    assert (later.prefill.prompts, later.prefill.readmissions) == (10, 3)
