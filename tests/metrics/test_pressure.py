"""Evidence of short room is gathered from whoever has it, and nobody's silence becomes a 0."""

from __future__ import annotations

from dataclasses import replace

from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import cache_account
from radixbench.metrics.pressure import pressure, working_set
from radixbench.records import LogTotals, ServerCounters
from tests.builders import make_request, make_run, prompt_ids
from tests.metrics.played import Asked, play


def test_nobody_says_anything() -> None:
    """Without steps, counters and log all but the working set is unknown."""
    room = pressure(make_run([make_request(0)]), 1)
    assert (room.pool_tokens, room.evicted_tokens, room.retractions, room.peak_usage) == (None,) * 4
    assert room.working_set == 36
    assert not room.exceeds_pool


def test_the_largest_number_stands() -> None:
    """Counters and log tell of the same events: they are not added up."""
    run = make_run(
        [make_request(0)],
        counters=ServerCounters("/metrics", preemptions=3, evicted_tokens=7),
        log=LogTotals("sglang", 1, 1, retractions=2, peak_token_usage=0.4, peak_state_usage=1.0),
        identity={"max_total_num_tokens": 20},
    )
    room = pressure(run, 1)
    assert (room.retractions, room.evicted_tokens, room.peak_usage) == (3, 7, 1.0)
    assert (room.pool_tokens, room.exceeds_pool) == (20, True)
    assert cache_account(sort_out(run)).upper_bound_only


def test_the_engines_steps_tell() -> None:
    """A pool of 64 slots and prompts of 200 distinct tokens: evictions are counted, the pool is known."""
    run = play([Asked(i, tuple(range(50 * i, 50 * i + 50)), 1, 8 * i) for i in range(4)], pool=64)
    room = pressure(run, 1)
    assert (room.pool_tokens, room.retractions) == (64, 0)
    assert room.evicted_tokens
    assert room.exceeds_pool


def test_working_set_counts_whole_pages_once() -> None:
    """Two prompts of 10 tokens that share 6, in pages of 4: one shared page and one of its own each."""
    prompts = [prompt_ids(0, i, shared=6, question=4) for i in range(2)]
    run = make_run([make_request(i, output_ids=None) for i in range(2)], prompts=prompts)
    assert working_set(run.prompts, 1) == 14
    assert working_set(run.prompts, 4) == 3 * 4
    assert working_set(replace(run.prompts, nodes=()), 4) == 0
