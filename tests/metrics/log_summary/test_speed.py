"""Throughput is tokens over time, and never an average of printed rates."""

from __future__ import annotations

import pytest

from radixbench.logs.record import LogRecord, Rank
from tests.metrics.log_summary.records import codes, decode, event, note, prefill, step, summarise


def test_fault_86_a_line_after_idle_is_left_out() -> None:
    """Idle, then decode lines of 1.06 and 84.20 token/s: 84.20, and the note says that one line is left out."""
    log = [
        prefill(100),
        decode(1, 50.0, at=1),
        prefill(100, at=40),
        decode(1, 1.06, at=41),
        decode(1, 84.20, at=42),
    ]
    summary = summarise(log)
    assert summary.throughput.output == pytest.approx(84.20)
    assert summary.decode.idle_lines == 2
    assert note(summary, "first-after-idle").startswith("2 decode lines are left out")


def test_output_weights_each_line_by_its_tokens() -> None:
    """A line of 1 running request at 10 token/s and one of 30 at 300: each took the same time, so the rate is 155."""
    log = [prefill(9), decode(1, 10.0, at=1), decode(1, 10.0, at=2), decode(30, 300.0, at=3)]
    assert summarise(log).throughput.output == pytest.approx((1 + 30) / (1 / 10 + 30 / 300))


def test_accepted_tokens_weigh_too() -> None:
    """With speculation a line covers running x accepted tokens for each step."""
    log = [decode(1, 10.0), decode(1, 10.0, at=1, accept_len=2.0), decode(1, 40.0, at=2, accept_len=4.0)]
    assert summarise(log).throughput.output == pytest.approx((2 + 4) / (2 / 10 + 4 / 40))


def test_prefilling_between_decode_lines_is_no_idle_time() -> None:
    """A long prefill while requests run slows decoding truly: such a line stays."""
    log = [
        prefill(9),
        decode(4, 400.0, at=1),
        decode(4, 400.0, at=2),
        prefill(8000, at=9, running_req=4),
        decode(4, 20.0, at=10),
    ]
    summary = summarise(log)
    assert summary.throughput.output == pytest.approx(8 / (4 / 400 + 4 / 20))
    assert summary.decode.idle_lines == 1


def test_one_user_after_another_is_no_idle_time() -> None:
    """Requests that follow each other within a second keep their lines, although each finds nothing running."""
    log = [prefill(9), decode(1, 90.0)]
    for n in range(1, 6):
        log += [prefill(9, at=n), decode(1, 90.0, at=n)]
    summary = summarise(log)
    assert summary.decode.idle_lines == 1
    assert summary.throughput.output == pytest.approx(90.0)


def test_a_stalled_line_without_prefill_lines_is_left_out() -> None:
    """On a decode server nothing tells of a gap but the rate itself: five times slower than both neighbours is idle."""
    log = [decode(2, 100.0, at=0), decode(2, 100.0, at=1), decode(2, 3.0, at=60), decode(2, 100.0, at=61)]
    summary = summarise(log)
    assert summary.throughput.output == pytest.approx(100.0)
    assert summary.decode.idle_lines == 2
    slower = [*log[:3], decode(2, 4.0, at=90)]
    assert summarise(slower).throughput.output == pytest.approx(6 / (2 / 100 + 2 / 3 + 2 / 4))


def test_lines_without_a_rate_do_not_count() -> None:
    """0.00 token/s, nan and no running request say nothing about speed."""
    log = [
        decode(1, 50.0),
        decode(1, 0.0, at=1),
        decode(1, None, at=2),
        decode(0, 9.0, at=3),
        decode(1, 50.0, at=4),
    ]
    assert summarise(log).throughput.output == pytest.approx(50.0)


def test_a_single_decode_line_gives_no_rate() -> None:
    """The first line of a rank may include idle time, so alone it has no throughput, and the reason says so."""
    found = summarise([prefill(9), decode(1, 50.0, at=9)]).throughput
    assert found.output is None
    assert "first one or follows an idle gap" in (found.reason or "")


def test_prompt_throughput_is_over_the_time_at_work() -> None:
    """1000 new and 3000 cached tokens in 10 s of work; a minute of idling between is left out."""
    log = [prefill(500, 1500, at=n) for n in (0, 5)] + [prefill(0, 0, new_seq=2, at=n) for n in (65, 70)]
    found = summarise(log).throughput
    assert (found.busy_s, found.input, found.computed) == (10.0, 400.0, 100.0)
    assert "10.0 s at work" in (found.basis or "")


def test_whole_seconds_cannot_measure_a_few() -> None:
    """Under five seconds of work stamps of whole seconds give no throughput; stamps of milliseconds do."""
    found = summarise([prefill(500, at=n) for n in range(4)]).throughput
    assert (found.input, found.computed) == (None, None)
    assert "log stamps have a resolution of 1 s" in (found.reason or "")
    fine = summarise([prefill(500, at=n + 0.25) for n in range(4)]).throughput
    assert fine.computed == pytest.approx(2000 / 3)


def test_without_times_there_is_no_prompt_throughput() -> None:
    """But output throughput needs none."""
    found = summarise([prefill(9, at=None), *(decode(2, 70.0, at=None) for _ in range(3))]).throughput
    assert found.input is None
    assert found.reason == "no line has a time"
    assert found.output == pytest.approx(70.0)


def test_data_parallel_ranks_work_beside_each_other() -> None:
    """Two ranks of 100 token/s give 200; their time at work is the time in which either was."""
    ranks = [Rank("", dp, ()) for dp in (0, 1)]
    log = []
    for at in range(0, 30, 3):
        for rank in ranks:
            log += [prefill(10, at=at, rank=rank, running_req=1), decode(1, 100.0, at=at, rank=rank)]
    found = summarise(log).throughput
    assert found.output == pytest.approx(200.0)
    assert found.busy_s == 27.0
    assert found.computed == pytest.approx(200 / 27)


def _rank_at_work(dp: int, start: int, seconds: int, rate: float = 100.0) -> list[LogRecord]:
    """A rank that decodes from ``start`` on, a line each second."""
    rank = Rank("", dp, ())
    lines = [decode(1, rate, at=start + n, rank=rank) for n in range(seconds + 1)]
    return [prefill(10, at=start, rank=rank), *lines]


def test_ranks_that_take_turns_do_not_add_up() -> None:
    """One rank decodes for 100 s at 100 token/s, then another: 100, as the basis says; half of the time beside each other: 133."""
    turns = summarise([*_rank_at_work(0, 0, 100), *_rank_at_work(1, 100, 100)]).throughput
    assert turns.output == pytest.approx(100.0)
    assert "weighted with its share of the 200.0 s in which any was at work" in (turns.basis or "")
    half = summarise([*_rank_at_work(0, 0, 100), *_rank_at_work(1, 50, 100)]).throughput
    assert half.output == pytest.approx(200 * 100 / 150)
    uneven = summarise([*_rank_at_work(0, 0, 90), *_rank_at_work(1, 0, 30, 300.0)]).throughput
    assert uneven.output == pytest.approx(100 + 300 / 3)


def test_a_rank_seen_in_one_second_has_the_share_of_a_second() -> None:
    """Stamps of whole seconds show no time between its lines; what it did is not lost, nor taken for all of the time."""
    log = [*_rank_at_work(0, 0, 100), *(decode(1, 500.0, at=50, rank=Rank("", 1, ())) for _ in range(3))]
    assert summarise(log).throughput.output == pytest.approx(100.0 + 500 / 100)
    together = [decode(1, 100.0, at=5, rank=Rank("", dp, ())) for dp in (0, 1)] * 3
    assert summarise(together).throughput.output == pytest.approx(200.0)


def test_ranks_without_times_are_taken_to_work_at_once() -> None:
    """Nothing tells when each decoded: their paces are added, and the basis says so."""
    log = [decode(1, rate, at=None, rank=Rank("", dp, ())) for dp, rate in enumerate((70.0, 30.0))]
    found = summarise(log * 3).throughput
    assert found.output == pytest.approx(100.0)
    assert "paces added, as if all worked at once" in (found.basis or "")
    assert "paces" not in (summarise(log[:1] * 3).throughput.basis or "")


def test_exact_steps_need_no_stamps() -> None:
    """Our own steps: tokens over the time of the steps, all in the same second of the stamps."""
    log = [
        step(0, 0, 100, new_seq=2, new_tokens=300, cached_tokens=100), step(1, 100, 110, running_req=2, new_tokens=2),
        step(2, 110, 130, running_req=2, new_tokens=2),
    ]  # fmt: skip
    found = summarise(log).throughput
    assert found.busy_s == pytest.approx(0.13)
    assert found.input == pytest.approx(400 / 0.13)
    assert found.computed == pytest.approx(300 / 0.13)
    assert found.output == pytest.approx(4 / 0.03)
    assert "first-after-idle" not in codes(summarise(log))


def test_steps_left_out_between_two_lines_were_work() -> None:
    """A server that prints every fortieth decode step worked in between; without such a gap in the numbers it rested."""
    worked = [step(0, 0, 10, new_seq=1, new_tokens=5), step(40, 390, 400, running_req=1, new_tokens=1)]
    rested = [step(0, 0, 10, new_seq=1, new_tokens=5), step(1, 390, 400, running_req=1, new_tokens=1)]
    assert summarise(worked).throughput.busy_s == pytest.approx(0.4)
    assert summarise(rested).throughput.busy_s == pytest.approx(0.02)


def test_a_step_that_ends_before_it_starts_has_no_time() -> None:
    """Its tokens count, its time doesn't."""
    log = [step(0, 0, 100, new_seq=1, new_tokens=300), step(1, 200, 110, running_req=2, new_tokens=2)]
    found = summarise(log)
    assert (found.throughput.busy_s, found.throughput.output, found.decode.batches) == (0.1, None, 1)


def test_an_accept_length_that_is_no_number_is_no_speed() -> None:
    """Such a line says nothing about tokens over time."""
    log = [
        decode(1, 50.0),
        decode(1, 50.0, at=1),
        decode(1, 5.0, at=2, accept_len=None),
        decode(1, 50.0, at=3),
    ]
    assert summarise(log).throughput.output == pytest.approx(50.0)


def test_printed_input_throughput_is_off_by_one() -> None:
    """Lines that print it without pending tokens are of 0.4.8 to 0.5.10; the note is for them alone."""
    code = "printed-input-throughput-off-by-one"
    assert code in codes(summarise([prefill(9, input_throughput=50.0)]))
    assert code not in codes(summarise([prefill(9, input_throughput=50.0, pending_token=0)]))
    assert code not in codes(summarise([prefill(9)]))


def test_a_restart_begins_with_a_first_line() -> None:
    """The first decode line after a restart is left out like the first of the log."""
    log = [
        event("ready"),
        prefill(9),
        decode(at=1),
        decode(at=2),
        event("server_args", at=100, extra={"args": {}}),
    ]
    log += [
        event("ready", at=130),
        prefill(9, at=140, running_req=3),
        decode(3, 1.0, at=141),
        decode(3, 300.0, at=142),
    ]
    assert summarise(log).throughput.output == pytest.approx((1 + 3) / (1 / 100 + 3 / 300))
