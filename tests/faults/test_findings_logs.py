"""Field faults of server logs, from their lines as printed to the figures and notes people read."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.metrics.log_summary.model import LogSummary
from radixbench.metrics.log_summary.read import read_log
from radixbench.records import LogTotals
from tests.builders import make_request, make_run, prompt_ids
from tests.faults.finding import found

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"
PD_DECODE = (
    "Decode batch, #running-req: 4, #token: 4096, token usage: 0.10, pre-allocated usage: 0.00, #prealloc-req: 0,"
    " #transfer-req: 2, #retracted-req: 0, #await-prefill-req: 3, cuda graph: True, gen throughput (token/s): {rate},"
    " #queue-req: 0"
)


def log(tmp_path: Path, *lines: str) -> LogSummary:
    """The summary of a log of these lines, a second apart."""
    path = tmp_path / "server.log"
    path.write_text("".join(f"[2026-02-20 10:00:{n:02}] {line}\n" for n, line in enumerate(lines)))
    return read_log([str(path)])


def prefill(new: int, cached: int, rate: str = "", usage: str = "0.10") -> str:
    """A prefill line; ``rate`` is the cumulative hit rate of old servers."""
    old = f"cache hit rate: {rate}, " if rate else ""
    return (
        f"Prefill batch. #new-seq: 1, #new-token: {new}, #cached-token: {cached}, {old}token usage: {usage},"
        " #running-req: 0, #queue-req: 0"
    )


def decode(rate: float) -> str:
    """A decode line."""
    return (
        "Decode batch. #running-req: 1, #token: 4096, token usage: 0.10, cuda graph: True,"
        f" gen throughput (token/s): {rate:.2f}, #queue-req: 0"
    )


def note(summary: LogSummary, code: str) -> str:
    """The text of that note, "" where it isn't told."""
    return next((note.text for note in summary.notes if note.code == code), "")


def test_fault_49_a_prompt_fully_cached_has_no_rate() -> None:
    """A real llama.cpp log: 1 token evaluated of 304 says nothing about speed; such prompts are left out and told."""
    summary = read_log([str(GOLDEN / "llama-server.log")])
    assert note(summary, "fully-cached-prompts").startswith("2 prompts are cached but for the last token")
    assert summary.prefill.cached_tokens == 2 * 303


def test_fault_55_earlier_chunks_are_no_hits(tmp_path: Path) -> None:
    """An old server prints 0, 8192 and 16384 cached for one prompt of 20,000: nothing was reused, and it is said."""
    summary = log(
        tmp_path,
        prefill(8192, 0, "0.00%"),
        prefill(8192, 8192, "33.33%"),
        prefill(3616, 16_384, "55.13%"),
    )
    assert (summary.prefill.cached_tokens, summary.prefill.new_tokens) == (0, 20_000)
    assert note(summary, "chunk-continuation-counted-as-hit").startswith(
        "Chunk continuation counted as hit (old server"
    )
    run = make_run([make_request(0)], log=LogTotals("sglang", 3, 9, chunk_continuations_as_hits=True))
    assert (
        "chunk continuation counted as hit (old server)"
        in found(run, "chunk-continuation-counted-as-hit").text
    )


def test_fault_56_a_later_chunk_logs_nothing_cached(tmp_path: Path) -> None:
    """Chunks of 8192, 8192 and 3616 with 4096, 0 and 0 cached: one prompt of 24,096 tokens, 4096 of them cached."""
    summary = log(tmp_path, prefill(8192, 4096), prefill(8192, 0), prefill(3616, 0))
    tokens = summary.prefill.new_tokens
    assert tokens is not None
    assert tokens + 4096 == 24_096
    assert (summary.prefill.cached_tokens, summary.prefill.prompts) == (4096, 1)


def test_fault_58_no_prefill_lines_mean_unknown(tmp_path: Path) -> None:
    """Decode lines only: cached tokens are unknown, not 0; of a log, and of a run measured beside one."""
    summary = log(tmp_path, PD_DECODE.format(rate="120.50"), PD_DECODE.format(rate="121.00"))
    assert (summary.prefill.cached_tokens, summary.prefill.hit_rate) == (None, None)
    assert note(summary, "no-prefill-lines").startswith("No prefill lines: cached tokens unknown")
    run = make_run([make_request(0)], log=LogTotals("sglang", prefill_lines=0, decode_lines=7))
    assert found(run, "no-prefill-lines").text == "no prefill lines: cached tokens unknown by the log"


def test_fault_59_no_decode_lines_mean_unknown(tmp_path: Path) -> None:
    """Prefill lines only: output throughput is unknown, not 0."""
    summary = log(tmp_path, prefill(300, 0), prefill(300, 200))
    assert summary.throughput.output is None
    assert note(summary, "no-decode-lines").startswith("No decode lines: output throughput")
    run = make_run([make_request(0, output=100)], log=LogTotals("sglang", prefill_lines=1, decode_lines=0))
    assert "output throughput unknown" in found(run, "no-decode-lines").text


def test_fault_61_an_unknown_key_is_kept(tmp_path: Path) -> None:
    """``#await-prefill-req: 3`` is nobody's error: the line counts, and the key is in its record."""
    path = tmp_path / "server.log"
    path.write_text(f"[2026-02-20 10:00:00] {PD_DECODE.format(rate='120.50')}\n")
    records = []
    summary = read_log([str(path)], on_record=records.append)
    assert summary.lines.by_kind.get("malformed", 0) == 0
    kept = {**records[0].values, **records[0].extra}
    assert [value for key, value in kept.items() if "await" in key] == [3]


def test_fault_62_nothing_is_concluded_from_pre_allocated_usage(tmp_path: Path) -> None:
    """The field was always 0.00 in mid-2025: no note speaks of it, whatever it says."""
    for usage in ("0.00", "0.99"):
        line = PD_DECODE.format(rate="121.00").replace(
            "pre-allocated usage: 0.00", f"pre-allocated usage: {usage}"
        )
        summary = log(tmp_path, line, line)
        assert not [one for one in summary.notes if "pre-allocated" in one.text or one.code == "pool-full"]


def test_fault_83_hits_under_the_cpus_label(tmp_path: Path) -> None:
    """V0 prints the CPU backend's hits under CPU: GPU 0 %, CPU 90 % is 90 %. Prompts below a block get a hint."""
    path = tmp_path / "vllm.log"
    path.write_text(
        "INFO 02-26 10:00:00 metrics.py:455] Avg prompt throughput: 13.7 tokens/s, Avg generation throughput: 13.5"
        " tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 0.1%, CPU KV cache usage:"
        " 0.0%.\n"
        "INFO 02-26 10:00:00 metrics.py:471] Prefix cache hit rate: GPU: 0.00%, CPU: 90.00%\n"
    )
    (window,) = read_log([str(path)]).server_windows
    assert window.last == pytest.approx(0.9)
    prompts = [prompt_ids(0, i, shared=8, question=4) for i in range(4)]
    requests = [make_request(i, prompt_tokens=12) for i in range(4)]
    run = make_run(requests, prompts=prompts, args={"page_size": 16})
    told = found(run, "shorter-than-block").text
    assert told.startswith("4 of 4 prompts are shorter than one block of 16 tokens")


def test_fault_85_rounded_up_pages_give_a_lower_bound(tmp_path: Path) -> None:
    """10,048 cached and 64 new tokens in pages of 64: at least 99.3 %, with the page size named."""
    summary = log(tmp_path, prefill(64, 10_048))
    assert summary.prefill.hit_rate == pytest.approx(0.99367, abs=1e-5)
    assert summary.prefill.hit_rate_bound == "lower"
    assert "at least 99.3 %" in note(summary, "page-rounding")
    assert "page size seems to be 64" in note(summary, "page-rounding")


def test_fault_86_a_rate_after_idle_is_left_out(tmp_path: Path) -> None:
    """A gap, then lines of 1.06 and 84.20 tokens/s: 84.20, and it is said that a line was left out."""
    summary = log(tmp_path, prefill(64, 0), decode(1.06), decode(84.20))
    assert summary.throughput.output == pytest.approx(84.20)
    assert note(summary, "first-after-idle").startswith("1 decode line is left out")
