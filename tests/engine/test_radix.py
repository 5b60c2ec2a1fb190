"""The radix tree against a dictionary of prefixes, and the cases SGLang's own tests name."""

from __future__ import annotations

import gc
import itertools
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from radixbench.engine.audit import Lock, check_tree
from radixbench.engine.node import Node
from radixbench.engine.radix import Inserted, RadixTree
from tests.engine.trie import PrefixDictionary


def as_bytes(ids: object) -> bytes:
    """Ids or slots as the tree takes them."""
    return np.asarray(ids, dtype=np.int32).tobytes()


def put(tree: RadixTree, ids: list[int], namespace: bytes = b"", first_slot: int = 0) -> Inserted:
    """Insert with slots counted from ``first_slot``."""
    return tree.insert(as_bytes(ids), as_bytes(range(first_slot, first_slot + len(ids))), namespace)


def found(tree: RadixTree, ids: list[int], namespace: bytes = b"") -> list[int]:
    """Slots of the longest match."""
    return tree.slots_of(tree.match_prefix(as_bytes(ids), namespace).node).tolist()


def size(tree: RadixTree) -> int:
    """Tokens in the tree."""
    return tree.evictable + tree.protected


def test_reset_leaves_nothing() -> None:
    """After a reset nothing is cached, evictable or protected."""
    tree = RadixTree()
    tree.lock(put(tree, [1, 2, 3]).node)
    tree.reset()
    assert (size(tree), tree.evictable, tree.protected, found(tree, [1, 2, 3])) == (0, 0, 0, [])


def test_insert_tells_what_was_there() -> None:
    """A first insert finds nothing, an identical second one everything, and adds nothing."""
    tree = RadixTree()
    assert put(tree, [1, 2, 3]).existing == 0
    assert (size(tree), tree.evictable) == (3, 3)
    assert put(tree, [1, 2, 3], first_slot=10).existing == 3
    assert size(tree) == 3
    assert found(tree, [1, 2, 3]) == [0, 1, 2]


def test_match_returns_the_longest_prefix() -> None:
    """A match yields the slots of whatever leading part is cached."""
    tree = RadixTree()
    put(tree, [1, 2, 3])
    assert found(tree, [1, 2, 3]) == [0, 1, 2]
    assert found(tree, [1, 2]) == [0, 1]
    assert found(tree, [1, 2, 9]) == [0, 1]
    assert found(tree, [4, 5]) == []
    assert found(tree, []) == []


def test_limit_caps_a_match() -> None:
    """A limit shortens a match, floored to whole pages."""
    tree = RadixTree(page_size=4)
    put(tree, list(range(12)))
    assert [tree.match_prefix(as_bytes(range(12)), limit=limit).length for limit in (12, 11, 8, 3)] == [
        12,
        8,
        8,
        0,
    ]


@pytest.mark.parametrize("page_size", [1, 2])
def test_namespaces_are_disjoint(page_size: int) -> None:
    """Equal tokens in different namespaces are separate entries; an unknown namespace has none."""
    tree = RadixTree(page_size)
    for first, namespace in ((0, b"key1"), (10, b"key2"), (20, b"")):
        assert put(tree, [1, 2, 3, 4], namespace, first).existing == 0
    assert size(tree) == 12
    assert found(tree, [1, 2, 3, 4], b"key1") == [0, 1, 2, 3]
    assert found(tree, [1, 2, 3, 4], b"key2") == [10, 11, 12, 13]
    assert found(tree, [1, 2, 3, 4]) == [20, 21, 22, 23]
    assert found(tree, [1, 2, 3, 4], b"key3") == []
    check_tree(tree, [])


def test_lock_moves_tokens_to_protected() -> None:
    """A lock protects the path, an unlock gives it back."""
    tree = RadixTree()
    node = put(tree, [1, 2, 3]).node
    tree.lock(node)
    assert (tree.evictable, tree.protected) == (0, 3)
    assert len(tree.evict(3)) == 0
    tree.unlock(node)
    assert (tree.evictable, tree.protected) == (3, 0)


def test_evict_frees_what_is_asked_oldest_first() -> None:
    """Of two leaves the one unused for longer goes, and only as much as is needed."""
    tree = RadixTree()
    put(tree, [1, 2])
    put(tree, [3, 4], first_slot=2)
    found(tree, [1, 2])
    assert sorted(tree.evict(2).tolist()) == [2, 3]
    assert tree.evict(1).tolist() == [1]
    assert found(tree, [1, 2]) == [0]
    assert tree.evict(3).tolist() == [0]


def test_evict_climbs_to_parents() -> None:
    """A parent whose last child went is a leaf, and next in line."""
    tree = RadixTree()
    put(tree, [1, 2, 3])
    put(tree, [1, 2, 4], first_slot=10)
    assert sorted(tree.evict(4).tolist()) == [0, 1, 2, 12]
    check_tree(tree, [])


def test_a_parent_is_as_young_as_its_last_child_was() -> None:
    """A use of a child is a use of its parent, also after the child is gone."""
    tree = RadixTree()
    put(tree, [1])
    other = put(tree, [7], first_slot=70).node
    put(tree, [1, 2], first_slot=0)
    put(tree, [1, 3], first_slot=10)
    tree.lock(other)
    assert sorted(tree.evict(2).tolist()) == [1, 11]
    tree.unlock(other)
    assert tree.evict(1).tolist() == [70]
    assert tree.evict(1).tolist() == [0]


def test_a_locked_leaf_passed_over_keeps_its_age() -> None:
    """Unlocking is no use: a leaf that eviction skipped goes before younger ones."""
    tree = RadixTree()
    nodes = [put(tree, [i], first_slot=i).node for i in range(4)]
    for node in nodes[:2]:
        tree.lock(node)
    assert tree.evict(1).tolist() == [2]
    for node in reversed(nodes[:2]):
        tree.unlock(node)
    put(tree, [9], first_slot=9)
    assert [tree.evict(1).tolist() for _ in range(4)] == [[0], [1], [3], [9]]


@pytest.mark.parametrize(("page_size", "length"), [(1, 5), (2, 5), (4, 6)])
def test_matches_are_whole_pages(page_size: int, length: int) -> None:
    """A match is a multiple of the page size, and the rest of a key is not kept."""
    tree = RadixTree(page_size)
    put(tree, list(range(length)))
    assert len(found(tree, list(range(length)))) == length - length % page_size


@pytest.mark.parametrize("page_size", [1, 2])
def test_splits_keep_all_tokens(page_size: int) -> None:
    """Diverging keys and partial matches split edges without losing or adding a token."""
    tree = RadixTree(page_size)
    put(tree, [1, 2, 3, 4, 5, 6, 7, 8])
    put(tree, [1, 2, 9, 10], first_slot=20)
    assert size(tree) == 10
    assert len(found(tree, [1, 2, 3, 4, 999, 1000])) == 4
    assert len(found(tree, [1, 2, 3, 4, 5, 6, 777, 888])) == 6
    assert size(tree) == 10
    check_tree(tree, [])


@given(page_size=st.sampled_from([1, 2, 4, 16]), agree=st.integers(0, 900), length=st.integers(1, 1000))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_divergence_is_found_at_any_distance(page_size: int, agree: int, length: int) -> None:
    """Strides, halving and the vectorised comparison all find the first difference."""
    tree = RadixTree(page_size)
    ids = list(range(length))
    put(tree, ids)
    agree = min(agree, length)
    assert len(found(tree, [*ids[:agree], -1, *ids[agree + 1 :], -2])) == agree - agree % page_size


def test_a_leaf_grows_in_place_for_its_only_lock() -> None:
    """An insert from the one node the caller locked makes no chain; a second lock forces a child."""
    tree = RadixTree()
    leaf = put(tree, [1, 2]).node
    tree.lock(leaf)
    assert tree.insert(as_bytes([1, 2, 3]), as_bytes([2]), start=leaf).node is leaf
    tree.lock(leaf)
    child = tree.insert(as_bytes([1, 2, 3, 4]), as_bytes([3]), start=leaf).node
    assert child is not leaf
    assert leaf.length == 3
    assert found(tree, [1, 2, 3, 4]) == [0, 1, 2, 3]
    check_tree(tree, [Lock("a", leaf, 3), Lock("b", leaf, 3)])


def test_a_leaf_locked_by_another_does_not_grow() -> None:
    """An insert that doesn't start at its own lock leaves a locked leaf as its holder knows it."""
    tree = RadixTree()
    leaf = put(tree, [1, 2]).node
    tree.lock(leaf)
    put(tree, [1, 2, 3])
    assert leaf.length == 2
    check_tree(tree, [Lock("a", leaf, 2)])


def test_unlocking_twice_is_caught() -> None:
    """A lock given back twice is our own fault and says so."""
    tree = RadixTree()
    node = put(tree, [1]).node
    tree.lock(node)
    tree.unlock(node)
    with pytest.raises(AssertionError, match="isn't locked"):
        tree.unlock(node)


def test_page_size_must_be_positive() -> None:
    """A page of no tokens is refused."""
    with pytest.raises(ValueError, match="at least 1"):
        RadixTree(0)


def test_memory_stays_flat_over_many_cycles() -> None:
    """Inserting, touching and evicting ten thousand times leaves nothing behind."""
    tree = RadixTree()

    def cycle(number: int) -> None:
        for branch in range(4):
            put(tree, [number, 1, 2, 3, 100 + branch, 5])
        node = tree.match_prefix(as_bytes([number, 1, 2])).node
        tree.lock(node)
        tree.evict(100)
        tree.unlock(node)
        tree.evict(100)

    tracemalloc.start()
    for number in range(200):
        cycle(number)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(200, 2200):
        cycle(number)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert size(tree) == 0
    assert len(list(tree.nodes())) == 0
    assert grown < 20_000


class TreeMachine(RuleBasedStateMachine):
    """Any order of matches, inserts, locks and evictions agrees with the dictionary of prefixes."""

    keys = st.tuples(
        st.sampled_from(["", "a"]),
        st.lists(st.integers(0, 2), max_size=14),
    )

    @initialize(page_size=st.sampled_from([1, 2, 4]))
    def start(self, page_size: int) -> None:
        self.tree = RadixTree(page_size)
        self.oracle = PrefixDictionary(page_size)
        self.slots = itertools.count()
        self.locks: list[tuple[Node, str, list[int]]] = []

    def fresh(self, count: int) -> list[int]:
        return list(itertools.islice(self.slots, count))

    @rule(key=keys, lock=st.booleans())
    def match(self, key: tuple[str, list[int]], lock: bool) -> None:
        namespace, ids = key
        match = self.tree.match_prefix(as_bytes(ids), namespace.encode())
        expected = self.oracle.match(namespace, ids)
        assert self.tree.slots_of(match.node).tolist() == expected
        assert match.length == len(expected)
        if lock:
            self.lock(match.node, namespace, ids[: match.length])

    @rule(key=keys, lock=st.booleans())
    def insert(self, key: tuple[str, list[int]], lock: bool) -> None:
        namespace, ids = key
        slots = self.fresh(len(ids))
        inserted = self.tree.insert(as_bytes(ids), as_bytes(slots), namespace.encode())
        assert inserted.existing == self.oracle.insert(namespace, ids, slots)
        if lock:
            self.lock(inserted.node, namespace, ids[: inserted.node.length])

    @precondition(lambda self: self.locks)
    @rule(data=st.data(), more=st.lists(st.integers(0, 2), max_size=6))
    def insert_from_lock(self, data: st.DataObject, more: list[int]) -> None:
        index = data.draw(st.integers(0, len(self.locks) - 1))
        node, namespace, ids = self.locks[index]
        key = ids + more
        slots = self.fresh(len(more))
        inserted = self.tree.insert(as_bytes(key), as_bytes(slots), namespace.encode(), node)
        path = self.tree.slots_of(inserted.node).tolist()
        assert inserted.existing == self.oracle.insert(namespace, key, [*path[: len(ids)], *slots])
        self.lock(inserted.node, namespace, key[: inserted.node.length])
        self.unlock(index)

    @precondition(lambda self: self.locks)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        self.unlock(data.draw(st.integers(0, len(self.locks) - 1)))

    @rule(tokens=st.integers(1, 12))
    def evict(self, tokens: int) -> None:
        assert set(self.tree.evict(tokens).tolist()) == self.oracle.evict(tokens)

    def lock(self, node: Node, namespace: str, ids: list[int]) -> None:
        self.tree.lock(node)
        self.oracle.lock(namespace, ids, +1)
        self.locks.append((node, namespace, ids))

    def unlock(self, index: int) -> None:
        node, namespace, ids = self.locks.pop(index)
        self.tree.unlock(node)
        self.oracle.lock(namespace, ids, -1)

    @invariant()
    def agrees(self) -> None:
        check_tree(self.tree, []) if not self.locks else check_tree(
            self.tree, [Lock(str(i), node, len(ids)) for i, (node, _, ids) in enumerate(self.locks)]
        )
        assert self.tree.evictable == self.oracle.total(locked=False)
        assert self.tree.protected == self.oracle.total(locked=True)


TreeMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True, database=None
)
TestTreeMachine = TreeMachine.TestCase
