"""Chats and prompts with a shared prefix: exactly what is shared, at any sizes."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.build import build
from radixbench.workloads.conversation import Workload
from tests.workloads.judge import common, first_arrivals, primed, prompts, reuse, sizes, source


def prefixed(seed: int = 0, cell: int = 0, **changes: object) -> Workload:
    wanted = sizes(groups=4, prompts_per_group=16, question_len=32, output_len=16, **changes)
    return build("shared-prefix", wanted, seed=seed, tokens=source("shared-prefix", wanted, cell))


def chat(seed: int = 0, **changes: object) -> Workload:
    wanted = sizes(**changes)
    return build("multi-turn", wanted, seed=seed, tokens=source("multi-turn", wanted))


def grouped(workload: Workload) -> list[tuple[int, tuple[int, ...]]]:
    asked = prompts(workload)
    return [(c.group, asked[c.turns[0].prompt]) for c in workload.conversations]


@pytest.mark.parametrize("shared", [0, 1, 7, 1024])
def test_prompts_share_exactly_what_they_should(shared: int) -> None:
    """Within a group exactly the asked prefix, between groups nothing, not even one token."""
    for (group, ids), (other_group, other) in itertools.combinations(grouped(prefixed(shared=shared)), 2):
        assert common(ids, other) == (shared if group == other_group else 0)


def test_prompts_are_pinned() -> None:
    """The ids of a seed are part of what a capture means: a refactoring may not change them."""
    assert prefixed(shared=64, seed=3, cell=1).digest == PINNED_PREFIX
    assert chat(shared=64, turns=3, seed=3).digest == PINNED_CHAT


PINNED_PREFIX = "9e18c13d241b39554febb9a962038602310fd51af647bfc2cc12f1f8d45aa5e9"
PINNED_CHAT = "29c7cfefd8116ba9008c78366f95a87d47fd533ad62503418fb036f5ff10b977"


@pytest.mark.parametrize(("shared", "page"), [(0, 1), (24, 1), (24, 16), (1024, 16)])
def test_an_unlimited_cache_finds_the_prefix_in_all_but_each_groups_first(shared: int, page: int) -> None:
    """Shared-prefix at P: 0 for a group's first prompt, P in whole pages for every other."""
    workload = prefixed(shared=shared)
    usable = shared // page * page
    assert reuse(workload, page) == [0 if first else usable for first in first_arrivals(workload)]
    assert primed(workload, page) == [usable] * 64


def test_sizes_and_numbers_are_exact() -> None:
    """Groups x prompts requests of shared + question tokens, numbered in the order they start."""
    workload = prefixed(shared=100)
    assert workload.request_count == 64
    assert [c.index for c in workload.conversations] == list(range(64))
    assert [c.turns[0].prompt for c in workload.conversations] == list(range(64))
    assert {len(ids) for _, ids in grouped(workload)} == {132}
    assert Counter(c.group for c in workload.conversations) == dict.fromkeys(range(4), 16)
    assert {c.turns[0].output_len for c in workload.conversations} == {16}


def test_groups_are_shuffled_together() -> None:
    """The order of groups isn't the order they were made in, and differs between seeds."""
    orders = [[c.group for c in prefixed(shared=64, seed=seed).conversations] for seed in range(3)]
    assert sorted(orders[0]) not in orders
    assert orders[0] != orders[1] != orders[2]


def test_a_seed_is_repeatable_and_seeds_differ() -> None:
    """The same seed gives the same digest, any other seed or cell another one."""
    digests = {prefixed(shared=64, seed=seed, cell=cell).digest for seed in range(3) for cell in range(3)}
    assert len(digests) == 9
    assert prefixed(shared=64, seed=1, cell=2).digest == prefixed(shared=64, seed=1, cell=2).digest


def test_by_zipfs_law_few_groups_have_most_prompts() -> None:
    """The total stays, every seed has the same counts, and the tree finds the prefix in all but the firsts."""
    workloads = [prefixed(shared=64, distribution="zipf", zipf_exponent=1.2, seed=seed) for seed in range(3)]
    for workload in workloads:
        counts = Counter(c.group for c in workload.conversations)
        assert counts == {0: 34, 1: 15, 2: 9, 3: 6}
        assert reuse(workload) == [0 if first else 64 for first in first_arrivals(workload)]
    assert len({workload.digest for workload in workloads}) == 3


def test_a_group_nobody_asks_isnt_primed() -> None:
    """A steep law leaves groups without prompts; priming sends only prefixes that are asked with."""
    workload = prefixed(shared=64, distribution="zipf", zipf_exponent=6.0)
    assert {c.group for c in workload.conversations} == {0, 1}
    assert len(workload.prefixes) == 2


@pytest.mark.parametrize("shared", [0, 50])
def test_only_what_users_say_is_scripted(shared: int) -> None:
    """Turn 1 holds the system prompt and a question, later turns a question each, numbered per conversation."""
    workload = chat(shared=shared, turns=4, groups=2, prompts_per_group=3)
    assert workload.request_count == 24
    for position, conversation in enumerate(workload.conversations):
        assert conversation.index == position
        assert [turn.prompt for turn in conversation.turns] == list(range(4 * position, 4 * position + 4))
        assert [len(turn.user_ids) for turn in conversation.turns] == [shared + 8, 8, 8, 8]
    for (group, ids), (other_group, other) in itertools.combinations(grouped(workload), 2):
        assert common(ids, other) == (shared if group == other_group else 0)


@pytest.mark.parametrize("history", ["live", "recorded"])
def test_a_later_turn_finds_the_turn_before(history: str) -> None:
    """Live history: prompt and answer but its last token. Recorded: the prompt, for the answer is another."""
    workload = chat(turns=3, history=history)
    found = reuse(workload)
    asked = prompts(workload)
    for first, conversation in zip(first_arrivals(workload), workload.conversations, strict=True):
        numbers = [turn.prompt for turn in conversation.turns]
        assert [len(asked[number]) for number in numbers] == [32, 45, 58]
        gained = 4 if history == "live" else 0
        assert [found[number] for number in numbers] == [0 if first else 24, 32 + gained, 45 + gained]


def test_recorded_answers_bring_whole_prompts_that_extend_one_another() -> None:
    """Each turn's prompt begins with the one before, and isn't copied for it."""
    for conversation in chat(turns=4, history="recorded").conversations:
        for turn, later in itertools.pairwise(conversation.turns):
            assert turn.user_ids == ()
            assert tuple(later.whole_ids or ())[: len(turn.whole_ids or ())] == tuple(turn.whole_ids or ())


def test_think_time_passes_before_later_turns_only() -> None:
    """The first turn is sent when it is its conversation's time."""
    for history in ("live", "recorded"):
        for conversation in chat(turns=3, think_time_s=1.5, history=history).conversations:
            assert [turn.delay_s for turn in conversation.turns] == [0.0, 1.5, 1.5]


def test_long_answers_to_short_questions_are_only_sizes() -> None:
    """The output-heavy kind: of a first prompt nothing can be found, so caching gains next to nothing."""
    workload = chat(shared=0, turns=1, question_len=4, output_len=500)
    assert reuse(workload) == [0] * 12


def test_text_cant_be_made_of_random_ids() -> None:
    """A made-up chat has no text to encode anew, and says what to use instead."""
    with pytest.raises(UsageError, match="history live or recorded"):
        chat(turns=2, history="retokenized")


@given(
    shared=st.integers(0, 12),
    groups=st.integers(1, 4),
    each=st.integers(1, 5),
    question=st.integers(1, 6),
    seed=st.integers(0, 5),
    cell=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_any_sizes_keep_the_sharing_exact(
    shared: int, groups: int, each: int, question: int, seed: int, cell: int
) -> None:
    """For every combination of sizes the common prefixes are those asked for."""
    wanted = sizes(shared=shared, groups=groups, prompts_per_group=each, question_len=question)
    workload = build("shared-prefix", wanted, seed=seed, tokens=source("shared-prefix", wanted, cell))
    for (group, ids), (other_group, other) in itertools.combinations(grouped(workload), 2):
        assert common(ids, other) == (shared if group == other_group else 0)
