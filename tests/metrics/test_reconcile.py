"""Witnesses stand side by side; where they contradict one another a sentence says by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from radixbench.metrics.figure import Reconciliation, Source
from radixbench.metrics.summary import summarise
from radixbench.records import LogTotals, ServerCounters
from tests.builders import failed_request, make_request, make_run, prompt_ids
from tests.metrics.played import Asked, play


def told(cached: int | None = 64, *, more: Any = (), **facts: Any) -> Reconciliation:
    """Four requests one after the other that share 64 of 72 tokens; all but the first find ``cached`` tokens."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(4 + len(more))]
    requests = [
        make_request(i, send_s=float(i), prompt_tokens=72, cached=cached if i else 0) for i in range(4)
    ]
    found = summarise(make_run([*requests, *more], prompts=prompts, **facts)).reconciliation
    assert found is not None
    return found


def source(found: Reconciliation, name: str) -> Source:
    """The one source of that name."""
    (one,) = [one for one in found.sources if one.name == name]
    return one


def log(**totals: Any) -> LogTotals:
    return LogTotals(**{"dialect": "sglang", "prefill_lines": 4, "decode_lines": 9} | totals)


def test_all_agree() -> None:
    """Client, counters, log and expectation name the same tokens: nothing is said."""
    found = told(
        counters=ServerCounters("/metrics", prompt_tokens=288, cached_tokens=192),
        log=log(new_tokens=96, cached_tokens=192),
    )
    assert found.disagreements == ()
    names = ["client usage", "server counters", "log lines", "expectation"]
    assert [one.name for one in found.sources] == names
    assert {(one.prompt_tokens, one.cached_tokens) for one in found.sources} == {(288, 192)}


def test_the_engine_agrees_with_itself() -> None:
    """Steps and finished requests of a real engine say what its answers said."""
    asked = [Asked(i, (*range(30), 50 + i), 3, i) for i in range(6)]
    found = summarise(play(asked, page_size=4)).reconciliation
    assert found is not None
    assert found.disagreements == ()
    sums = {(one.prompt_tokens, one.cached_tokens) for one in found.sources if one.name != "expectation"}
    assert len(sums) == 1


def test_lost_lines_are_no_contradiction() -> None:
    """Where the server's records have a gap their sums are shown with that word, and compared with nothing."""
    run = play([Asked(i, (*range(30), 50 + i), 3, i) for i in range(6)])
    found = summarise(replace(run, steps=run.steps[:2], steps_complete=False)).reconciliation
    assert found is not None
    assert found.disagreements == ()
    assert source(found, "scheduler steps").scope.endswith("; some are missing")


def test_counters_that_say_less() -> None:
    """The answers claim hits the server never counted."""
    found = told(counters=ServerCounters("/metrics", prompt_tokens=288, cached_tokens=0))
    assert found.disagreements == ("server counters say 0 cached tokens, client usage 192: 192 apart",)


def test_another_clients_requests() -> None:
    """Counters cover everybody: what came on top is said once, and its hits are no contradiction."""
    found = told(counters=ServerCounters("/metrics", prompt_tokens=1288, cached_tokens=900))
    (text,) = found.disagreements
    assert text == (
        "server counters cover 1,288 prompt tokens, client usage 288: 1,000 came from somebody else or from outside"
        " the run"
    )


def test_failed_requests_are_the_servers_work_too() -> None:
    """A prompt whose answer broke off was counted by the server and not by the client."""
    found = told(
        more=[failed_request(4, send_s=9.0)],
        counters=ServerCounters("/metrics", prompt_tokens=320, cached_tokens=220),
    )
    assert found.disagreements == ()


def test_a_restarted_server_has_no_difference() -> None:
    """Counters that fell say nothing of the run."""
    counters = ServerCounters("/metrics", prompt_tokens=5, cached_tokens=5, reset=True)
    found = told(counters=counters)
    assert found.disagreements == ()
    assert source(found, "server counters").cached_tokens is None
    assert "restarted" in source(found, "server counters").scope


def test_a_log_without_prefill_lines_is_unknown() -> None:
    """Decode lines alone say nothing of cached tokens: unknown, not 0."""
    found = told(log=log(prefill_lines=0))
    assert source(found, "log lines").cached_tokens is None
    assert found.disagreements == ()


def test_a_log_that_lost_lines() -> None:
    """Fewer prompt tokens in the log than the client sent."""
    found = told(log=log(new_tokens=24, cached_tokens=192))
    assert found.disagreements == (
        "log lines cover 216 prompt tokens, client usage 288: 72 are missing there",
    )


def test_whole_pages_are_no_contradiction() -> None:
    """A server that rounds new tokens up to pages of 16 logs more than was sent."""
    found = told(log=log(new_tokens=96 + 4 * 8, cached_tokens=192), args={"page_size": 16})
    assert found.disagreements == ()


def test_a_silent_client_is_compared_with_nobody() -> None:
    """Unknown is no 0 that contradicts a log."""
    found = told(None, log=log(new_tokens=96, cached_tokens=192))
    assert source(found, "client usage").cached_tokens is None
    assert "3 answers without cached tokens, unknown" in source(found, "client usage").scope
    assert found.disagreements == ()


def test_missing_hits_without_a_sign_of_eviction() -> None:
    """An unlimited cache gives 192; the server found nothing and nobody saw an eviction."""
    (text,) = told(0).disagreements
    assert text == (
        "client usage says 0 cached tokens where an unlimited cache gives at least 192: 192 are missing without a"
        " sign of eviction"
    )


def test_scopes_are_said() -> None:
    """Old servers' chunk lines and a pool that is too small change what a number means."""
    found = told(
        log=log(new_tokens=96, cached_tokens=999, chunk_continuations_as_hits=True),
        identity={"max_total_num_tokens": 50},
    )
    assert found.disagreements == ()
    assert "counts earlier chunks of a prompt as hits" in source(found, "log lines").scope
    assert "an upper bound only" in source(found, "expectation").scope
    assert source(found, "expectation").cached_low == 192
