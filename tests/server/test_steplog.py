"""The log's rates, intervals and events, on a clock that only moves when told to."""

from __future__ import annotations

import io
from dataclasses import replace

from radixbench.clock import ClockAnchor, ManualClock, local_stamp
from radixbench.engine.engine import EngineStats, StepResult
from radixbench.logs.line import parse_line
from radixbench.records import FinishRecord, StepRecord
from radixbench.server.steplog import StepLog
from radixbench.units import NS_PER_S

STATS = EngineStats(
    running_req=0, queue_req=0, used_slots=0, evictable_slots=0, free_slots=10, pool_slots=10,
    new_token_ratio=0.5, prompt_tokens_total=0, cached_tokens_total=0, generation_tokens_total=0,
    requests_total=0, aborted_total=0, evicted_tokens_total=0, retracted_total=0, host_ns_total=0,
    step_ns_total=0,
)  # fmt: skip
PREFILL = StepRecord(
    phase="prefill", step=0, start_ns=0, end_ns=2 * NS_PER_S, host_ns=1, new_seq=1, new_tokens=100,
    cached_tokens=50, running_req=0, queue_req=0, pending_tokens=0, held_tokens=150, used_slots=150,
    pool_slots=1000,
)  # fmt: skip
DECODE = replace(PREFILL, phase="decode", new_seq=0, new_tokens=4, cached_tokens=0, running_req=4)
WALL_NS = 1_700_000_000 * NS_PER_S


def _log(interval: int = 40) -> tuple[StepLog, io.StringIO]:
    output = io.StringIO()
    log = StepLog(output, ManualClock(), ClockAnchor(0, WALL_NS), decode_log_interval=interval)
    return log, output


def test_rates_are_tokens_since_the_previous_line() -> None:
    """Input throughput is over the time since the previous prefill line, as SGLang computes it."""
    log, output = _log()
    log.step(StepResult(PREFILL, (), ()), (), STATS)
    log.step(StepResult(replace(PREFILL, end_ns=7 * NS_PER_S), (), ()), (), STATS)
    first, second = output.getvalue().splitlines()
    assert "input throughput (token/s): 50.00" in first
    assert "input throughput (token/s): 20.00" in second


def test_every_nth_decode_step_is_logged_with_the_tokens_of_all() -> None:
    """Gen throughput counts the tokens of the steps between two lines, too."""
    log, output = _log(interval=3)
    for step in range(7):
        log.step(StepResult(replace(DECODE, step=step, end_ns=(step + 1) * NS_PER_S), (), ()), (), STATS)
    lines = output.getvalue().splitlines()
    assert [parse_line(line).step for line in lines] == [2, 5]  # type: ignore[union-attr]  # both are steps
    assert all("gen throughput (token/s): 4.00" in line for line in lines)


def test_every_line_bears_the_local_time_of_its_step() -> None:
    """The stamp is the wall-clock time at which the step ended."""
    log, output = _log()
    log.step(StepResult(PREFILL, (), ()), (), STATS)
    log.message("Cache flushed successfully!")
    stamps = [local_stamp(WALL_NS + 2 * NS_PER_S), local_stamp(WALL_NS)]
    assert [line[: len(stamps[0]) + 2] for line in output.getvalue().splitlines()] == [
        f"[{s}]" for s in stamps
    ]


def test_a_retraction_is_told_with_the_ratio_before_and_after() -> None:
    """The line people grep for follows the step's own."""
    log, output = _log()
    log.step(StepResult(PREFILL, (), ()), (), STATS)
    retracting = replace(DECODE, retracted_req=2)
    log.step(StepResult(retracting, (), ()), (), replace(STATS, new_token_ratio=0.75))
    assert output.getvalue().endswith(
        "] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.5000 -> 0.7500\n"
    )


def test_a_finished_request_has_a_line() -> None:
    """A request's line parses to its record and shows its arrival as wall-clock seconds."""
    log, output = _log(interval=1)
    finish = FinishRecord(
        rid="r", input_len=1, cached_input_len=0, output_len=1, attempts=1, queue_ns=1, forward_ns=2,
        entry_ns=NS_PER_S, ttft_ns=3, e2e_ns=3,
    )  # fmt: skip
    log.step(StepResult(DECODE, (), (finish,)), (finish,), STATS)
    line = output.getvalue().splitlines()[1]
    assert parse_line(line) == finish
    assert "entry_time=1700000001.000" in line
