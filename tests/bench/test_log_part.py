"""A run's part of a server's log, of every make."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench.log_part import LogTail
from radixbench.errors import LogError
from radixbench.logs.line import format_step
from radixbench.records import LogTotals, StepRecord

PREFILL = (
    "[2026-10-01 12:00:00{rank}] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {cached},"
    " token usage: 0.25, #running-req: 0, #queue-req: 0, #pending-token: 0, cuda graph: False,"
    " input throughput (token/s): 123.45\n"
)
HYBRID = (
    "[2026-10-01 12:00:00] Decode batch, #running-req: 1, #full token: 9, full token usage: 0.14, mamba num: 3,"
    " mamba usage: 1.00, cuda graph: True, gen throughput (token/s): 167.04, #queue-req: 0\n"
)
RETRACT = (
    "[2026-10-01 12:00:00] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 512,"
    " #new_token_ratio: 0.2000 -> 0.4500\n"
)
OLD = (
    "[2024-10-01 12:00:00 TP0] Prefill batch. #new-seq: 1, #new-token: {new}, #cached-token: {cached},"
    " cache hit rate: 10.00%, token usage: 0.00, #running-req: 0, #queue-req: 0\n"
)
VLLM = (
    "INFO 11-29 23:43:01 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation"
    " throughput: 2.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 12.5%, Prefix cache hit rate:"
    " 80.0%\n"
)
VLLM_ON_CPU = (
    "(APIServer pid=18276) INFO 11-30 10:41:22 [loggers.py:335] Engine 000: Avg prompt throughput: 351.8 tokens/s, Avg"
    " generation throughput: 6.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, {pools}, Prefix cache hit rate: 47.1%\n"
)
LLAMACPP = (
    "prompt eval time =     100.00 ms /    50 tokens (    2.00 ms per token,   500.00 tokens per second)\n"
    "       eval time =     100.00 ms /    10 tokens (   10.00 ms per token,   100.00 tokens per second)\n"
)


async def totals(tmp_path: Path, text: str, before: str = "") -> LogTotals | None:
    """What the part of a log after ``before`` comes to."""
    log = tmp_path / "server.log"
    log.write_text(before)
    tail = LogTail(log)
    tail.skip()
    with log.open("a") as file:
        file.write(text)
    part = await tail.read(start_ns=0, finished=0)
    return part.totals


async def test_sglang_lines_are_summed_from_where_the_run_began(tmp_path: Path) -> None:
    """Lines before the run, of other tensor ranks and without meaning are left out; retractions are counted."""
    text = (
        PREFILL.format(rank=" TP0", new=100, cached=28)
        + PREFILL.format(rank=" TP1", new=100, cached=28)
        + PREFILL.format(rank="", new=50, cached=0)
        + "uvicorn says something\n"
        + RETRACT
        + HYBRID
    )
    found = await totals(tmp_path, text, before=PREFILL.format(rank="", new=7, cached=7))
    assert found is not None
    assert (found.dialect, found.prefill_lines, found.decode_lines) == ("sglang", 2, 1)
    assert (found.new_tokens, found.cached_tokens, found.retractions) == (150, 28, 2)
    assert (found.peak_token_usage, found.peak_state_usage) == (0.25, 1.0)
    assert not found.chunk_continuations_as_hits


async def test_decode_lines_alone_leave_cached_tokens_unknown(tmp_path: Path) -> None:
    """A server that prints no prefill lines says nothing of its cache, which isn't the same as 0."""
    found = await totals(tmp_path, HYBRID)
    assert found is not None
    assert (found.prefill_lines, found.new_tokens, found.cached_tokens) == (0, None, None)


async def test_earlier_chunks_printed_as_hits_are_noticed(tmp_path: Path) -> None:
    """Up to the end of 2024 a chunked prompt's own chunks were printed as cached."""
    chunks = [(8192, 0), (8192, 8192), (3616, 16384)]
    found = await totals(tmp_path, "".join(OLD.format(new=new, cached=cached) for new, cached in chunks))
    assert found is not None
    assert found.chunk_continuations_as_hits


async def test_vllm_prints_a_rolling_rate(tmp_path: Path) -> None:
    """Its rate is over the last thousand requests and kept as such; usage is a ratio."""
    found = await totals(tmp_path, VLLM)
    assert found is not None
    assert (found.window_hit_rate, found.peak_token_usage, found.cached_tokens) == (0.8, 0.125, None)


@pytest.mark.parametrize(
    ("pools", "usage"),
    [
        ("CPU KV cache usage: 1.5%", 0.015),
        ("GPU KV cache usage: 2.5%, CPU KV cache usage: 50.0%", 0.025),
    ],
)
async def test_vllm_on_a_cpu_names_its_pool_otherwise(tmp_path: Path, pools: str, usage: float) -> None:
    """Its one pool is the CPU's there (0.32.0); beside a GPU's the same words mean old vLLM's swap space."""
    found = await totals(tmp_path, VLLM_ON_CPU.format(pools=pools))
    assert found is not None
    assert (found.window_hit_rate, found.peak_token_usage) == (pytest.approx(0.471), pytest.approx(usage))


async def test_llamacpp_tells_computed_tokens(tmp_path: Path) -> None:
    """Its prompt line counts what was computed; how much was cached stands elsewhere, or nowhere."""
    found = await totals(tmp_path, LLAMACPP)
    assert found is not None
    assert (found.dialect, found.new_tokens, found.cached_tokens, found.decode_lines) == (
        "llamacpp",
        50,
        None,
        1,
    )


async def test_our_own_lines_give_whole_records(tmp_path: Path) -> None:
    """Exact steps from the run's start on, complete when no number is missing, and their sums."""
    log = tmp_path / "server.log"
    log.write_text("")
    tail = LogTail(log)
    tail.skip()
    steps = [StepRecord("prefill", n, n, n + 1, 1, 1, 10, 5, 0, 0, 0, 15, 15, 100) for n in (3, 4, 5)]
    lines = [f"[2026-10-01 12:00:00] {format_step(step, throughput=1.0)}\n" for step in steps]
    log.write_text("".join(lines) + "half a line without its e")
    part = await tail.read(start_ns=4, finished=0)
    assert part.steps == tuple(steps[1:])
    assert part.complete
    assert part.totals is not None
    assert (part.totals.new_tokens, part.totals.cached_tokens) == (20, 10)


async def test_a_log_begun_anew_is_read_from_its_begin(tmp_path: Path) -> None:
    """A rotated or truncated log isn't waited on for ever."""
    log = tmp_path / "server.log"
    log.write_text("x" * 4000 + "\n")
    tail = LogTail(log)
    tail.skip()
    log.write_text(HYBRID)
    part = await tail.read(start_ns=0, finished=0)
    assert part.totals is not None
    assert part.totals.decode_lines == 1


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    """A server's log that isn't there is one line, before the run is measured."""
    with pytest.raises(LogError, match=r"nowhere\.log: the server's log can't be read"):
        LogTail(tmp_path / "nowhere.log").skip()
