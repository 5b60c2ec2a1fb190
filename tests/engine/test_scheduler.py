"""Who runs when: order, limits, reservations, and who gives way."""

from __future__ import annotations

import pytest

from radixbench.engine.batch import SamplingParams
from radixbench.engine.cache import NoCache
from radixbench.engine.config import EngineConfig
from radixbench.engine.new_token_ratio import NewTokenRatio
from radixbench.engine.policy import longest_prefix_match, policy_of
from radixbench.engine.request import Req
from radixbench.engine.retraction import retraction_order
from radixbench.engine.slots import SlotPool
from tests.engine.drive import Drive


def make_req(key: int, prompt: int, output: int = 0, max_tokens: int = 100) -> Req:
    """A request that has generated ``output`` tokens."""
    req = Req(key, str(key), tuple(range(prompt)), SamplingParams(max_tokens=max_tokens))
    for token in range(output):
        req.append(token, 0)
    return req


def prefill_order(drive: Drive) -> list[int]:
    """Request keys in the order of their prefill."""
    prefills = [
        entries
        for entries, record in zip(drive.runner.entries, drive.records, strict=True)
        if record.phase == "prefill"
    ]
    return [key for entries in prefills for key, _, _ in entries]


def primed(policy: str, **config: object) -> Drive:
    """An engine that has cached the ids 0 … 39 and takes one request at a time."""
    drive = Drive(pool=4096, schedule_policy=policy, max_running_requests=1, **config)
    drive.ask("prime", range(40), max_tokens=1)
    return drive


@pytest.mark.parametrize(("policy", "order"), [("fcfs", [0, 1, 2, 3]), ("lpm", [0, 3, 1, 2])])
def test_lpm_takes_the_longest_cached_prefix_first(policy: str, order: list[int]) -> None:
    """fcfs is by arrival; lpm by cached length, and by arrival among equals."""
    drive = primed(policy)
    drive.add("ten", [*range(10), 900], 1)
    drive.add("ten more", [*range(10), 901], 1)
    drive.add("thirty", [*range(30), 902], 1)
    drive.run()
    assert prefill_order(drive) == order


@pytest.mark.parametrize(("waiting", "first"), [(128, 128), (129, 1)])
def test_lpm_gives_way_to_fcfs_above_128_waiting(waiting: int, first: int) -> None:
    """With more than ``lpm_queue_limit`` waiting, arrival decides."""
    drive = primed("lpm")
    for index in range(waiting - 1):
        drive.add(str(index), [500 + index], 1)
    drive.add("cached", [*range(40), 1], 1)
    drive.step()
    assert drive.runner.entries[-1][0][0] == (waiting if first != 1 else 1)


def test_lpm_without_a_cache_is_fcfs() -> None:
    """Where nothing matches, all are equal and arrival decides."""
    config = EngineConfig(max_total_tokens=64, context_len=64, schedule_policy="lpm")
    requests = [make_req(key, 10 - key) for key in range(5)]
    assert policy_of(config, NoCache(SlotPool(64)))(requests) == requests
    assert longest_prefix_match(NoCache(SlotPool(64)), 2)(requests) == requests


def test_prefill_goes_before_decode() -> None:
    """A new request is prefilled while others wait to decode; then all decode together."""
    drive = Drive()
    drive.add("a", range(10), 5)
    drive.step()
    drive.add("b", range(50, 60), 5)
    drive.step()
    drive.step()
    assert [(r.phase, r.running_req, r.new_tokens) for r in drive.records] == [
        ("prefill", 0, 10),
        ("prefill", 1, 10),
        ("decode", 2, 2),
    ]


def test_no_more_than_max_running_requests() -> None:
    """The limit holds for decoding and newly admitted requests together."""
    drive = Drive(max_running_requests=3)
    for index in range(7):
        drive.add(str(index), [index * 10, 1], 4)
    drive.run()
    assert max(r.running_req for r in drive.records) == 3
    assert drive.records[0].queue_req == 4
    assert len(drive.outputs) == 7


def test_a_prefill_step_stays_below_max_prefill_tokens() -> None:
    """Whole prompts join while input tokens are left; the first may exceed them."""
    drive = Drive(max_prefill_tokens=25, chunked_prefill_size=None)
    for index, length in enumerate((30, 10, 10, 10)):
        drive.add(str(index), range(index * 50, index * 50 + length), 1)
    drive.run()
    assert [r.new_tokens for r in drive.records] == [30, 20, 10]


def test_admission_reserves_expected_output() -> None:
    """Until a first request ends, a second waits for the output both may still produce."""
    drive = Drive(pool=100)
    drive.add("a", range(20), 50, ignore_eos=True)
    drive.add("b", range(50, 70), 20)
    drive.step()
    assert (drive.records[0].new_seq, drive.records[0].queue_req) == (1, 1)
    drive.run()
    assert drive.engine.stats().retracted_total == 0


def test_admission_is_head_of_line() -> None:
    """A small request doesn't overtake a large one that must wait for slots."""
    drive = Drive(pool=100)
    drive.add("running", range(30), 30, ignore_eos=True)
    drive.add("large", range(50, 100), 30)
    drive.add("small", [7, 8], 1)
    drive.run()
    assert prefill_order(drive) == [0, 1, 2]


def test_a_matched_prefix_is_locked_before_it_is_counted_on() -> None:
    """Cached tokens a request will stand on can't be evicted to make space for it."""
    drive = Drive(pool=64)
    drive.ask("a", range(30), 1)
    drive.add("b", range(100, 120), 10, ignore_eos=True)
    drive.step()
    drive.add("c", [*range(30), 1, 2], 5)
    drive.run()
    assert drive.outputs["c"] == Drive(pool=64).ask("c", [*range(30), 1, 2], 5)


def test_decoding_out_of_slots_retracts_and_recovers() -> None:
    """Too many admitted: some go back to the queue, come back later, and lose no token."""
    drive = Drive(pool=100, schedule_conservativeness=0.01)
    for index in range(4):
        drive.add(str(index), range(index * 100, index * 100 + 10), 60)
        drive.step()
    drive.run()
    assert sum(r.retracted_req for r in drive.records) == drive.engine.stats().retracted_total > 0
    assert {rid: record.output_len for rid, record in drive.finished.items()} == dict.fromkeys("0123", 60)
    assert max(record.attempts for record in drive.finished.values()) > 1
    for index in range(4):
        alone = Drive(pool=100).ask("x", range(index * 100, index * 100 + 10), 60)
        assert drive.outputs[str(index)] == alone


def test_a_retraction_sets_the_ratio_anew() -> None:
    """What the requests that stay have used, and 20 steps more, is what is reserved from then on."""
    drive = Drive(pool=100, schedule_conservativeness=0.01)
    for index in range(4):
        drive.add(str(index), range(index * 100, index * 100 + 10), 60)
        drive.step()
    while not drive.records[-1].retracted_req:
        used = {rid: len(output) for rid, output in drive.outputs.items()}
        drive.step()
    kept = [str(key) for key, _, _ in drive.runner.entries[-1]]
    outputs = sum(used[rid] for rid in kept)
    expected = (outputs + 20 * len(kept)) / (60 * len(kept) + 1)
    assert drive.engine.stats().new_token_ratio == pytest.approx(expected)


def test_a_retracted_request_counts_its_cached_tokens_once() -> None:
    """Cached tokens of a request are those of its first admission; steps count what they reuse."""
    drive = Drive(pool=100, schedule_conservativeness=0.01)
    for index in range(4):
        drive.add(str(index), range(index * 100, index * 100 + 10), 60)
        drive.step()
    drive.run()
    assert drive.cached == dict.fromkeys("0123", 0)
    assert drive.engine.stats().cached_tokens_total == 0
    assert drive.engine.stats().prompt_tokens_total == 40


def test_retraction_takes_fewest_outputs_then_longest_input() -> None:
    """Least work lost first; among equals the longest prompt."""
    requests = [make_req(0, 10, 5), make_req(1, 10, 2), make_req(2, 30, 2), make_req(3, 5, 9)]
    assert [req.key for req in retraction_order(requests)] == [2, 1, 0, 3]


def test_a_retracted_request_keeps_its_place_by_arrival() -> None:
    """What was retracted is ahead of what arrived later."""
    drive = Drive(pool=100, schedule_conservativeness=0.01)
    for index in range(4):
        drive.add(str(index), range(index * 100, index * 100 + 10), 60)
        drive.step()
    while not drive.records[-1].retracted_req:
        drive.step()
    drive.add("late", [990, 991], 2)
    drive.run()
    assert prefill_order(drive)[-1] == 4


def test_a_prompt_in_chunks_is_finished_before_decoding_goes_on() -> None:
    """Once begun, a long prompt takes all steps until it is computed."""
    drive = Drive(chunked_prefill_size=16)
    drive.add("decoding", range(4), 10)
    drive.step()
    drive.add("long", range(100, 150), 2)
    drive.run()
    assert [record.phase for record in drive.records[:6]] == ["prefill"] * 5 + ["decode"]


def test_new_token_ratio_decays_and_recovers() -> None:
    """From 0.7 to 14 % of it in 600 good steps; learned anew from a retraction; reset when idle."""
    ratio = NewTokenRatio(1.0)
    for _ in range(300):
        ratio.decay()
    assert ratio.value == pytest.approx((0.7 + 0.7 * 0.14) / 2)
    for _ in range(400):
        ratio.decay()
    assert ratio.value == pytest.approx(0.7 * 0.14)
    ratio.relearn([make_req(0, 5, 30), make_req(1, 5, 10)])
    assert ratio.value == pytest.approx((40 + 2 * 20) / 201)
    ratio.reset()
    assert ratio.value == pytest.approx(0.7)
    assert NewTokenRatio(2.0).value == 1.0


def test_an_idle_engine_forgets_the_ratio_it_learned() -> None:
    """The ratio decays while decoding and starts afresh after the last request."""
    drive = Drive()
    drive.add("a", [1, 2], 10)
    for _ in range(5):
        drive.step()
    assert drive.engine.stats().new_token_ratio < 0.7
    drive.run()
    assert drive.engine.stats().new_token_ratio == 0.7


def test_eviction_is_counted_in_the_step_that_needed_it() -> None:
    """Tokens dropped from the tree appear in that step's record and in the total."""
    drive = Drive(pool=64)
    drive.ask("a", range(40), 1)
    drive.ask("b", range(100, 150), 1)
    assert [r.evicted_tokens for r in drive.records] == [0, 26]
    assert drive.engine.stats().evicted_tokens_total == 26
