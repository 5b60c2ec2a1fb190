"""The prefix tree says of any two sequences exactly what a naive comparison says."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from itertools import takewhile
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.capture.model import PromptTree
from radixbench.capture.prompt_tree import build_prompt_tree, common_prefix, depth, depths

Tokens = tuple[int, ...]

# Few ids and a prefix pool, so that sharing, nesting and equal sequences are common.
tokens = st.lists(st.sampled_from([0, 1, 255, 256, 2**31 - 1]), max_size=6).map(tuple)
prompts = st.lists(st.one_of(st.none(), tokens), max_size=8)


def naive_common(a: Tokens, b: Tokens) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def ends(tree: PromptTree, asked: list[Tokens | None], answered: list[Tokens | None]) -> dict[int, Tokens]:
    """Every node that ends a known sequence, with that sequence."""
    found: dict[int, Tokens] = {}
    for index, (prompt, output) in enumerate(zip(asked, answered, strict=True)):
        node, whole = tree.prompts[index], tree.sequences[index]
        if node is not None and prompt is not None:
            assert found.setdefault(node, prompt) == prompt
        if whole is not None and prompt is not None and output is not None:
            assert found.setdefault(whole, prompt + output) == prompt + output
    return found


@given(asked=prompts, data=st.data())
def test_tree_agrees_with_naive_comparison(asked: list[Tokens | None], data: st.DataObject) -> None:
    """Depths, common prefixes and hashes are those of the sequences, for prompts and answers alike."""
    size = len(asked)
    answered = data.draw(st.lists(st.one_of(st.none(), tokens), min_size=size, max_size=size))
    tree = build_prompt_tree(asked, answered)
    found = ends(tree, asked, answered)
    for node, sequence in found.items():
        assert depth(tree, node) == depths(tree)[node] == len(sequence)
        own = np.asarray(sequence[len(sequence) - tree.nodes[node].len :], dtype="<i4").tobytes()
        assert tree.nodes[node].sha256 == hashlib.sha256(own).hexdigest()
        for other, other_sequence in found.items():
            assert common_prefix(tree, node, other) == naive_common(sequence, other_sequence)


@given(asked=prompts, seed=st.integers(0, 3))
def test_order_of_requests_does_not_matter(asked: list[Tokens | None], seed: int) -> None:
    """Shuffled requests give the same nodes, and each request the same place."""
    order = list(range(len(asked)))
    random.Random(seed).shuffle(order)
    straight = build_prompt_tree(asked, asked)
    shuffled = build_prompt_tree([asked[i] for i in order], [asked[i] for i in order])
    assert straight.nodes == shuffled.nodes
    assert tuple(straight.prompts[i] for i in order) == shuffled.prompts
    assert tuple(straight.sequences[i] for i in order) == shuffled.sequences


@given(asked=prompts)
def test_tree_is_compressed(asked: list[Tokens | None]) -> None:
    """Every node holds tokens and either ends a sequence or is where sequences part; parents come first."""
    tree = build_prompt_tree(asked, [None] * len(asked))
    children = [0] * len(tree.nodes)
    for index, node in enumerate(tree.nodes):
        assert node.len > 0
        if node.parent is not None:
            assert node.parent < index
            children[node.parent] += 1
    ending = {node for node in tree.prompts if node is not None}
    assert all(children[index] >= 2 for index in range(len(tree.nodes)) if index not in ending)


def test_groups_share_one_node_each() -> None:
    """Four groups of sixteen prompts make four shared nodes and a node for each question."""
    rng = random.Random(7)
    prefixes = [tuple(rng.choices(range(8192), k=512)) for _ in range(4)]
    asked = [(*prefix, first, *rng.choices(range(8192), k=31)) for prefix in prefixes for first in range(16)]
    tree = build_prompt_tree(asked, [None] * 64)
    shared = [node for node in tree.nodes if node.parent is None]
    assert [node.len for node in shared] == [512] * 4
    assert len(tree.nodes) == 4 + 64


def test_unknown_stays_unknown() -> None:
    """A prompt that isn't known has no node, an answer that isn't known no sequence."""
    tree = build_prompt_tree([None, (1, 2), (1, 2, 3)], [(5,), None, ()])
    assert tree.prompts == (None, 0, 1)
    assert tree.sequences == (None, None, 1)


def test_numpy_arrays_are_sequences_too() -> None:
    """Token ids may come as arrays and give the tree that tuples give."""
    asked = [(1, 2, 3), (1, 2, 4)]
    arrays = [np.asarray(prompt) for prompt in asked]
    assert build_prompt_tree(arrays, [None, None]) == build_prompt_tree(asked, [None, None])


class Lazy:
    """A prompt that makes its ids when they are read, and counts how often that happens."""

    def __init__(self, ids: Tokens) -> None:
        self.ids = ids
        self.read = 0

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        self.read += 1
        return iter(self.ids)


def test_prompts_made_on_the_way_are_read_once() -> None:
    """A length and an iterator are enough, and the tree asks for the ids a single time."""
    asked = [(1, 2, 3), (1, 2, 4), (1, 2)]
    lazy = [Lazy(prompt) for prompt in asked]
    nothing = [None] * 3
    assert build_prompt_tree(cast("list[Tokens]", lazy), nothing) == build_prompt_tree(asked, nothing)
    assert [prompt.read for prompt in lazy] == [1, 1, 1]


@given(asked=prompts, primed=st.lists(tokens, max_size=4))
def test_what_is_held_ends_at_nodes_of_its_own(asked: list[Tokens | None], primed: list[Tokens]) -> None:
    """Held sequences have nodes as prompts have, in order and each once; they change nobody's depth."""
    tree = build_prompt_tree(asked, [None] * len(asked), primed)
    found = {depth(tree, node) for node in tree.held}
    assert found == {len(ids) for ids in primed if ids}
    assert list(tree.held) == sorted(set(tree.held))
    for prompt, node in zip(asked, tree.prompts, strict=True):
        assert depth(tree, node) == len(prompt or ())
        for place in tree.held if node is not None else ():
            path = next(ids for ids in primed if ids and depth(tree, place) == len(ids))
            assert common_prefix(tree, node, place) <= len(path)


def test_answers_must_match_prompts_in_number() -> None:
    """A missing answer is an error of ours, not a shorter tree."""
    with pytest.raises(ValueError, match="2 prompts but 1 outputs"):
        build_prompt_tree([(1,), (2,)], [None])
