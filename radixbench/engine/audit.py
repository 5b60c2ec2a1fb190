"""Invariants checked by ownership: every slot has exactly one owner.

Totals can agree while two requests write to the same slot; owners can't. The tree's own invariants
(links, names, pins, sums, eviction order) are recomputed from scratch and compared. A broken one
is our own fault, never a user's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radixbench.engine.node import TOKEN_BYTES, Node
from radixbench.engine.radix import RadixTree


class AuditError(AssertionError):
    """The engine's books are wrong; the message names the slot and its owners, or the node."""


class Holding(NamedTuple):
    """Who owns which slots."""

    owner: str
    slots: NDArray[np.int32]


class Lock(NamedTuple):
    """One lock that somebody holds: on the path to ``node``, which ends at token ``length``."""

    owner: str
    node: Node | None
    length: int


def check_ownership(pool_size: int, holdings: Iterable[Holding]) -> None:
    """Raise unless the holdings are a partition of slots 0 … pool_size − 1."""
    held = list(holdings)
    for owner, slots in held:
        if len(slots) and (slots.min() < 0 or slots.max() >= pool_size):
            raise AuditError(f"{owner} holds a slot outside the pool of {pool_size}")
    everything = np.concatenate([slots for _, slots in held]) if held else np.empty(0, dtype=np.int32)
    wrong = np.flatnonzero(np.bincount(everything, minlength=pool_size) != 1)
    if len(wrong):
        slot = int(wrong[0])
        owners = [owner for owner, slots in held for _ in range(int((slots == slot).sum()))]
        raise AuditError(f"slot {slot} has {len(owners)} owners: {', '.join(owners) or 'nobody'}")


def check_tree(tree: RadixTree, locks: Iterable[Lock]) -> None:
    """Raise unless the tree is whole and protects exactly what ``locks`` say."""
    held = list(locks)
    own_pins = Counter(lock.node for lock in held)
    nodes = [tree.root, *tree.nodes()]
    _check_locks(held, set(nodes))
    evictable = protected = 0
    for node in nodes:
        _check_links(tree, node)
        pins = own_pins[node] + sum(1 for child in node.children.values() if child.pins)
        if node.parent is None:
            continue
        if node.pins != pins:
            raise AuditError(f"{node} has {node.pins} pins instead of {pins}")
        if not (node.pins or node.children or tree.awaits_eviction(node)):
            raise AuditError(f"{node} is an unlocked leaf that eviction would never find")
        size = len(node.key) // TOKEN_BYTES
        protected += size if node.pins else 0
        evictable += 0 if node.pins else size
    if (tree.evictable, tree.protected) != (evictable, protected):
        raise AuditError(
            f"the tree counts {tree.evictable} evictable and {tree.protected} protected tokens"
            f" instead of {evictable} and {protected}"
        )


def _check_locks(locks: list[Lock], nodes: set[Node]) -> None:
    for owner, node, length in locks:
        if node is None or node not in nodes:
            raise AuditError(f"{owner} holds a lock outside the tree")
        if node.length != length:
            raise AuditError(f"{owner} shares {length} tokens but its lock is on {node}")


def _check_links(tree: RadixTree, node: Node) -> None:
    page = tree.page_size * TOKEN_BYTES
    for name, child in node.children.items():
        named = child.name == name and name.endswith(child.key[:page])
        if child.parent is not node or not named or (node.parent is not None and len(name) != page):
            raise AuditError(f"{child} is not linked to its parent {node}")
        if not child.key or len(child.key) % page or child.end != node.end + len(child.key):
            raise AuditError(f"{child} has an edge of {len(child.key)} bytes")
        if len(child.slots) != len(child.key):
            raise AuditError(f"{child} has {len(child.slots)} bytes of slots for {len(child.key)} of tokens")
