"""Our own log lines, written and read side by side: ``parse_line(format_…(record)) == record``.

Each line starts with SGLang's words in SGLang's order (0.5.22), so that people and their tools read
it, and ends with exact integers, so that nothing is lost. Rates and the rounded ``token usage`` are
for the eye alone: the parser ignores them. Request ids and finish reasons are percent-encoded, for a
client chooses its request id and must not be able to forge a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from radixbench.records import FinishRecord, StepRecord
from radixbench.units import NS_PER_MS

_PREFILL = "Prefill batch, "
_DECODE = "Decode batch, "
_FINISH = "ReqTimeStats("
_SAFE = "-_.:@+/"

_PAIR = re.compile(r"(?:^|, )(#?[a-z][a-z0-9 -]*+): ([^,\s]+)")
_ARGUMENT = re.compile(r"(\w+)=([^,)\s]+)")


def format_step(record: StepRecord, *, throughput: float) -> str:
    """One scheduler step. ``throughput``: tokens per second since the previous line of its phase."""
    return (
        _format_prefill(record, throughput)
        if record.phase == "prefill"
        else _format_decode(record, throughput)
    )


def _format_prefill(record: StepRecord, throughput: float) -> str:
    return (
        f"{_PREFILL}#new-seq: {record.new_seq}, #new-token: {record.new_tokens}, "
        f"#cached-token: {record.cached_tokens}, token usage: {_usage(record):.2f}, "
        f"#running-req: {record.running_req}, #queue-req: {record.queue_req}, "
        f"#pending-token: {record.pending_tokens}, cuda graph: {record.graph}, "
        f"input throughput (token/s): {throughput:.2f}, {_exact(record)}, held-tokens: {record.held_tokens}"
    )


def _format_decode(record: StepRecord, throughput: float) -> str:
    return (
        f"{_DECODE}#running-req: {record.running_req}, #token: {record.held_tokens}, "
        f"token usage: {_usage(record):.2f}, cuda graph: {record.graph}, "
        f"gen throughput (token/s): {throughput:.2f}, #queue-req: {record.queue_req}, "
        f"{_exact(record)}, pending-tokens: {record.pending_tokens}"
    )


def _exact(record: StepRecord) -> str:
    return (
        f"step: {record.step}, start-ns: {record.start_ns}, end-ns: {record.end_ns}, "
        f"host-ns: {record.host_ns}, used-slots: {record.used_slots}, pool-slots: {record.pool_slots}, "
        f"evicted-tokens: {record.evicted_tokens}, retracted-req: {record.retracted_req}"
    )


def _usage(record: StepRecord) -> float:
    return record.used_slots / record.pool_slots if record.pool_slots else 0.0


def format_finish(record: FinishRecord, *, entry_wall_s: float) -> str:
    """One finished request. ``entry_wall_s``: its arrival in seconds since the Unix epoch, for the eye."""
    ttft = "" if record.ttft_ns is None else f"ttft-ns: {record.ttft_ns}, "
    return (
        f"{_FINISH}rid={quote(record.rid, safe=_SAFE)}, input_len={record.input_len}, "
        f"cached_input_len={record.cached_input_len}, output_len={record.output_len}, "
        f"attempts={record.attempts}, type=unified): "
        f"queue_duration={record.queue_ns / NS_PER_MS:.2f}ms, "
        f"forward_duration={record.forward_ns / NS_PER_MS:.2f}ms, entry_time={entry_wall_s:.3f}, "
        f"queue-ns: {record.queue_ns}, forward-ns: {record.forward_ns}, entry-ns: {record.entry_ns}, "
        f"{ttft}e2e-ns: {record.e2e_ns}, finish-reason: {quote(record.finish_reason, safe=_SAFE)}"
    )


def format_retraction(*, retracted: int, ratio_before: float, ratio_after: float) -> str:
    """Requests sent back to the queue because the pool was full; the step's own line holds the exact count."""
    return (
        f"KV cache pool is full. Retract requests. #retracted_reqs: {retracted}, "
        f"#new_token_ratio: {ratio_before:.4f} -> {ratio_after:.4f}"
    )


def parse_line(text: str) -> StepRecord | FinishRecord | None:
    """The record a line of ours holds, whatever stands before it.

    ``None`` for any other line, a truncated one, and another server's (it lacks the exact integers).
    """
    for marker, parse in ((_PREFILL, _parse_prefill), (_DECODE, _parse_decode), (_FINISH, _parse_finish)):
        at = text.find(marker)
        if at >= 0:
            try:
                return parse(text[at + len(marker) :])
            except (KeyError, ValueError):
                return None
    return None


def step_from(phase: str, words: Mapping[str, str]) -> StepRecord:
    """The record of a batch line of ours, from its labels and what stands behind them.

    Raises ``KeyError`` or ``ValueError`` if the exact integers aren't all there.
    """
    return _prefill_from(words) if phase == "prefill" else _decode_from(words)


def _parse_prefill(body: str) -> StepRecord:
    return _prefill_from(dict(_PAIR.findall(body)))


def _parse_decode(body: str) -> StepRecord:
    return _decode_from(dict(_PAIR.findall(body)))


def _prefill_from(pairs: Mapping[str, str]) -> StepRecord:
    return StepRecord(
        phase="prefill",
        new_seq=int(pairs["#new-seq"]),
        new_tokens=int(pairs["#new-token"]),
        cached_tokens=int(pairs["#cached-token"]),
        running_req=int(pairs["#running-req"]),
        queue_req=int(pairs["#queue-req"]),
        pending_tokens=int(pairs["#pending-token"]),
        held_tokens=int(pairs["held-tokens"]),
        graph=_truth(pairs["cuda graph"]),
        **_parse_exact(pairs),
    )


def _decode_from(pairs: Mapping[str, str]) -> StepRecord:
    running = int(pairs["#running-req"])
    return StepRecord(
        phase="decode",
        new_seq=0,
        new_tokens=running,
        cached_tokens=0,
        running_req=running,
        queue_req=int(pairs["#queue-req"]),
        pending_tokens=int(pairs["pending-tokens"]),
        held_tokens=int(pairs["#token"]),
        graph=_truth(pairs["cuda graph"]),
        **_parse_exact(pairs),
    )


def _parse_exact(pairs: Mapping[str, str]) -> dict[str, int]:
    return {
        "step": int(pairs["step"]),
        "start_ns": int(pairs["start-ns"]),
        "end_ns": int(pairs["end-ns"]),
        "host_ns": int(pairs["host-ns"]),
        "used_slots": int(pairs["used-slots"]),
        "pool_slots": int(pairs["pool-slots"]),
        "evicted_tokens": int(pairs["evicted-tokens"]),
        "retracted_req": int(pairs["retracted-req"]),
    }


def _parse_finish(body: str) -> FinishRecord:
    head, separator, tail = body.partition("): ")
    if not separator:
        raise ValueError("no end of the request's description")
    named = dict(_ARGUMENT.findall(head))
    pairs = dict(_PAIR.findall(tail))
    return FinishRecord(
        rid=unquote(named["rid"]),
        input_len=int(named["input_len"]),
        cached_input_len=int(named["cached_input_len"]),
        output_len=int(named["output_len"]),
        attempts=int(named["attempts"]),
        queue_ns=int(pairs["queue-ns"]),
        forward_ns=int(pairs["forward-ns"]),
        entry_ns=int(pairs["entry-ns"]),
        ttft_ns=int(pairs["ttft-ns"]) if "ttft-ns" in pairs else None,
        e2e_ns=int(pairs["e2e-ns"]),
        finish_reason=unquote(pairs["finish-reason"]),
    )


def _truth(word: str) -> bool:
    if word not in ("True", "False"):
        raise ValueError(f"{word!r} is neither True nor False")
    return word == "True"
