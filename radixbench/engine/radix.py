"""The radix tree: which prefixes are cached, in which KV slots, and which may go.

An edge holds a run of tokens and their slots; children are keyed by namespace and first page. The
tree never copies KV and never owns a pool: slots go in with ``insert`` and come out of ``evict``.
Semantics are those of SGLang's radix cache (0.5.22), with two liberties that change no hit: a leaf is
extended in place instead of growing a chain of single children, and eviction trims a leaf's tail
to what is needed. A match is not read-only: it splits an edge where it ends and touches the path.

    root ── "system prompt" ─┬─ "question 1, answer 1"      pins: locks here + pinned children,
                             └─ "question 2 …"              so a lock stops at a pinned ancestor
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radixbench.engine.eviction import EvictionOrder
from radixbench.engine.node import TOKEN_BYTES, Node

_GALLOP_PAGES: Final = 256


class Match(NamedTuple):
    """Where a prefix ends: ``length`` tokens from the root, exactly at the end of ``node``.

    Holds until the tree changes; ``lock`` the node before anything else happens to the tree.
    """

    node: Node
    length: int


class Inserted(NamedTuple):
    """``node`` ends the inserted key; its first ``existing`` tokens were in the tree before."""

    node: Node
    existing: int


class RadixTree:
    """Prefixes of token ids over KV slots. Keys and slots are the bytes of int32 arrays.

    Only whole pages are matched and kept: what is left of a key beyond them is ignored. The tree knows
    nothing of prompts: that a match leaves the last token to compute is the caller's ``limit``.
    """

    def __init__(self, page_size: int = 1) -> None:
        if page_size < 1:
            raise ValueError(f"page_size must be at least 1, not {page_size}")
        self.page_size = page_size
        self._page_bytes = page_size * TOKEN_BYTES
        self.reset()

    def reset(self) -> None:
        """Forget everything; slots are the caller's to free."""
        self.root = Node(None, b"", b"", b"", 0)
        self._order = EvictionOrder()
        self._evictable = 0
        self._protected = 0

    @property
    def evictable(self) -> int:
        """Tokens that ``evict`` could free now."""
        return self._evictable // TOKEN_BYTES

    @property
    def protected(self) -> int:
        """Tokens on locked paths."""
        return self._protected // TOKEN_BYTES

    def match_prefix(self, key: bytes, namespace: bytes = b"", limit: int | None = None) -> Match:
        """The longest cached prefix of ``key``, at most ``limit`` tokens, in whole pages.

        Splits the edge in which the match ends and makes the path the most recently used.
        """
        size = len(key) if limit is None else min(len(key), limit * TOKEN_BYTES)
        node = self._walk(key, size - size % self._page_bytes, namespace, self.root)
        if node is not self.root:
            self._order.touch(node)
        return Match(node, node.end // TOKEN_BYTES)

    def insert(self, key: bytes, slots: bytes, namespace: bytes = b"", start: Node | None = None) -> Inserted:
        """Make the whole pages of ``key`` a path of the tree; nodes that exist keep their slots.

        ``slots`` belong to the tokens from ``start`` (or the root) on. ``start`` is a node whose path is a
        prefix of ``key`` and on which the caller holds exactly one lock. The caller keeps what it
        passed for tokens that existed already: those slots are its to free.
        """
        origin = self.root if start is None else start
        stop = len(key) - len(key) % self._page_bytes
        node = self._walk(key, stop, namespace, origin) if stop > origin.end else origin
        existing = node.end
        if stop > existing:
            first = existing - origin.end
            node = self._append(node, key[existing:stop], slots[first : stop - origin.end], namespace, start)
        if node is not self.root:
            self._order.touch(node)
        return Inserted(node, min(existing, stop) // TOKEN_BYTES)

    def lock(self, node: Node) -> None:
        """Protect the path from ``node`` to the root; stops at the first ancestor already pinned."""
        while node.parent is not None:
            node.pins += 1
            if node.pins > 1:
                return
            self._evictable -= len(node.key)
            self._protected += len(node.key)
            node = node.parent

    def unlock(self, node: Node) -> None:
        """Take one lock back; a path nobody else protects becomes evictable, at the age it has."""
        while node.parent is not None:
            assert node.pins > 0, f"unlock of a node at token {node.length} that isn't locked"
            node.pins -= 1
            if node.pins:
                return
            self._evictable += len(node.key)
            self._protected -= len(node.key)
            if not node.children:
                self._order.restore(node)
            node = node.parent

    def evict(self, tokens: int) -> NDArray[np.int32]:
        """Drop unlocked leaves, oldest first, climbing to parents that become leaves.

        Returns the freed slots: ``tokens`` rounded up to pages, or fewer when all the rest is locked.
        """
        need = -(-tokens * TOKEN_BYTES // self._page_bytes) * self._page_bytes
        freed: list[bytes] = []
        while need > 0 and (leaf := self._order.pop()) is not None:
            cut = min(need, len(leaf.key))
            need -= cut
            freed.append(leaf.slots[len(leaf.key) - cut :])
            self._evictable -= cut
            if cut < len(leaf.key):
                self._trim(leaf, cut)
            else:
                self._remove(leaf)
        return np.frombuffer(b"".join(freed), dtype=np.int32)

    def slots_of(self, node: Node) -> NDArray[np.int32]:
        """The slots of the whole path down to ``node``, read-only, one per token."""
        parts = []
        while node.parent is not None:
            parts.append(node.slots)
            node = node.parent
        parts.reverse()
        return np.frombuffer(b"".join(parts), dtype=np.int32)

    def nodes(self) -> Iterator[Node]:
        """Every node below the root, parents before children."""
        stack = list(self.root.children.values())
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            yield node

    def awaits_eviction(self, node: Node) -> bool:
        """Whether the eviction order will come across ``node``, at the age it has."""
        return node in self._order

    def _walk(self, key: bytes, stop: int, namespace: bytes, node: Node) -> Node:
        """Follow ``key[:stop]`` (whole pages) down from ``node``, splitting the edge where it ends."""
        width = self._page_bytes
        position = node.end
        prefix = namespace if node.parent is None else b""
        while position < stop:
            child = node.children.get(prefix + key[position : position + width])
            if child is None:
                break
            if child.end > stop or not key.startswith(child.key, position):
                return self._split(child, self._shared(child.key, key, position, stop))
            node, position, prefix = child, child.end, b""
        return node

    def _shared(self, edge: bytes, key: bytes, position: int, stop: int) -> int:
        """How many bytes of ``edge`` agree with ``key[position:stop]``, in whole pages, the first given.

        Most often all that is asked for agrees; else strides double and halve, and far from the start
        a vectorised comparison is cheaper.
        """
        limit = min(len(edge), stop - position)
        if edge.startswith(key[position : position + limit]):
            return limit
        width = self._page_bytes
        low, stride = width, width
        while low + stride < limit and key.startswith(edge[low : low + stride], position + low):
            low += stride
            stride *= 2
            if low > _GALLOP_PAGES * width:
                return low + self._shared_far(edge[low:limit], key[position + low : position + limit])
        high = min(low + stride, limit) // width
        while high - low // width > 1:
            middle = (low // width + high) // 2 * width
            if key.startswith(edge[low:middle], position + low):
                low = middle
            else:
                high = middle // width
        return low

    def _shared_far(self, edge: bytes, key: bytes) -> int:
        """Whole pages, in bytes, before the first difference of two equally long runs that differ."""
        unequal = np.frombuffer(edge, dtype=np.int32) != np.frombuffer(key, dtype=np.int32)
        size = int(unequal.argmax()) * TOKEN_BYTES
        return size - size % self._page_bytes

    def _split(self, node: Node, at: int) -> Node:
        """Cut ``node`` after ``at`` bytes; the new upper part is returned, handles keep the lower."""
        parent = node.parent
        assert parent is not None
        upper = Node(parent, node.name, node.key[:at], node.slots[:at], node.end - len(node.key) + at)
        upper.pins = 1 if node.pins else 0
        parent.children[node.name] = upper
        node.key, node.slots = node.key[at:], node.slots[at:]
        node.name = node.key[: self._page_bytes]
        node.parent = upper
        upper.children[node.name] = node
        return upper

    def _append(self, node: Node, key: bytes, slots: bytes, namespace: bytes, start: Node | None) -> Node:
        """Hang ``key`` below ``node``: into the leaf itself where no other handle could see it grow."""
        if node.parent is None or node.children or node.pins != (1 if node is start else 0):
            name = key[: self._page_bytes]
            if node.parent is None:
                name = namespace + name
            leaf = Node(node, name, key, slots, node.end + len(key))
            node.children[name] = leaf
            self._evictable += len(key)
            return leaf
        node.key += key
        node.slots += slots
        node.end += len(key)
        if node.pins:
            self._protected += len(key)
        else:
            self._evictable += len(key)
        return node

    def _trim(self, leaf: Node, cut: int) -> None:
        """Drop the last ``cut`` bytes of an evictable leaf; what is left keeps its age."""
        leaf.key = leaf.key[:-cut]
        leaf.slots = leaf.slots[:-cut]
        leaf.end -= cut
        self._order.restore(leaf)

    def _remove(self, leaf: Node) -> None:
        """Take an evictable leaf out; its parent inherits its age and may be next."""
        parent = leaf.parent
        assert parent is not None
        del parent.children[leaf.name]
        leaf.parent = None
        parent.stamp = max(parent.stamp, leaf.stamp)
        if parent.parent is not None and not parent.children and not parent.pins:
            self._order.restore(parent)
