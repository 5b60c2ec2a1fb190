"""Faults of the field in counting cached tokens: a hit rate that lies is caught, an unknown one stays unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from radixbench.capture.store import load, save
from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import cache_account
from radixbench.metrics.figure import CacheAccount, Reconciliation
from radixbench.metrics.summary import summarise
from radixbench.records import LogTotals, ServerCounters
from tests.builders import make_capture, make_request, make_run, prompt_ids
from tests.metrics.played import Asked, play

P = 64


def account(requests: list[Any], **facts: Any) -> CacheAccount:
    """The account of a run of these requests."""
    return cache_account(sort_out(make_run(requests, **facts)))


def reconciled(requests: list[Any], **facts: Any) -> Reconciliation:
    """What the witnesses of a run of these requests say together."""
    found = summarise(make_run(requests, **facts)).reconciliation
    assert found is not None
    return found


def test_fault_11_a_first_wave_races() -> None:
    """8 requests of one group at once: 0 to 7·P expected; with the prefix primed exactly 8·P."""
    asked = [Asked(i, prompt_ids(0, i, shared=P, question=8), 1) for i in range(8)]
    cold = cache_account(sort_out(play(asked, pool=1024)))
    assert (cold.expected_low, cold.expected_high) == (0, 7 * P)
    assert cold.cached_tokens is not None
    assert 0 <= cold.cached_tokens <= 7 * P
    primed = cache_account(sort_out(play(asked, held=[prompt_ids(0, 0, shared=P, question=0)], pool=1024)))
    assert primed.expected_low == primed.expected_high == primed.cached_tokens == 8 * P


def test_fault_41_absent_is_not_zero(tmp_path: Path) -> None:
    """A capture tells an answer without cached tokens from one with 0 of them, and the figures do too."""
    silent, zero = (make_run([make_request(0, cached=cached)]) for cached in (None, 0))
    save(make_capture([silent, zero]), tmp_path / "c.json")
    written = [run["requests"][0] for run in json.loads((tmp_path / "c.json").read_text())["runs"]]
    assert ["cached_tokens" in request for request in written] == [False, True]
    first, second = (summarise(run).figures["cached_tokens"] for run in load(tmp_path / "c.json").runs)
    assert (first.value, second.value) == (None, 0.0)
    assert first.reason is not None


def test_fault_65_a_field_left_out_when_it_is_zero() -> None:
    """Missing in some answers beside hits in others counts as 0; missing in all is unknown."""
    prompts = [prompt_ids(0, i, shared=P, question=8) for i in range(3)]
    some = account(
        [make_request(i, send_s=float(i), prompt_tokens=72, cached=P if i else None) for i in range(3)],
        prompts=prompts,
    )
    assert (some.cached_tokens, some.unknown, some.efficiency) == (2 * P, 1, 1.0)
    none = account(
        [make_request(i, send_s=float(i), prompt_tokens=72, cached=None) for i in range(3)], prompts=prompts
    )
    assert (none.cached_tokens, none.unknown, none.shortfall) == (None, 3, None)


def test_fault_67_more_cached_than_prompt_after_retractions() -> None:
    """122,884 cached of 59,946 stays out of the sums, is counted, and stands beside the retractions in the log."""
    requests = [
        make_request(0, prompt_tokens=59_946, cached=122_884),
        make_request(1, send_s=1.0, prompt_tokens=32, cached=0),
    ]
    log = LogTotals("sglang", 4, 9, new_tokens=32, cached_tokens=0, retractions=3)
    found = account(requests, log=log)
    assert (found.impossible, found.cached_tokens, found.prompt_tokens) == (1, 0, 32)
    assert found.pressure is not None
    assert found.pressure.retractions == 3
    assert reconciled(requests, log=log).disagreements[0] == (
        "1 answer says more cached tokens than possible; the server tells of 3 retractions, after which a prompt is"
        " counted again"
    )


def test_fault_70_above_the_theoretical_maximum() -> None:
    """96 % where the prompts allow 85 %: said as such, whatever the requests say one by one."""
    prompts = [prompt_ids(0, i, shared=98, question=2) for i in range(8)]
    requests = [make_request(i, send_s=float(i), prompt_tokens=100, cached=96) for i in range(8)]
    found = reconciled(requests, prompts=prompts)
    assert (
        "client usage says 96.0 % of prompt tokens (768 of 800) were cached, above the theoretical maximum of 85.8 % of"
        " prompt tokens (686 of 800)"
    ) in found.disagreements
    sums = account(requests, prompts=prompts)
    assert (sums.cached_tokens, sums.expected_high) == (768, 686)


def test_fault_71_a_rolling_rate_is_only_shown() -> None:
    """The counters' difference is this run's; the logged rate covers other requests and is compared with nothing."""
    found = reconciled(
        [make_request(0)],
        counters=ServerCounters("/metrics", prompt_tokens=32, cached_tokens=0),
        log=LogTotals("vllm", 0, 0, window_hit_rate=0.93),
    )
    assert found.disagreements == ()
    shown = {one.name: one for one in found.sources}
    assert shown["server counters"].cached_tokens == 0
    assert shown["server window"].cached_tokens is None
    assert "93.0 %" in shown["server window"].scope
    assert "not over this run" in shown["server window"].scope


def test_fault_73_a_cache_that_forgets_answers() -> None:
    """Turn 2 hit the 100 tokens of the old prompt and not the 50 of its answer: both levels are told, and which was met."""
    first, answer = prompt_ids(0, 0, shared=0, question=100), tuple(range(50))
    requests = [
        make_request(0, prompt_tokens=100, output=50, output_ids=answer, conversation=0),
        make_request(1, send_s=9.0, prompt_tokens=160, cached=100, conversation=0, turn=1),
    ]
    turn = account(requests, prompts=[first, (*first, *answer, *range(900, 910))]).turns[1]
    assert (turn.expected_high, turn.cached_prompt_only, turn.met) == (149, 100, "prompt only")


def test_fault_79_more_cached_than_prompt_by_rounding() -> None:
    """48 cached of a 40-token prompt is excluded and counted."""
    found = account([make_request(0, prompt_tokens=40, cached=48), make_request(1, send_s=1.0, cached=0)])
    assert (found.impossible, found.cached_tokens) == (1, 0)


def test_fault_80_counting_stops_at_the_first_absent_block() -> None:
    """Blocks 2 and 3 are there behind another block 1: nothing can be reused."""
    blocks = [tuple(range(16 * i, 16 * i + 16)) for i in range(5)]
    prompts = [(*blocks[0], *blocks[1], *blocks[2]), (*blocks[4], *blocks[1], *blocks[2])]
    requests = [make_request(i, send_s=float(i), prompt_tokens=48, cached=0) for i in range(2)]
    found = account(requests, prompts=prompts, args={"page_size": 16})
    assert (found.expected_high, found.sharable) == (0, 0)


def test_fault_82_tiers_stand_side_by_side() -> None:
    """The radix cache says 30, a layer behind it 24: two sources, never 54."""
    counters = ServerCounters("/metrics", cached_by_tier={"device": 30, "external": 24})
    found = reconciled([make_request(0)], counters=counters)
    shown = {one.name: one.cached_tokens for one in found.sources}
    assert shown["server counters, device"] == 30
    assert shown["server counters, external"] == 24
    assert shown["server counters"] is None
    assert 54 not in shown.values()


def test_fault_119_an_expectation_beyond_the_pool_is_an_upper_bound() -> None:
    """Prompts of 200 distinct tokens in a pool of 64: the expectation says that it promises nothing."""
    asked = [Asked(i, tuple(range(50 * (i % 4), 50 * (i % 4) + 50)), 1, 8 * i) for i in range(8)]
    small = summarise(play(asked, pool=64))
    assert small.cache.upper_bound_only
    assert small.cache.shortfall is not None
    assert small.cache.shortfall.eviction > 0
    assert small.reconciliation is not None
    assert "an upper bound only" in small.reconciliation.sources[-1].scope
    assert not summarise(play(asked, pool=4096)).cache.upper_bound_only
