"""Windows, stretches of work, phases, and clocks that don't behave."""

from __future__ import annotations

import pytest

from radixbench.logs.record import LogRecord, Rank
from tests.metrics.log_summary.records import (
    START_S,
    arguments,
    codes,
    decode,
    event,
    note,
    prefill,
    stats,
    summarise,
)


def _steady(start: float, seconds: int, new: int = 100, cached: int = 100) -> list[LogRecord]:
    return [prefill(new, cached, at=start + n) for n in range(seconds)]


def test_windows_are_as_long_as_asked() -> None:
    """With --window 10s every row covers ten seconds and holds the sums of its lines."""
    log = [prefill(10, 5, at=3, queue_req=2), decode(4, at=4, token_usage=0.7), prefill(30, 15, at=27)]
    rows = summarise(log, 10.0).windows
    assert [(row.start_s - START_S, row.length_s, row.label) for row in rows] == [
        (0, 10, "+0s"),
        (20, 10, "+20s"),
    ]
    first = rows[0]
    assert (first.prefill_batches, first.new_tokens, first.cached_tokens, first.decode_batches) == (
        1,
        10,
        5,
        1,
    )
    assert (first.hit_rate, first.running_max, first.queue_max, first.usage_max) == (
        pytest.approx(1 / 3),
        4,
        2,
        0.7,
    )
    assert first.pools == {"token": 0.7}
    assert (rows[1].running_max, rows[1].decode_batches, rows[1].output_throughput) == (None, 0, None)


def test_windows_grow_with_the_log() -> None:
    """Ten thousand seconds make at most sixty rows, of a round length, whose sums are those of the log."""
    rows = summarise(_steady(0, 10_000)).windows
    assert 24 <= len(rows) <= 60
    assert {row.length_s for row in rows} == {300.0}
    assert sum(row.new_tokens for row in rows) == 1_000_000


def test_few_seconds_keep_rows_of_a_second() -> None:
    """Up to sixty seconds with lines are shown one by one."""
    assert {row.length_s for row in summarise(_steady(0, 60)).windows} == {1.0}
    assert {row.length_s for row in summarise(_steady(0, 61)).windows} == {2.0}


def test_windows_in_which_nothing_was_printed_are_no_rows() -> None:
    """A night without lines has no rows."""
    assert len(summarise([prefill(1), prefill(1, at=40_000)], 60.0).windows) == 2


def test_output_of_neighbouring_windows_adds_up() -> None:
    """Tokens and seconds of the rows are those of the lines: interval x running requests over what the rates imply."""
    log = [
        arguments(decode_log_interval=20),
        prefill(9),
        decode(1, 50.0, at=1),
        decode(2, 100.0, at=2),
        decode(4, 100.0, at=12),
    ]
    rows = summarise(log, 10.0).windows
    assert [row.output_tokens for row in rows] == [40.0, 80.0]
    assert [row.output_s for row in rows] == [pytest.approx(0.4), pytest.approx(0.8)]
    assert [row.output_throughput for row in rows] == [pytest.approx(100.0), pytest.approx(100.0)]


def test_events_stand_in_their_window() -> None:
    """A row tells how often what happened in it, also where no batch was printed."""
    log = [prefill(1), event("flush", at=30), *(event("retract", at=41, retracted_reqs=1) for _ in range(3))]
    assert [row.events for row in summarise(log, 10.0).windows] == [{}, {"flush": 1}, {"retract": 3}]


def test_an_idle_gap_parts_two_phases() -> None:
    """A minute without a line, then a batch that found nothing running: busy, idle, busy."""
    phases = summarise([*_steady(0, 10), *_steady(70, 5, 100, 300)]).phases
    assert [(phase.kind, phase.start_s - START_S, phase.end_s - START_S) for phase in phases] == [
        ("busy", 0, 9), ("idle", 9, 70), ("busy", 70, 74),
    ]  # fmt: skip
    assert [(phase.prefill_batches, phase.new_tokens, phase.hit_rate) for phase in phases] == [
        (10, 1000, 0.5), (0, 0, None), (5, 500, 0.75),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "after",
    [{"running_req": 3}, {"running_req": 0, "before": {"queue_req": 2}}, {"running_req": 0, "before": {"pending_token": 900}}],
)  # fmt: skip
def test_a_gap_with_work_in_it_is_not_idle(after: dict[str, object]) -> None:
    """Requests still ran, or waited, over the gap: one phase."""
    before = after.pop("before", {})
    assert isinstance(before, dict)
    log = [*_steady(0, 5), prefill(10, at=5, **before), prefill(10, at=65, **after)]
    assert [phase.kind for phase in summarise(log).phases] == ["busy"]


def test_a_slow_server_is_not_idle() -> None:
    """Lines every 45 seconds throughout are that server's rhythm (a log of eugr/llama-benchy#15)."""
    summary = summarise([prefill(2048, at=45 * n) for n in range(8)])
    assert [phase.kind for phase in summary.phases] == ["busy"]
    assert summary.throughput.computed == pytest.approx(8 * 2048 / 315)


def test_a_decode_server_idles_between_its_lines() -> None:
    """Without prefill lines a long gap between decode lines is idle."""
    log = [decode(at=n) for n in range(5)] + [decode(at=100 + n) for n in range(5)]
    assert [phase.kind for phase in summarise(log).phases] == ["busy", "idle", "busy"]


def test_start_up_lasts_until_the_server_is_ready() -> None:
    """From the arguments to the ready line; what was prefilled then is the server's own warm-up."""
    log = [arguments(), prefill(6, at=30), event("ready", at=31), *_steady(100, 5, 50, 50)]
    summary = summarise(log)
    assert [(phase.kind, phase.prefill_batches) for phase in summary.phases] == [
        ("start-up", 1),
        ("idle", 0),
        ("busy", 5),
    ]
    assert "1 prefill line with 6 tokens" in note(summary, "warm-up")
    assert "probe-lines" not in codes(summary)


def test_a_flush_begins_a_phase() -> None:
    """Without any gap, and once for all ranks that print it."""
    ranks = [Rank("", dp, ()) for dp in (0, 1)]
    log = [prefill(10, 30, at=n, rank=rank) for n in range(4) for rank in ranks]
    log += [event("flush", at=4, rank=rank) for rank in ranks]
    log += [prefill(20, 0, at=5 + n, rank=rank) for n in range(4) for rank in ranks]
    summary = summarise(log)
    assert [(phase.opened_by, phase.hit_rate, phase.prefill_batches) for phase in summary.phases] == [
        (None, 0.75, 8),
        ("flush", 0.0, 8),
    ]
    assert "flushed once" in note(summary, "flushed")


def test_a_refused_flush_changes_nothing() -> None:
    """It is told, and no phase begins."""
    summary = summarise([*_steady(0, 4), event("flush_refused", at=4), *_steady(5, 4)])
    assert len(summary.phases) == 1
    assert "refused once" in note(summary, "flush-refused")
    assert "flushed" not in codes(summary)


def test_ranks_that_take_turns_are_one_phase() -> None:
    """Where one rank rests another works: the server was busy all along."""
    log = [prefill(99, at=10 * n, rank=Rank("", n // 3 % 2, ())) for n in range(12)]
    phases = summarise(log).phases
    assert [(phase.kind, phase.prefill_batches) for phase in phases] == [("busy", 12)]


def test_a_restart_begins_a_phase_and_is_told() -> None:
    """Arguments after work: the server was started again, its cache is empty, its warm-up counts as that."""
    log = [arguments(), prefill(60, at=1), event("ready", at=2), *_steady(3, 4)]
    log += [arguments(at=100), prefill(60, at=130), event("ready", at=131), *_steady(132, 4)]
    summary = summarise(log)
    assert [phase.kind for phase in summary.phases] == ["start-up", "busy", "idle", "start-up", "busy"]
    assert "started again once" in note(summary, "restarted")
    assert "2 prefill lines with 120 tokens" in note(summary, "warm-up")


def test_a_log_that_begins_in_the_middle_has_no_warm_up() -> None:
    """A ready line after much work belongs to a restart, not to the first start."""
    summary = summarise([*_steady(0, 60), event("ready", at=100), *_steady(101, 3)])
    assert "warm-up" not in codes(summary)
    assert "restarted" in codes(summary)


def test_a_clock_that_jumps() -> None:
    """Back by more than a minute, or ahead by more than a day: told, and no negative time."""
    back = summarise([*_steady(1000, 5), *_steady(0, 5)])
    assert "once back by more than a minute" in note(back, "clock-jumped")
    assert back.throughput.busy_s == 8.0
    ahead = summarise([*_steady(0, 5), *_steady(200_000, 5)])
    assert "once ahead by more than a day" in note(ahead, "clock-jumped")
    assert [phase.kind for phase in ahead.phases] == ["busy", "idle", "busy"]


def test_lines_out_of_order_by_a_little() -> None:
    """A line a few seconds late lands in its window; the note counts it."""
    summary = summarise([prefill(1, at=10), prefill(2, at=7), prefill(4, at=11)], 1.0)
    assert [row.new_tokens for row in summary.windows] == [2, 1, 4]
    assert note(summary, "out-of-order").startswith("Once a line is older")


def test_without_times_there_is_no_table() -> None:
    """The sums stand, and the note says what is missing."""
    summary = summarise([prefill(10, 30, at=None), decode(at=None)])
    assert (summary.windows, summary.phases, summary.first) == ((), (), None)
    assert summary.prefill.hit_rate == 0.75
    assert "no-time" in codes(summary)


def test_a_time_of_day_without_a_date() -> None:
    """Stamps such as 18:50:40 are told; full dates are not."""
    assert "time-without-date" in codes(summarise([prefill(1, timestamp="18:50:40")]))
    assert "time-without-date" not in codes(summarise([prefill(1, timestamp="2026-08-26 18:50:40")]))


def test_the_span_covers_lines_and_events() -> None:
    """From the first to the last moment of anything."""
    summary = summarise([arguments(at=5), prefill(1, at=10), event("flush", at=20)])
    assert (summary.first, summary.last, summary.span_s) == ("+5s", "+20s", 15.0)


def test_of_a_million_events_a_few_are_kept() -> None:
    """The first and last 25 of a name are listed, all of them counted."""
    log = [prefill(1), *(event("retract", at=n, retracted_reqs=1) for n in range(1000))]
    summary = summarise(log)
    assert len(summary.events) == 50
    assert [summary.events[0].label, summary.events[-1].label] == ["+0s", "+999s"]
    assert summary.events[0].text == "1 sent back to the queue"
    assert summary.pressure.retract_events == 1000
    assert sum(row.events.get("retract", 0) for row in summary.windows) == 1000


def test_many_gaps_are_joined_but_stay_idle() -> None:
    """A thousand short visits in a week: a bounded number of phases, and busy time without the gaps."""
    log = [line for n in range(1000) for line in (prefill(99, at=100 * n), prefill(99, at=100 * n + 2))]
    summary = summarise(log)
    assert len(summary.phases) <= 801
    assert summary.throughput.busy_s == 2000.0
    assert sum(phase.new_tokens for phase in summary.phases) == 198_000


def test_vllm_windows_and_phases() -> None:
    """Idle lines belong to a window but to no phase of work."""
    log = [stats(0.0, 50.0, at=10 * n) for n in range(4)] + [stats(at=40 + 10 * n) for n in range(30)]
    log += [stats(0.0, 50.0, at=340 + 10 * n) for n in range(4)]
    summary = summarise(log)
    assert [phase.kind for phase in summary.phases] == ["busy", "idle", "busy"]


@pytest.mark.parametrize("window_s", [0.0, -1.0, float("inf"), float("nan")])
def test_refuses_a_window_of_no_length(window_s: float) -> None:
    """A window is longer than nothing and shorter than for ever."""
    with pytest.raises(ValueError, match="window"):
        summarise([], window_s)
