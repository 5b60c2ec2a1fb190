"""Where the time went: every second of a log belongs to one phase, and only work is time at work."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.metrics.log_summary.phases import phase_totals
from tests.metrics.log_summary.records import (
    START_S,
    arguments,
    decode,
    event,
    prefill,
    slot,
    stats,
    step,
    summarise,
)
from tests.metrics.log_summary.test_properties import LINES, RANKS, RELAXED, _log


def _rows(summary: LogSummary) -> list[tuple[str, float, float, str | None]]:
    return [(one.kind, one.start_s - START_S, one.end_s - START_S, one.opened_by) for one in summary.phases]


@RELAXED
@given(LINES)
def test_phases_leave_no_hole(lines: list[tuple[Any, ...]]) -> None:
    """From the first moment to the last, each where the one before ended; the shares are their lengths."""
    summary = summarise(_log(lines))
    phases = summary.phases
    assert all(one.end_s == later.start_s for one, later in pairwise(phases))
    if phases:
        assert phases[-1].end_s - phases[0].start_s == summary.span_s
    assert summary.time_shares == phase_totals(phases)


CUTS = st.sampled_from(["flush", "ready", "server_args"])
STAMPED = st.lists(
    st.tuples(st.sampled_from(["prefill", "decode", "cut"]), st.integers(0, 300), st.sampled_from([0, 1, 7, 300, 3_000]), CUTS, st.sampled_from(RANKS[:2])),
    max_size=30,
)  # fmt: skip


@RELAXED
@given(lines=STAMPED, near=st.booleans())
def test_phases_hold_every_token_whatever_the_order(lines: list[tuple[Any, ...]], *, near: bool) -> None:
    """Stamps and cuts may come in any order, near each other or far: the phases' tokens are the log's."""
    log = []
    for kind, at, new, name, rank in lines:
        at_s = at % 5 if near else at
        if kind == "prefill":
            log.append(prefill(new, new // 2, at=at_s, rank=rank))
        else:
            log.append(decode(1, at=at_s, rank=rank) if kind == "decode" else event(name, at=at_s))
    summary = summarise(log)
    assert sum(one.new_tokens for one in summary.phases) == (summary.prefill.new_tokens or 0)
    assert sum(one.cached_tokens for one in summary.phases) == (summary.prefill.cached_tokens or 0)
    assert sum(one.decode_batches for one in summary.phases) == (summary.decode.batches or 0)


def test_a_line_out_of_order_after_a_flush_begins_a_phase() -> None:
    """Two lines stamped a second before the flush, then one after: all that follows the flush is one phase."""
    log = [prefill(500, at=12), event("flush", at=12)]
    log += [prefill(new, at=at, running_req=1) for new, at in ((600, 11), (700, 11), (800, 13))]
    phases = summarise(log).phases
    assert [one.new_tokens for one in phases] == [500, 2100]
    assert all(one.start_s <= one.end_s for one in phases)


@RELAXED
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 90), st.integers(0, 40_000)), max_size=20))
def test_timings_of_any_order_around_cuts_have_phases(lines: list[tuple[bool, int, int]]) -> None:
    """llama.cpp's lines tell of the time before them, which may reach over a restart of another server in the same log."""
    log = [
        slot("timing_block", at=at, slot=0, task=n, prompt_n=9, prompt_ms=9.0, predicted_n=9, predicted_ms=9.0, total_ms=took)
        if timed
        else event("ready", at=at, dialect="llamacpp")
        for n, (timed, at, took) in enumerate(lines)
    ]  # fmt: skip
    summary = summarise(log)
    assert all(one.start_s <= one.end_s for one in summary.phases)
    assert all(one.end_s == later.start_s for one, later in pairwise(summary.phases))


@RELAXED
@given(LINES)
def test_decode_lines_after_an_idle_gap_follow_an_idle_phase(lines: list[tuple[Any, ...]]) -> None:
    """No more of them than idle phases, on one rank; and the reasons add up."""
    summary = summarise(_log([(gap, RANKS[0], *rest) for gap, _, *rest in lines]))
    idle = sum(phase.kind == "idle" for phase in summary.phases)
    assert summary.decode.left_out.get("after an idle gap", 0) <= idle
    assert sum(summary.decode.left_out.values()) == summary.decode.idle_lines


def test_a_short_rest_dilutes_a_rate_but_is_no_idle_phase() -> None:
    """Three seconds without work within a busy phase, then a minute: one line diluted, one after an idle gap."""
    log = [prefill(99), decode(at=1), decode(at=2), prefill(99, at=5), decode(1, 9.0, at=6)]
    log += [prefill(99, at=66), decode(1, 1.0, at=67), decode(at=68)]
    summary = summarise(log)
    assert summary.decode.left_out == {"first of a rank": 1, "after an idle gap": 1, "diluted": 1}
    assert [row[0] for row in _rows(summary)] == ["busy", "idle", "busy"]


def _probed(seconds: int) -> list[LogRecord]:
    return [prefill(1, at=second) for second in range(0, seconds, 10)]


def test_probes_are_no_work() -> None:
    """A health check each ten seconds and two real requests: idle in between, the probes' tokens in the idle phase."""
    log = [
        prefill(500, 1500, at=0),
        decode(at=4),
        *_probed(300)[1:],
        prefill(500, 1500, at=300),
        decode(at=306),
    ]
    summary = summarise(log)
    assert _rows(summary) == [("busy", 0, 4, None), ("idle", 4, 300, None), ("busy", 300, 306, None)]
    assert [phase.new_tokens for phase in summary.phases] == [500, 29, 500]
    assert summary.throughput.busy_s == 10.0
    assert summary.time_shares == {"busy": 10.0, "idle": 296.0}


def test_probes_alone_leave_a_server_idle() -> None:
    """No work at all, and the reason says why there is no time at work."""
    summary = summarise(_probed(60))
    assert _rows(summary) == [("idle", 0, 50, None)]
    assert summary.throughput.busy_s is None
    assert "probe" in (summary.throughput.reason or "")


def test_a_short_prompt_that_goes_on_is_work() -> None:
    """A tiny prompt whose answer is long: the decode line after it says that it was no probe."""
    log = [prefill(500), decode(at=5), prefill(4, at=100), decode(at=103), decode(at=106)]
    summary = summarise(log)
    assert _rows(summary) == [("busy", 0, 5, None), ("idle", 5, 100, None), ("busy", 100, 106, None)]
    assert summary.throughput.busy_s == 11.0


def test_a_probe_within_work_changes_nothing() -> None:
    """Between two batches of a busy server it parts nothing."""
    summary = summarise([prefill(500), prefill(2, at=3), prefill(500, at=6)])
    assert _rows(summary) == [("busy", 0, 6, None)]


def test_rest_between_exact_steps_is_idle() -> None:
    """Six seconds without a step are no time at work, although steps that weren't printed lie in them."""
    log = [step(0, 0, 100, new_seq=1, new_tokens=500), step(10, 190, 200, at=0, running_req=1, new_tokens=1)]
    log += [
        step(21, 6200, 6300, at=6, new_seq=1, new_tokens=500),
        step(22, 6300, 6310, at=6, running_req=1, new_tokens=1),
    ]
    summary = summarise(log)
    assert summary.throughput.busy_s == pytest.approx(0.1 + 0.1 + 10 * 0.01 + 0.11)
    assert summary.throughput.idle_after_s == 0.0
    assert _rows(summary) == [("busy", 0, 0, None), ("idle", 0, 6, None), ("busy", 6, 6, None)]


def test_exact_steps_close_to_each_other_are_all_work() -> None:
    """A request that follows at once leaves no rest, if the missing steps explain the gap."""
    log = [step(0, 0, 10, new_seq=1, new_tokens=5), step(2, 20, 30, running_req=1, new_tokens=1)]
    log += [step(10, 105, 115, new_seq=1, new_tokens=5)]
    assert summarise(log).throughput.busy_s == pytest.approx(0.115)


def test_timings_are_work_from_their_beginning() -> None:
    """Lines about 4 s at second 10, 2 s at second 11 and 1 s at second 20: work from 6 to 11 and from 19 to 20."""
    log = [
        line
        for at, took in ((10, 4000.0), (11, 2000.0), (20, 1000.0))
        for line in (slot("prompt_eval", at=at, slot=0, task=at, prompt_n=9, prompt_ms=1.0), slot("total", at=at, slot=0, task=at, total_ms=took))
    ]  # fmt: skip
    summary = summarise(log)
    assert summary.throughput.busy_s == 6.0
    assert _rows(summary) == [("busy", 6, 11, None), ("idle", 11, 19, None), ("busy", 19, 20, None)]


def test_a_request_s_tokens_stand_in_its_own_phase() -> None:
    """Prompt timings come before the line about the whole request, which begins the phase."""
    log = [
        line
        for at, new in ((10, 300), (20, 7))
        for line in (
            slot("kv_rm", at=at - 1, slot=0, task=at, p0=5), slot("prompt_eval", at=at, slot=0, task=at, prompt_n=new, prompt_ms=1.0),
            slot("total", at=at, slot=0, task=at, total_ms=1000.0),
        )
    ]  # fmt: skip
    busy = [phase for phase in summarise(log).phases if phase.kind == "busy"]
    assert [(phase.new_tokens, phase.cached_tokens) for phase in busy] == [(300, 5), (7, 5)]


def test_a_long_request_covers_the_short_ones_beside_it() -> None:
    """Printed last, it began first: one stretch of work."""
    log = [
        slot("total", at=at, slot=at, task=at, total_ms=took)
        for at, took in ((5, 1000.0), (8, 1000.0), (10, 8000.0))
    ]
    log = [line for one in log for line in (slot("prompt_eval", at=None, prompt_n=9, prompt_ms=1.0), one)]
    summary = summarise(log)
    assert summary.throughput.busy_s == 8.0
    assert _rows(summary) == [("busy", 2, 10, None)]


def test_periodic_lines_tell_of_the_time_before_them() -> None:
    """Lines at 10 and 30 with an idle one between and after: work from 0 to 10 and from 20 to 30."""
    log = [stats(0.0, rate, at=at) for at, rate in ((10, 50.0), (20, 0.0), (30, 50.0), (40, 0.0))]
    summary = summarise(log, 10.0)
    assert _rows(summary) == [
        ("busy", 0, 10, None), ("idle", 10, 20, None), ("busy", 20, 30, None), ("idle", 30, 40, None),
    ]  # fmt: skip
    assert [row.start_s - START_S for row in summary.windows if row.output_tokens] == [0, 20]


def test_the_time_after_ready_is_idle() -> None:
    """Ten seconds until the first request come: a phase of its own, begun by the event."""
    log = [arguments(), prefill(6, at=22), event("ready", at=23), prefill(900, at=33), decode(at=40)]
    assert _rows(summarise(log)) == [
        ("start-up", 0, 23, None), ("idle", 23, 33, "ready"), ("busy", 33, 40, None),
    ]  # fmt: skip


def test_two_servers_start_up_together() -> None:
    """A log of two services has start-up phases too; while one works, the log is busy."""
    log = []
    for source, ready in (("a", 20), ("b", 40)):
        rank = Rank(source)
        log += [
            event("server_args", at=0, rank=rank, extra={"args": {}}),
            event("ready", at=ready, rank=rank),
        ]
        log += [prefill(900, at=ready + 5 + n, rank=rank) for n in range(8)]
    summary = summarise(sorted(log, key=lambda record: record.at_s or 0.0))
    assert [row[0] for row in _rows(summary)] == ["start-up", "busy", "start-up", "idle", "busy"]


def test_an_event_begins_the_next_phase() -> None:
    """A flush in a long gap parts the idle time; at work it parts the work."""
    idle = summarise([prefill(99), event("flush", at=60), prefill(99, at=70)])
    assert _rows(idle) == [
        ("busy", 0, 0, None), ("idle", 0, 60, None), ("idle", 60, 70, "flush"), ("busy", 70, 70, None),
    ]  # fmt: skip
    busy = summarise([prefill(99), event("flush", at=3), prefill(99, at=7)])
    assert _rows(busy) == [("busy", 0, 3, None), ("busy", 3, 7, "flush")]
    assert busy.throughput.busy_s == 7.0


def test_requests_alone_tell_no_phases() -> None:
    """Nothing says when the server was at work."""
    log = [event("request_finish", at=9, prompt_tokens=9, cached_tokens=0, completion_tokens=1)]
    assert summarise(log).phases == ()
