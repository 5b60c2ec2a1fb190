"""Records as the dialects give them, and the summary of a handful of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from radixbench.logs.record import DialectName, LineCounts, LogRecord, Rank
from radixbench.metrics.log_summary.accumulator import LogAccumulator
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.records import FinishRecord, StepRecord

ALONE = Rank()
START_S = 1_800_000_000.0
"""A whole minute, so that windows of any usual width begin with it."""


def _record(
    dialect: DialectName,
    kind: str,
    values: dict[str, Any],
    extra: dict[str, Any],
    rank: Rank,
    at: float | None,
) -> LogRecord:
    return LogRecord(1, dialect, kind, values, extra, rank, None if at is None else START_S + at)


def _printed(values: dict[str, Any]) -> dict[str, Any]:
    """A value of ``...`` isn't printed at all."""
    return {key: value for key, value in values.items() if value is not ...}


def prefill(
    new: Any,
    cached: Any = 0,
    *,
    at: float | None = 0.0,
    rank: Rank = ALONE,
    extra: dict[str, Any] | None = None,
    **more: Any,
) -> LogRecord:
    """A prefill line of an idle server, ``at`` seconds after the log's start; ``more`` by key."""
    values = {
        "new_seq": 1,
        "new_token": new,
        "cached_token": cached,
        "token_usage": 0.1,
        "running_req": 0,
        "queue_req": 0,
    }
    return _record("sglang", "prefill", _printed(values | more), extra or {}, rank, at)


def decode(
    running: Any = 1,
    rate: Any = 100.0,
    *,
    at: float | None = 0.0,
    rank: Rank = ALONE,
    extra: dict[str, Any] | None = None,
    **more: Any,
) -> LogRecord:
    """A decode line."""
    values = {
        "running_req": running,
        "token": 1001,
        "token_usage": 0.1,
        "gen_throughput": rate,
        "queue_req": 0,
    }
    return _record("sglang", "decode", _printed(values | more), extra or {}, rank, at)


def event(
    name: str,
    *,
    at: float | None = 0.0,
    rank: Rank = ALONE,
    dialect: DialectName = "sglang",
    extra: dict[str, Any] | None = None,
    **values: Any,
) -> LogRecord:
    """An event with its keys."""
    return _record(dialect, "other", {"event": name, **values}, extra or {}, rank, at)


def arguments(*, at: float | None = 0.0, **args: Any) -> LogRecord:
    """The start-up arguments of an SGLang server."""
    return event("server_args", at=at, extra={"args": args})


def finish(prompt: Any, cached: Any, output: Any = 8, *, at: float | None = 0.0, **extra: Any) -> LogRecord:
    """A ``Finish:`` line."""
    return event(
        "request_finish",
        at=at,
        extra=extra,
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=output,
    )


def step(number: int, start_ms: int, end_ms: int, *, at: float = 0.0, **fields: Any) -> LogRecord:
    """A step of our own server; a decode step if it has no new sequence."""
    plain: dict[str, Any] = {
        "phase": "prefill" if fields.get("new_seq") else "decode",
        "step": number, "start_ns": start_ms * 10**6, "end_ns": end_ms * 10**6, "host_ns": 0, "new_seq": 0, "new_tokens": 0,
        "cached_tokens": 0, "running_req": 0, "queue_req": 0, "pending_tokens": 0, "held_tokens": 0, "used_slots": 0, "pool_slots": 100,
    }  # fmt: skip
    exact = StepRecord(**plain | fields)
    values: dict[str, Any] = {
        "running_req": exact.running_req,
        "queue_req": exact.queue_req,
        "token_usage": 0.1,
    }
    if exact.phase == "prefill":
        values |= {
            "new_seq": exact.new_seq,
            "new_token": exact.new_tokens,
            "cached_token": exact.cached_tokens,
        }
        values["pending_token"] = exact.pending_tokens
    record = _record("radixbench", exact.phase, values, {"step": number}, ALONE, at)
    return record._replace(exact=exact)


def answered(
    rid: str, prompt: int, cached: int, *, ttft_ms: int | None, e2e_ms: int, queue_ms: int = 0
) -> LogRecord:
    """A finished request of our own server."""
    exact = FinishRecord(
        rid=rid, input_len=prompt, cached_input_len=cached, output_len=4, attempts=1, queue_ns=queue_ms * 10**6, forward_ns=0,
        entry_ns=0, ttft_ns=None if ttft_ms is None else ttft_ms * 10**6, e2e_ns=e2e_ms * 10**6,
    )  # fmt: skip
    record = event(
        "request_stats",
        dialect="radixbench",
        input_len=prompt,
        cached_input_len=cached,
        output_len=4,
        extra={"rid": rid, "attempts": 1},
    )
    return record._replace(exact=exact)


def stats(
    prompt_rate: float = 0.0, output_rate: float = 0.0, *, at: float | None = 0.0, engine: int | None = 0,
    extra: dict[str, Any] | None = None, **more: Any,
) -> LogRecord:  # fmt: skip
    """A periodic line of vLLM's."""
    values = {
        "prompt_throughput": prompt_rate, "gen_throughput": output_rate, "running_req": 1 if output_rate else 0, "queue_req": 0,
        "gpu_kv_usage_pct": 5.0, "engine": ... if engine is None else engine,
    }  # fmt: skip
    return _record("vllm", "stats", _printed(values | more), extra or {}, Rank(dp=engine), at)


def vllm(kind: str, *, at: float | None = 0.0, rank: Rank = ALONE, **values: Any) -> LogRecord:
    """Another line of vLLM's."""
    return _record("vllm", kind, values, {}, rank, at)


def slot(
    kind: str,
    *,
    at: float | None = None,
    rank: Rank = ALONE,
    extra: dict[str, Any] | None = None,
    **values: Any,
) -> LogRecord:
    """A line of llama.cpp's."""
    return _record("llamacpp", kind, values, extra or {}, rank, at)


def numbered(records: Iterable[LogRecord]) -> list[LogRecord]:
    """The records on lines 1, 2, 3 …"""
    return [record._replace(line_no=line_no) for line_no, record in enumerate(records, 1)]


def counts_of(records: Iterable[LogRecord], **kinds: int) -> LineCounts:
    """One line for each record, and as many of other kinds as given."""
    lines = LineCounts()
    for record in records:
        lines.by_kind[record.kind] += 1
        lines.by_dialect[record.dialect] += 1
        if record.event is not None:
            lines.events[record.event] += 1
    lines.by_kind.update(kinds)
    lines.read = sum(lines.by_kind.values())
    return lines


def label(at_s: float) -> str:
    """Seconds after the log's start."""
    return f"+{at_s - START_S:g}s"


def accumulated(records: Iterable[LogRecord], window_s: float | None = None) -> LogAccumulator:
    """All records read."""
    accumulator = LogAccumulator(window_s=window_s)
    for record in records:
        accumulator.add(record)
    return accumulator


def summarise(records: Iterable[LogRecord], window_s: float | None = None, **kinds: int) -> LogSummary:
    """The summary of a log that consists of these."""
    log = numbered(records)
    return accumulated(log, window_s).summary(file="server.log", lines=counts_of(log, **kinds), label=label)


def codes(summary: LogSummary) -> set[str]:
    """The codes of all notes."""
    return {note.code for note in summary.notes}


def note(summary: LogSummary, code: str) -> str:
    """The text of the one note of this code."""
    (text,) = (note.text for note in summary.notes if note.code == code)
    return text
