"""The engine's radix tree with as much room as one is given, serving one request after the other.

A request finds its longest cached prefix, takes room for the rest, oldest leaves going first, and leaves its tokens
behind: what a server does at a concurrency of one. Keys are in units of the caller's choosing, a token or
several that always stand together.
"""

from __future__ import annotations

from typing import NamedTuple

from radixbench.engine.node import TOKEN_BYTES
from radixbench.engine.radix import RadixTree


class Served(NamedTuple):
    """Units a request found cached and need not compute, and how many of what it left were there before."""

    cached: int
    known: int


class PrefixCache:
    """A tree of ``page_size`` units to a page over ``capacity`` units, rounded down to pages (``None``: no end)."""

    def __init__(self, page_size: int, capacity: int | None = None) -> None:
        self._page = page_size
        self._capacity = None if capacity is None else capacity - capacity % page_size
        self._tree = RadixTree(page_size)
        self.evicted = 0

    @property
    def held(self) -> int:
        """Units in the tree."""
        return self._tree.evictable + self._tree.protected

    def serve(self, key: bytes, limit: int, room: int) -> Served | None:
        """One request: ``key`` (int32) is what it leaves, of which the first ``limit`` units may be found cached.

        ``room`` is what it occupies while it runs, in units and whole pages; ``None`` is returned where the
        cache could never hold that, and nothing changes.
        """
        if self._capacity is not None and room > self._capacity:
            return None
        match = self._tree.match_prefix(key, limit=limit)
        self._tree.lock(match.node)
        if self._capacity is not None:
            lacking = self.held + room - match.length - self._capacity
            if lacking > 0:
                self.evicted += len(self._tree.evict(lacking))
        slots = bytes(max(0, len(key) - match.length * TOKEN_BYTES))
        inserted = self._tree.insert(key, slots, start=match.node)
        self._tree.unlock(match.node)
        return Served(match.length, inserted.existing)
