"""Token sequences against the tree: what is found, what is evicted, what doesn't fit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.simulation.hits import Ask, CacheSize, token_hits
from tests.engine.trie import PrefixDictionary


def ask(ids: Sequence[int], prompt_len: int | None = None) -> Ask:
    return Ask(np.asarray(ids, dtype=np.int32).tobytes(), len(ids) if prompt_len is None else prompt_len)


def test_a_prompt_finds_what_was_left_before_it() -> None:
    """Prompt and answer, in whole pages, never the last token."""
    rows = token_hits(
        [ask(range(10), 6), ask(range(10)), ask([0, 1, 2, 3, 99])], [CacheSize(1), CacheSize(4)]
    )
    assert [row.cached_tokens for row in rows] == [9 + 4, 8 + 4]
    assert [(row.requests, row.prompt_tokens, row.computed_tokens) for row in rows] == [
        (3, 21, 8),
        (3, 21, 9),
    ]
    assert rows[0].hit_rate == pytest.approx(13 / 21)
    assert rows[0].reuse_rate == pytest.approx(13 / 18)


def test_the_oldest_goes_first() -> None:
    """Room for two of three prompts: the one used last stays."""
    one, two, three = ([number] * 4 for number in (1, 2, 3))
    (row,) = token_hits([ask(ids) for ids in (one, two, one, three, one, two)], [CacheSize(1, 8)])
    assert row.cached_tokens == 3 + 3
    assert row.evicted_tokens > 0


def test_a_request_longer_than_the_cache_is_left_out() -> None:
    """It is counted and in no sum, and it evicts nothing."""
    (row,) = token_hits([ask([1] * 4), ask([2] * 9), ask([1] * 4)], [CacheSize(1, 8)])
    assert (row.requests, row.skipped_requests, row.prompt_tokens, row.cached_tokens) == (2, 1, 8, 3)


PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=10), max_size=10)


@given(PROMPTS, st.integers(1, 4))
def test_without_an_end_it_is_the_longest_prefix_ever_left(prompts: list[list[int]], page: int) -> None:
    """Compared with every earlier sequence, one by one."""
    expected = 0
    for place, prompt in enumerate(prompts):
        shared = 0
        for earlier in prompts[:place]:
            end = len(earlier) // page * page
            at = next(
                (at for at, (a, b) in enumerate(zip(earlier[:end], prompt, strict=False)) if a != b),
                min(end, len(prompt)),
            )
            shared = max(shared, min(at, len(prompt) - 1) // page * page)
        expected += shared
    (row,) = token_hits([ask(prompt) for prompt in prompts], [CacheSize(page)])
    assert row.cached_tokens == expected


@given(PROMPTS, st.integers(1, 3), st.integers(12, 24))
def test_with_a_capacity_it_is_the_plainest_lru(prompts: list[list[int]], page: int, capacity: int) -> None:
    """A dictionary of page prefixes, evicting its oldest last pages, finds the same."""
    plain = PrefixDictionary(page)
    room = capacity // page * page
    cached = 0
    slots = itertools.count()
    for prompt in prompts:
        held = (len(prompt) - 1) // page * page
        found = len(plain.match("", prompt[:held]))
        plain.lock("", prompt[:found], 1)
        needed = -(-len(prompt) // page) * page - found
        lacking = plain.total(locked=True) + plain.total(locked=False) + needed - room
        if lacking > 0:
            plain.evict(lacking)
        plain.insert("", prompt, list(itertools.islice(slots, len(prompt))))
        plain.lock("", prompt[:found], -1)
        cached += found
    (row,) = token_hits([ask(prompt) for prompt in prompts], [CacheSize(page, capacity)])
    assert row.cached_tokens == cached


def test_sizes_that_cannot_be_are_refused() -> None:
    """One line each."""
    with pytest.raises(UsageError, match="a page has at least 1"):
        CacheSize(0)
    with pytest.raises(UsageError, match="a capacity of 8 tokens is less than one page of 16"):
        CacheSize(16, 8)
