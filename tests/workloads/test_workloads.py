"""Shared-prefix and multi-turn traffic, and the prompts around it."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.build import build
from radixbench.workloads.conversation import Workload
from radixbench.workloads.multi_turn import multi_turn
from radixbench.workloads.shared_prefix import shared_prefix
from radixbench.workloads.tokens import RESERVE, TokenSource
from radixbench.workloads.warmup import probe, warmup


def tokens(cell: int = 0, families: int = 64, vocab: int = 8192) -> TokenSource:
    return TokenSource.of(vocab, excluded=(0, 1, 2), cell=cell, families=families)


def prefixed(shared: int, seed: int = 0, cell: int = 0, **sizes: int) -> Workload:
    wanted = {"groups": 4, "prompts_per_group": 16, "question_len": 32, "output_len": 16, **sizes}
    return shared_prefix(shared=shared, seed=seed, tokens=tokens(cell), **wanted)


def common(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def first_prompts(workload: Workload) -> list[tuple[int, tuple[int, ...]]]:
    return [(c.group, c.turns[0].user_ids) for c in workload.conversations]


@pytest.mark.parametrize("shared", [0, 1, 7, 1024])
def test_prompts_share_exactly_what_they_should(shared: int) -> None:
    """Within a group exactly the asked prefix, between groups nothing, not even one token."""
    prompts = first_prompts(prefixed(shared))
    for (group, ids), (other_group, other) in itertools.combinations(prompts, 2):
        assert common(ids, other) == (shared if group == other_group else 0)


def test_sizes_and_numbers_are_exact() -> None:
    """Groups x prompts requests of shared + question tokens, numbered in the order they start."""
    workload = prefixed(100, groups=3, prompts_per_group=5)
    assert workload.request_count == 15
    assert [c.index for c in workload.conversations] == list(range(15))
    assert [c.turns[0].prompt for c in workload.conversations] == list(range(15))
    assert {len(ids) for _, ids in first_prompts(workload)} == {132}
    assert Counter(c.group for c in workload.conversations) == {0: 5, 1: 5, 2: 5}
    assert {c.turns[0].output_len for c in workload.conversations} == {16}


def test_groups_are_shuffled_together() -> None:
    """The order of groups isn't the order they were made in, and differs between seeds."""
    orders = [[c.group for c in prefixed(64, seed=seed).conversations] for seed in range(3)]
    assert sorted(orders[0]) not in orders
    assert orders[0] != orders[1] != orders[2]


def test_a_seed_is_repeatable_and_seeds_differ() -> None:
    """The same seed gives the same digest, any other seed or cell another one."""
    digests = {prefixed(64, seed=seed, cell=cell).digest for seed in range(3) for cell in range(3)}
    assert len(digests) == 9
    assert prefixed(64, seed=1, cell=2).digest == prefixed(64, seed=1, cell=2).digest


def test_no_run_of_a_sweep_begins_like_another() -> None:
    """Faults 2, 4, 5, 8: over cells, seeds, warm-up and probes no first token comes twice by accident."""
    families: dict[int, tuple[object, ...]] = {}
    for cell, shared in enumerate((0, 128)):
        for seed in range(3):
            source = tokens(cell)
            groups = first_prompts(prefixed(shared, seed=seed, cell=cell))
            outside = warmup(count=16, prompt_len=40, output_len=4, seed=seed, tokens=source)
            starts = {(cell, seed, group if shared else ids): ids[0] for group, ids in groups}
            starts |= {(cell, seed, "w", c.index): c.turns[0].user_ids[0] for c in outside.conversations}
            starts[(cell, seed, "probe")] = probe(prompt_len=40, seed=seed, tokens=source)[0]
            for owner, first in starts.items():
                assert families.setdefault(first, owner) == owner
    assert len(families) == 3 * (64 + 17) + 3 * (4 + 17)


def test_no_duplicates_in_a_cold_set() -> None:
    """Fault 5: 1,000 prompts of a cold run are 1,000 different prompts."""
    source = tokens(families=1000)
    cold = shared_prefix(
        shared=0, groups=10, prompts_per_group=100, question_len=8, output_len=1, seed=0, tokens=source
    )
    assert len({ids[:1] for _, ids in first_prompts(cold)}) == 1000


@pytest.mark.parametrize("shared", [0, 50])
def test_multi_turn_scripts_only_what_users_say(shared: int) -> None:
    """Turn 1 holds the system prompt and a question, later turns a question each, numbered per conversation."""
    chat = multi_turn(
        shared=shared,
        turns=4,
        groups=2,
        prompts_per_group=3,
        question_len=10,
        output_len=5,
        seed=0,
        tokens=tokens(),
    )
    assert chat.request_count == 24
    for position, conversation in enumerate(chat.conversations):
        assert conversation.index == position
        assert [turn.prompt for turn in conversation.turns] == list(range(4 * position, 4 * position + 4))
        assert [len(turn.user_ids) for turn in conversation.turns] == [shared + 10, 10, 10, 10]
    for (group, ids), (other_group, other) in itertools.combinations(first_prompts(chat), 2):
        assert common(ids, other) == (shared if group == other_group else 0)


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
    source = tokens(cell, families=groups * each)
    workload = shared_prefix(
        shared=shared,
        groups=groups,
        prompts_per_group=each,
        question_len=question,
        output_len=1,
        seed=seed,
        tokens=source,
    )
    for (group, ids), (other_group, other) in itertools.combinations(first_prompts(workload), 2):
        assert common(ids, other) == (shared if group == other_group else 0)


def test_build_knows_its_workloads() -> None:
    """Both kinds by name; turns default to one; an unknown kind or turns without turns are refused."""
    sizes = {
        "shared": 8,
        "groups": 2,
        "prompts_per_group": 2,
        "question_len": 4,
        "output_len": 2,
        "seed": 0,
    }
    single = build("shared-prefix", turns=None, tokens=tokens(), **sizes)
    chat = build("multi-turn", turns=None, tokens=tokens(), **sizes)
    assert (single.kind, chat.kind) == ("shared-prefix", "multi-turn")
    assert single.conversations == chat.conversations
    assert build("multi-turn", turns=3, tokens=tokens(), **sizes).request_count == 12
    with pytest.raises(UsageError, match="choose shared-prefix or multi-turn"):
        build("shared_prefix", turns=None, tokens=tokens(), **sizes)
    with pytest.raises(UsageError, match="use multi-turn"):
        build("shared-prefix", turns=2, tokens=tokens(), **sizes)


@pytest.mark.parametrize(
    "sizes", [{"groups": 0}, {"prompts_per_group": 0}, {"question_len": 0}, {"output_len": 0}]
)
def test_empty_workloads_are_refused(sizes: dict[str, int]) -> None:
    """A size of 0 says which one it is."""
    with pytest.raises(UsageError, match="of 0 make no workload"):
        prefixed(10, **sizes)


def test_a_negative_shared_length_is_refused() -> None:
    """Sharing fewer than no tokens has no meaning."""
    with pytest.raises(UsageError, match="-1 tokens"):
        prefixed(-1)


def test_warm_up_keeps_within_its_reserve() -> None:
    """As many prompts as asked for with the lengths asked for; more than the reserve holds are refused."""
    warm = warmup(count=RESERVE - 1, prompt_len=12, output_len=3, seed=0, tokens=tokens())
    assert warm.request_count == RESERVE - 1
    assert {len(c.turns[0].user_ids) for c in warm.conversations} == {12}
    assert warmup(count=0, prompt_len=12, output_len=3, seed=0, tokens=tokens()).request_count == 0
    for count, length in ((RESERVE, 12), (1, 0)):
        with pytest.raises(UsageError):
            warmup(count=count, prompt_len=length, output_len=3, seed=0, tokens=tokens())
    with pytest.raises(UsageError):
        probe(prompt_len=0, seed=0, tokens=tokens())
