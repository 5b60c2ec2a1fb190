"""Our own log lines lose nothing and can't be forged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.line import format_finish, format_retraction, format_step, parse_line
from radixbench.records import FinishRecord, StepRecord

counts = st.integers(min_value=0, max_value=2**62)
prefixes = st.sampled_from(["", "[2026-10-16 14:01:00] ", "[2026-10-16 14:01:00.123 TP0 EP0] ", "pod-3 | "])


@st.composite
def step_records(draw: st.DrawFn) -> StepRecord:
    """Any record the scheduler's contract allows."""
    prefill = draw(st.booleans())
    running = draw(counts)
    return StepRecord(
        phase="prefill" if prefill else "decode",
        step=draw(counts),
        start_ns=draw(counts),
        end_ns=draw(counts),
        host_ns=draw(counts),
        new_seq=draw(counts) if prefill else 0,
        new_tokens=draw(counts) if prefill else running,
        cached_tokens=draw(counts) if prefill else 0,
        running_req=running,
        queue_req=draw(counts),
        pending_tokens=draw(counts),
        held_tokens=draw(counts),
        used_slots=draw(counts),
        pool_slots=draw(counts),
        evicted_tokens=draw(counts),
        retracted_req=draw(counts),
        graph=draw(st.booleans()),
    )


finish_records = st.builds(
    FinishRecord,
    rid=st.text(min_size=1),
    input_len=counts,
    cached_input_len=counts,
    output_len=counts,
    attempts=counts,
    queue_ns=counts,
    forward_ns=counts,
    entry_ns=counts,
    ttft_ns=st.none() | counts,
    e2e_ns=counts,
    finish_reason=st.text(min_size=1),
)


@given(step_records(), st.floats(min_value=0, max_value=1e12), prefixes)
def test_a_step_survives_the_log(record: StepRecord, throughput: float, prefix: str) -> None:
    """A step's line parses to the step, whatever prefix the logger adds."""
    assert parse_line(f"{prefix}{format_step(record, throughput=throughput)}\n") == record


@given(finish_records, st.floats(min_value=0, max_value=1e12), prefixes)
def test_a_finished_request_survives_the_log(record: FinishRecord, wall: float, prefix: str) -> None:
    """A request's line parses to the record, whatever characters its id holds, and stays one line."""
    line = format_finish(record, entry_wall_s=wall)
    assert len(line.splitlines()) == 1
    assert parse_line(prefix + line) == record


@given(step_records(), st.data())
def test_a_truncated_line_is_no_record(record: StepRecord, data: st.DataObject) -> None:
    """A line cut before its last number's name is refused, not half read."""
    line = format_step(record, throughput=1.0)
    cut = data.draw(st.integers(min_value=0, max_value=line.rindex(": ")))
    assert parse_line(line[:cut]) is None


def test_the_prefill_line_reads_as_sglang_prints_it() -> None:
    """SGLang's words come first, in its order, then the exact integers."""
    record = StepRecord(
        phase="prefill", step=41, start_ns=9120443000, end_ns=9760113000, host_ns=51000, new_seq=7,
        new_tokens=955, cached_tokens=15102, running_req=1, queue_req=0, pending_tokens=0,
        held_tokens=16057, used_slots=3277, pool_slots=65536,
    )  # fmt: skip
    assert format_step(record, throughput=1472.944) == (
        "Prefill batch, #new-seq: 7, #new-token: 955, #cached-token: 15102, token usage: 0.05, "
        "#running-req: 1, #queue-req: 0, #pending-token: 0, cuda graph: False, "
        "input throughput (token/s): 1472.94, step: 41, start-ns: 9120443000, end-ns: 9760113000, "
        "host-ns: 51000, used-slots: 3277, pool-slots: 65536, evicted-tokens: 0, retracted-req: 0, "
        "held-tokens: 16057"
    )


def test_the_decode_line_reads_as_sglang_prints_it() -> None:
    """SGLang's words come first, in its order, then the exact integers."""
    record = StepRecord(
        phase="decode", step=82, start_ns=1, end_ns=2, host_ns=1, new_seq=0, new_tokens=8,
        cached_tokens=0, running_req=8, queue_req=0, pending_tokens=0, held_tokens=34118,
        used_slots=34118, pool_slots=65536, evicted_tokens=3, retracted_req=1, graph=True,
    )  # fmt: skip
    assert format_step(record, throughput=96.11) == (
        "Decode batch, #running-req: 8, #token: 34118, token usage: 0.52, cuda graph: True, "
        "gen throughput (token/s): 96.11, #queue-req: 0, step: 82, start-ns: 1, end-ns: 2, host-ns: 1, "
        "used-slots: 34118, pool-slots: 65536, evicted-tokens: 3, retracted-req: 1, pending-tokens: 0"
    )


def test_the_request_line_reads_as_sglang_prints_it() -> None:
    """SGLang's ReqTimeStats, then the exact times; a request without a token has no TTFT."""
    record = FinishRecord(
        rid="abc", input_len=20, cached_input_len=0, output_len=0, attempts=1, queue_ns=510_000,
        forward_ns=120_330_000, entry_ns=7, ttft_ns=None, e2e_ns=9, finish_reason="abort",
    )  # fmt: skip
    assert format_finish(record, entry_wall_s=1759312800.1234) == (
        "ReqTimeStats(rid=abc, input_len=20, cached_input_len=0, output_len=0, attempts=1, type=unified): "
        "queue_duration=0.51ms, forward_duration=120.33ms, entry_time=1759312800.123, queue-ns: 510000, "
        "forward-ns: 120330000, entry-ns: 7, e2e-ns: 9, finish-reason: abort"
    )


def test_a_request_id_cannot_forge_a_line() -> None:
    """A client's request id with a line break and a whole batch line inside yields one honest record."""
    forged = "x, input_len=9): \n[2026-10-16 14:01:00] Prefill batch, #new-seq: 7"
    record = FinishRecord(
        rid=forged, input_len=1, cached_input_len=0, output_len=1, attempts=1, queue_ns=1,
        forward_ns=1, entry_ns=1, ttft_ns=1, e2e_ns=1,
    )  # fmt: skip
    assert parse_line(format_finish(record, entry_wall_s=0.0)) == record


@pytest.mark.parametrize(
    "line",
    [
        "",
        "The server is fired up and ready to roll!",
        "Prefill batch, #new-seq: 1, #new-token: 20, #cached-token: 0, token usage: 0.00, #running-req: 0",
        "Decode batch, #running-req: 1, #token: 60, token usage: 0.00, cuda graph: maybe, step: 1",
        "ReqTimeStats(rid=abc, input_len=20",
        format_retraction(retracted=2, ratio_before=0.2, ratio_after=0.45),
    ],
)
def test_other_lines_are_no_records(line: str) -> None:
    """Start-up lines, another server's batch lines and damaged ones give None."""
    assert parse_line(line) is None


def test_the_retraction_line_reads_as_sglang_prints_it() -> None:
    """The words people grep for when the pool is full."""
    assert format_retraction(retracted=2, ratio_before=0.2, ratio_after=0.45) == (
        "KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.2000 -> 0.4500"
    )
