"""Logs of real servers, as they came, with the figures their clients saw.

llama.cpp's server was asked three times for 12 tokens after a prompt of 304; the same requests at a higher verbosity
made it print 0, 303 and 303 cached tokens. vLLM 0.32.0 answered two waves of four prompts with a shared beginning.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.metrics.log_summary.read import read_log

LOGS = Path(__file__).parents[2] / "golden" / "logs"


def test_llama_cpp_at_its_default_verbosity() -> None:
    """It prints no cached tokens since 2026; they follow from what the slot holds at the end."""
    summary = read_log([str(LOGS / "llama-server.log")])
    assert summary.dialect == "llamacpp"
    assert (summary.prefill.new_tokens, summary.prefill.cached_tokens) == (306, 606)
    assert summary.prefill.hit_rate == pytest.approx(606 / 912)
    assert (summary.requests.n, summary.requests.output_tokens) == (3, 36)
    assert (summary.requests.ttft, summary.requests.e2e) == (None, None)
    assert "cached-tokens-derived" in {note.code for note in summary.notes}


def test_vllm_prints_a_window_and_no_tokens() -> None:
    """Its rate over the last 1,000 requests is shown apart; the log's own rate is unknown, not 0."""
    summary = read_log([str(LOGS / "vllm-0.32.0.log")])
    assert summary.dialect == "vllm"
    assert (summary.prefill.hit_rate, summary.prefill.cached_tokens) == (None, None)
    assert [(window.low, window.high, window.last) for window in summary.server_windows] == [
        (0.741, 0.865, 0.865)
    ]
    assert (summary.server["enable_prefix_caching"], summary.server["block_size"]) == (True, 32)
    assert summary.pressure.pool_tokens == 23_296
    assert summary.throughput.output == pytest.approx(24.0)
