"""Cached tokens: unknown is not 0, and impossible is not counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import cache_account, cached_tokens, hit_rate, page_size
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from tests.builders import arm_run, make_request, make_run, prompt_ids


def requests(*cached: int | None) -> list[RequestRecord]:
    """Requests of 100 prompt tokens with these cached tokens, one after the other."""
    return [
        make_request(i, send_s=float(i), prompt_tokens=100, cached=value) for i, value in enumerate(cached)
    ]


def test_hit_rate_is_summed_over_the_run() -> None:
    """0, 50 and 100 cached of 100 each is one half."""
    answers = sort_out(make_run(requests(0, 50, 100)))
    assert hit_rate(answers).value == pytest.approx(0.5)
    assert cached_tokens(answers).value == 150.0
    assert cached_tokens(answers).n_values == 3


def test_missing_beside_hits_is_zero() -> None:
    """A server that leaves the field out where it is 0 still names its hits."""
    answers = sort_out(make_run(requests(None, 50, None, 50)))
    assert hit_rate(answers).value == pytest.approx(0.25)


def test_missing_everywhere_is_unknown() -> None:
    """No word about cached tokens is not a hit rate of 0."""
    for silent in (requests(None, None), requests(None, 0)):
        answers = sort_out(make_run(silent))
        assert isinstance(hit_rate(answers).value, Absent)
        assert isinstance(cached_tokens(answers).value, Absent)
        assert cache_account(answers).cached_tokens is None


def test_silence_of_a_server_that_omits_zeros_is_zero() -> None:
    """Where probes have shown that 0 is left out, counts without cached tokens are 0; no counts at all stay unknown."""
    run = make_run(requests(None, None))
    proved = replace(run, protocol=replace(run.protocol, omits_zero=True))
    assert hit_rate(sort_out(proved)).value == 0.0
    account = cache_account(sort_out(proved))
    assert (account.cached_tokens, account.unknown) == (0, 0)
    mute = [replace(one, prompt_tokens=None) for one in proved.requests]
    account = cache_account(sort_out(replace(proved, requests=tuple(mute))))
    assert (account.cached_tokens, account.unknown) == (None, 2)


def test_all_zero_is_measured() -> None:
    """A server that says 0 is believed."""
    answers = sort_out(make_run(requests(0, 0)))
    assert hit_rate(answers).value == 0.0
    assert cache_account(answers).cached_tokens == 0


def test_impossible_counts_are_left_out_and_counted() -> None:
    """More cached than prompt tokens, and a prompt of 0 tokens, stay out of the sums."""
    wrong = make_request(2, send_s=2.0, prompt_tokens=40, cached=48)
    empty = make_request(3, send_s=3.0, prompt_tokens=0, cached=0)
    answers = sort_out(make_run([*requests(0, 50), wrong, empty]))
    assert hit_rate(answers).value == pytest.approx(0.25)
    assert answers.excluded == {"impossible-counts": 2}
    assert len(answers.timed) == 4


def test_account_of_a_shared_prefix() -> None:
    """Eight prompts, one after the other, share 64 tokens: seven of them could and did reuse these."""
    account = cache_account(sort_out(arm_run(seed=0, mode="on", order=0, ttft_s=0.1, shared=64)))
    assert account.cached_tokens == account.expected_low == account.expected_high == 7 * 64
    assert account.prompt_tokens == 8 * 72
    assert account.turns == ()


def test_account_per_turn() -> None:
    """Turn 1 reuses turn 0's prompt and answer but the last token."""
    first = (*prompt_ids(0, 0, shared=0, question=20),)
    answer = (7, 8, 9, 10)
    second = (*first, *answer, *range(500, 510))
    records = [
        make_request(0, prompt_tokens=20, output_ids=answer, conversation=0),
        make_request(1, send_s=1.0, prompt_tokens=34, cached=23, conversation=0, turn=1),
    ]
    account = cache_account(sort_out(make_run(records, prompts=[first, second])))
    sums = [
        (one.turn, one.requests, one.prompt_tokens, one.cached_tokens, one.expected_low, one.expected_high)
        for one in account.turns
    ]
    assert sums == [(0, 1, 20, 0, 0, 0), (1, 1, 34, 23, 23, 23)]


def test_account_of_nothing() -> None:
    """A run without a countable request has no tokens to account for."""
    account = cache_account(sort_out(make_run([])))
    assert (account.prompt_tokens, account.cached_tokens, account.expected_high) == (None, None, 0)


def test_page_size_is_the_servers_word() -> None:
    """What isn't a positive number of tokens is no page size."""
    assert page_size(make_run([], args={"page_size": 64})) == 64
    for odd in (True, 0, "64", None):
        assert page_size(make_run([], args={"page_size": odd})) == 1
