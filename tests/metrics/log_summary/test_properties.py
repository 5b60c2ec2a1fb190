"""What holds for every log."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.document import document
from radixbench.metrics.log_summary.model import LogSummary
from tests.metrics.log_summary.records import (
    START_S,
    accumulated,
    arguments,
    counts_of,
    decode,
    event,
    label,
    numbered,
    prefill,
    slot,
    stats,
    summarise,
)  # fmt: skip

RANKS = [
    Rank("", None, (("TP", 0),)),
    Rank("", 0, (("TP", 0),)),
    Rank("", 1, (("TP", 4),)),
    Rank("b", None, ()),
]
COUNTS = st.integers(0, 20_000)
GAPS = st.sampled_from([0, 0, 0, 1, 1, 2, 7, 30, 400])
LINES = st.lists(
    st.tuples(GAPS, st.sampled_from(RANKS), st.booleans(), COUNTS, COUNTS, st.integers(0, 300), st.integers(0, 40)), max_size=60
)  # fmt: skip

RELAXED = settings(deadline=None, derandomize=True, max_examples=100)


def _log(lines: list[tuple[Any, ...]]) -> list[LogRecord]:
    log = []
    at = 0
    for gap, rank, is_prefill, new, cached, running, queue in lines:
        at += gap
        if is_prefill:
            log.append(
                prefill(
                    new, cached, at=at, rank=rank, running_req=running, queue_req=queue, new_seq=1 + queue
                )
            )
        else:
            log.append(decode(running, 1.0 + new, at=at, rank=rank, queue_req=queue))
    return log


@RELAXED
@given(LINES, st.sampled_from([None, 1.0, 10.0, 77.5]))
def test_windows_and_phases_add_up_to_the_whole(lines: list[tuple[Any, ...]], window_s: float | None) -> None:
    """The hit rate can be followed by hand: the rows' tokens are the log's, and so are the phases'."""
    summary = summarise(_log(lines), window_s)
    for parts in (summary.windows, summary.phases):
        assert sum(part.new_tokens for part in parts) == (summary.prefill.new_tokens or 0)
        assert sum(part.cached_tokens for part in parts) == (summary.prefill.cached_tokens or 0)
        assert sum(part.prefill_batches for part in parts) == (summary.prefill.batches or 0)
        assert sum(part.decode_batches for part in parts) == (summary.decode.batches or 0)
    new, cached = (
        sum(getattr(row, name) for row in summary.windows) for name in ("new_tokens", "cached_tokens")
    )
    if new + cached:
        assert summary.prefill.hit_rate == cached / (new + cached)
    starts = [row.start_s for row in summary.windows]
    assert starts == sorted(set(starts))


@RELAXED
@given(
    LINES,
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["flush", "retract", "ready", "server_args"])),
        max_size=4,
    ),
)
def test_causes_add_up_to_the_new_tokens(lines: list[tuple[Any, ...]], events: list[tuple[int, str]]) -> None:
    """Whatever happened in between: every new token has one cause, and no part is empty."""
    log = _log(lines)
    for place, name in events:
        log.insert(
            place, event(name, at=log[place].at_s - START_S if place < len(log) and log[place].at_s else 0.0)
        )
    summary = summarise(log)
    assert sum(part.tokens for part in summary.uncached) == (summary.prefill.new_tokens or 0)
    assert all(part.tokens > 0 for part in summary.uncached)
    assert len({part.cause for part in summary.uncached}) == len(summary.uncached)
    if summary.prefill.hit_rate_upper is not None and summary.prefill.hit_rate is not None:
        assert summary.prefill.hit_rate <= summary.prefill.hit_rate_upper <= 1.0


@RELAXED
@given(LINES)
def test_sums_are_those_of_a_naive_loop(lines: list[tuple[Any, ...]]) -> None:
    """Every rank here has a cache of its own, so the whole is the plain sum over all lines."""
    log = _log(lines)
    summary = summarise(log)
    prefills = [record.values for record in log if record.kind == "prefill"]
    decodes = [record.values for record in log if record.kind == "decode"]
    queues = [record.values["queue_req"] for record in log]
    assert (summary.prefill.new_tokens or 0) == sum(values["new_token"] for values in prefills)
    assert (summary.prefill.cached_tokens or 0) == sum(values["cached_token"] for values in prefills)
    assert (summary.prefill.new_seq or 0) == sum(values["new_seq"] for values in prefills)
    assert (summary.decode.batches or 0) == len(decodes)
    if decodes:
        assert summary.decode.running_max == max(values["running_req"] for values in decodes)
    if queues:
        assert summary.pressure.queue_mean == pytest.approx(sum(queues) / len(queues))
        assert summary.pressure.queue_max == max(queues)
    if prefills:
        assert (summary.prefill.prompts or 0) <= sum(values["new_seq"] for values in prefills)


@RELAXED
@given(LINES, st.randoms(use_true_random=False))
def test_how_ranks_interleave_does_not_matter(lines: list[tuple[Any, ...]], chance: Any) -> None:
    """Only the order within each rank counts: the summary is the same however the ranks' lines are mixed."""
    log = _log(lines)
    queues = {rank: [record for record in log if record.rank == rank] for rank in RANKS}
    mixed = []
    while any(queues.values()):
        rank = chance.choice([rank for rank, queue in queues.items() if queue])
        mixed.append(queues[rank].pop(0))
    assert _without_lines(summarise(mixed)) == _without_lines(summarise(log))


def _without_lines(summary: LogSummary) -> dict[str, Any]:
    found = document(summary)
    del found["lines"]
    return found


@RELAXED
@given(LINES)
def test_a_summary_changes_nothing(lines: list[tuple[Any, ...]]) -> None:
    """Asking for figures again and again while the log grows gives what asking once at the end gives."""
    log = numbered(_log(lines))
    accumulator = accumulated([])
    for record in log:
        accumulator.add(record)
        accumulator.summary(file="server.log", lines=counts_of(log), label=label)
    assert accumulator.summary(file="server.log", lines=counts_of(log), label=label) == summarise(log)


ODD = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400))
KEYS = (
    "new_seq", "new_token", "cached_token", "queue_req", "running_req", "pending_token", "token_usage", "full_token_usage", "mamba_usage",
    "cache_hit_rate_pct", "input_throughput", "accept_len", "accept_rate", "gen_throughput", "token", "retracted_reqs", "prompt_n",
    "prompt_ms", "predicted_n", "predicted_ms", "total_ms", "p0", "cached_n", "n_prompt_tokens", "slot", "task", "prompt_throughput",
    "gpu_kv_usage_pct", "prefix_hit_pct", "drafted_tokens", "draft_acceptance_pct", "mean_acceptance_len", "timestamp", "truncated",
    "prompt_tokens", "cached_tokens", "completion_tokens", "input_len", "cached_input_len", "pool_tokens", "cuda_graph",
)  # fmt: skip
KINDS = st.sampled_from(
    [("sglang", "prefill"), ("sglang", "decode"), ("sglang", "other"), ("radixbench", "decode"), ("vllm", "stats"), ("vllm", "spec"),
     ("vllm", "prefix_cache"), ("llamacpp", "timing_block"), ("llamacpp", "kv_rm"), ("llamacpp", "draft"), ("llamacpp", "odd")]
)  # fmt: skip
EVENTS = (
    "retract",
    "flush",
    "server_args",
    "ready",
    "request_finish",
    "request_stats",
    "capacity",
    "kv_pool_size",
    "version",
    "preempt",
)
HOSTILE = st.lists(
    st.tuples(
        KINDS, st.dictionaries(st.sampled_from(KEYS), ODD, max_size=12), st.dictionaries(st.sampled_from(("rid", "args", "e2e_latency", "pid", "version")), ODD),
        st.one_of(st.none(), st.floats(-1e12, 1e12)), st.sampled_from(EVENTS),
    ),
    max_size=25,
)  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=200)
@given(HOSTILE)
def test_nothing_that_a_line_may_hold_breaks_a_summary(lines: list[tuple[Any, ...]]) -> None:
    """Any value under any key: a summary comes out, and it is JSON."""
    log = []
    for (dialect, kind), values, extra, at, name in lines:
        named = {**values, "event": name} if kind == "other" else values
        log.append(LogRecord(1, dialect, kind, named, extra, RANKS[0], at))
    json.dumps(document(summarise(log)), allow_nan=False)


def test_memory_stays_flat() -> None:
    """Ten times as many lines over ten times as long a time leave no more behind."""

    def size(n: int) -> int:
        accumulator = accumulated(
            record
            for i in range(n)
            for record in (
                prefill(i % 9000, i % 7000, at=7 * i, pending_token=i % 3), decode(1 + i % 50, 10.0 + i, at=7 * i + 1),
                event("retract", at=7 * i + 2, retracted_reqs=1), slot("kv_rm", at=7 * i, slot=i, task=i, p0=1), stats(1.0, 2.0, at=7 * i),
            )
        )  # fmt: skip
        seen: set[int] = set()

        def total(value: object) -> int:
            if id(value) in seen or isinstance(value, type):
                return 0
            seen.add(id(value))
            held = [
                getattr(value, name, None)
                for kind in type(value).__mro__
                for name in getattr(kind, "__slots__", ())
            ]
            held += list(getattr(value, "__dict__", {}).values())
            if isinstance(value, dict):
                held += [*value.keys(), *value.values()]
            elif isinstance(value, list | tuple | set) or type(value).__name__ == "deque":
                held += list(value)
            return sys.getsizeof(value) + sum(map(total, held))

        return total(accumulator)

    assert size(20_000) < 1.5 * size(6_000)


def test_arguments_may_come_at_any_time() -> None:
    """A budget stated after the first lines counts from there on."""
    log = [
        prefill(8192, at=0),
        prefill(10, at=1),
        arguments(at=2, chunked_prefill_size=8192),
        prefill(8192, at=3),
        prefill(100, at=4),
    ]
    assert summarise(log).prefill.continuations == 1
    assert START_S % 60 == 0
