"""Counters and log as witnesses of a cache's state: asked where answers are silent, and only where they can be believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Check, Run
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.findings.state import state_fault
from radixbench.metrics.summary import summarise
from radixbench.records import LogTotals, ServerCounters
from radixbench.scenario.model import OffMode
from tests.builders import failed_request, make_request, make_run, prompt_ids

SHARED = 64
N = 4
MOST = (N - 1) * SHARED


def silent(
    hits: int | None, declared: str = "cold", *, off_mode: OffMode | None = None, **counters: Any
) -> Run:
    """Four requests one after the other, none of which tells what it found; the counters do."""
    prompts = [prompt_ids(0, i, shared=SHARED, question=8) for i in range(N)]
    requests = [make_request(i, send_s=float(i), prompt_tokens=SHARED + 8, cached=None) for i in range(N)]
    run = make_run(
        requests,
        prompts=prompts,
        declared=declared,
        mode="off" if declared == "off" else "on",
        counters=ServerCounters("/metrics", cached_tokens=hits, **counters),
    )
    held = [prompts[0][:SHARED]] if declared in {"primed", "warm"} else []
    tree = build_prompt_tree(prompts, [request.output_ids for request in requests], held)
    return replace(run, prompts=tree, protocol=replace(run.protocol, verified=None, off_mode=off_mode))


def fault(run: Run) -> str | None:
    """What speaks against the run's state, in words."""
    found = state_fault(run, summarise(run))
    return None if found is None else found.text


def test_a_warm_cache_that_only_the_counters_tell_of() -> None:
    """More was found than the run itself can have put there; as much as that is cold."""
    assert fault(silent(MOST)) is None
    assert fault(silent(4 * 71)) == (
        "/metrics counted 284 cached tokens where at most 192 are possible, while 4 answers don't tell, in a run declared cold"
    )


def test_a_cache_that_was_off_and_hit() -> None:
    """The counters betray a salt the server doesn't know."""
    assert fault(silent(0, "off", off_mode="salt")) is None
    assert fault(silent(64, "off", off_mode="salt")) == (
        "/metrics counted 64 cached tokens in a run declared off by salt, of which the answers don't tell"
    )


@pytest.mark.parametrize("declared", ["primed", "warm"])
def test_what_was_put_there_and_not_found(declared: str) -> None:
    """All of it, more than is possible, and half of it."""
    assert fault(silent(N * SHARED, declared)) is None
    assert "at most 256 are possible" in str(fault(silent(N * 71, declared)))
    assert "measured 128 cached tokens where 256 were put there" in str(fault(silent(128, declared)))


def test_counters_that_cannot_be_believed_are_not_asked() -> None:
    """A restart, preempted requests, somebody else's, none at all, or answers that tell for themselves."""
    warm = silent(N * 71)
    alone = Check("alone", False, "the server counted 3 requests that weren't ours")
    assert fault(replace(warm, protocol=replace(warm.protocol, checks=(alone,)))) is None
    assert fault(silent(N * 71, reset=True)) is None
    assert fault(silent(N * 71, preemptions=1)) is None
    assert fault(silent(None)) is None
    told = tuple(replace(one, cached_tokens=SHARED if one.prompt else 0) for one in warm.requests)
    assert fault(replace(warm, requests=told)) is None


def test_without_counters_the_log_tells() -> None:
    """As an SGLang server does that was started without metrics and cache report; its lines are this run's alone."""

    def logged(cached: int, new: int) -> str | None:
        lines = LogTotals("sglang", 4, 0, new_tokens=new, cached_tokens=cached)
        return fault(replace(silent(None), counters=None, log=lines))

    assert logged(MOST, 4 * 72 - MOST) is None
    assert str(logged(4 * 71, 4)).startswith("the server's log counted 284 cached tokens where at most 192")
    assert logged(4 * 71, 400) is None


def test_a_failed_request_may_have_found_its_prompt() -> None:
    """It counts for the server, so its prompt is allowed for."""
    warm = silent(MOST + 8)
    broken = replace(failed_request(3, send_s=3.0), sent_prompt_tokens=SHARED + 8, prompt_tokens=None)
    assert fault(replace(warm, requests=(*warm.requests[:3], broken))) is None


def test_an_off_server_that_states_its_cache_is_on() -> None:
    """By SGLang's, vLLM's or the bundled server's word; a salted arm leaves it on and may say so."""
    for args, identity in (
        ({"disable_radix_cache": False}, {}),
        ({"enable_prefix_caching": True}, {}),
        ({}, {"radix_cache": True}),
    ):
        run = silent(None, "off", off_mode="flag")
        server = replace(run.server, args=run.server.args | args, identity=run.server.identity | identity)
        assert "states that its cache is on" in str(fault(replace(run, server=server)))
        salted = replace(run.protocol, off_mode="salt")
        assert fault(replace(run, server=server, protocol=salted)) is None
