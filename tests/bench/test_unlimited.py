"""Reuse counted before anything is played, against counting prefixes one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.bench.unlimited import Ask, reuse
from radixbench.workloads.conversation import Conversation, Message, Turn
from radixbench.workloads.replay import TraceRequest, replay
from radixbench.workloads.tokens import TokenSource

PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=9), min_size=1, max_size=8)


def talk(*prompts: list[int], output: int = 2) -> Conversation:
    """A conversation that says these things in turn."""
    turns = tuple(Turn(prompt=at, user_ids=tuple(ids), output_len=output) for at, ids in enumerate(prompts))
    return Conversation(index=0, group=0, turns=turns)


@given(prompts=PROMPTS, page=st.integers(1, 4))
def test_single_turns_find_the_longest_page_of_any_before(prompts: list[list[int]], page: int) -> None:
    """Cached is the longest common prefix with an earlier prompt, but not the last token, in whole pages."""
    found = reuse([talk(ids) for ids in prompts], (), page_size=page).asks
    for at, ids in enumerate(prompts):
        common = [
            n
            for before in prompts[:at]
            for n in range(len(ids))
            if before[:n] == ids[:n] and n <= len(before)
        ]
        best = max(common, default=0)
        assert found[at].prompt == len(ids)
        assert found[at].cached == best // page * page


def test_a_live_history_is_cached_but_for_the_answers_last_token() -> None:
    """Turn 2 finds prompt and answer of turn 1; what was generated last was never computed."""
    conversation = talk([1, 2, 3], [4, 5], [6], output=4)
    assert reuse([conversation], (), page_size=1).asks == (Ask(3, 0, 4), Ask(9, 6, 4), Ask(14, 12, 4))
    assert [ask.cached for ask in reuse([conversation], (), page_size=4).asks] == [0, 4, 12]


def test_states_differ_in_what_is_there_before() -> None:
    """Primed finds the prefixes at once, warm everything."""
    conversations = [talk([1, 2, 3, 4]), talk([1, 2, 3, 5])]
    for state, cached in (("cold", [0, 3]), ("primed", [3, 3]), ("warm", [3, 3])):
        found = reuse(conversations, [(1, 2, 3)], page_size=1, state=state)
        assert [ask.cached for ask in found.asks] == cached


def test_what_is_kept_is_counted_once() -> None:
    """Two prompts of four tokens that share three, and an answer's first token each."""
    assert reuse([talk([1, 2, 3, 4]), talk([1, 2, 3, 5])], (), page_size=1).kept == 3 + 2 * 2


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40)), min_size=1, max_size=8),
    page=st.sampled_from([1, 4, 16]),
)
def test_a_traces_blocks_stand_for_its_tokens(rows: list[tuple[int, int]], page: int) -> None:
    """Counted by blocks as by the tokens that are made of them."""
    block = 16
    requests = [
        TraceRequest(
            at_s=float(at),
            input_len=length,
            output_len=1,
            hash_ids=tuple(
                1000 * chain + 100 * place + (length if (place + 1) * block > length else 0)
                for place in range(-(-length // block))
            ),
        )
        for at, (chain, length) in enumerate(rows)
    ]
    tokens = TokenSource.of(8192, families=8)
    by_blocks = replay(requests, block_size=block, tokens=tokens, seed=0)
    made = tuple(
        replace(
            item, turns=tuple(replace(turn, whole_ids=tuple(turn.whole_ids or ())) for turn in item.turns)
        )
        for item in by_blocks.conversations
    )
    assert reuse(by_blocks.conversations, (), page_size=page).asks == reuse(made, (), page_size=page).asks


def test_messages_are_no_tokens() -> None:
    """What nobody rendered can't be counted, and isn't guessed."""
    turn = Turn(prompt=0, user_ids=(), output_len=1, messages=(Message("user", "hello"),))
    with pytest.raises(ValueError, match="have to be rendered"):
        reuse([Conversation(index=0, group=0, turns=(turn,))], (), page_size=1)
