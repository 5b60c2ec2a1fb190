"""Which leaf goes first: exact least-recently-used order, constant time per touch.

Touches are monotone, so an ordered dict holds them in order by itself. Nodes that come back without
a touch (a parent that became a leaf, a leaf unlocked after it was passed over, a leaf that was
trimmed) keep their old stamp and wait in a small heap. Each of them is, or takes the age of, what
was once at the front of the dict, so everything in the heap is older than everything in the dict.
Entries are checked when they are met: inner and pinned nodes are dropped there.
"""

from __future__ import annotations

from collections import OrderedDict
from heapq import heappop, heappush

from radixbench.engine.node import Node


class EvictionOrder:
    """Unlocked leaves, oldest touch first. Every evictable leaf is in it exactly once."""

    __slots__ = ("_returned", "_serial", "_stamp", "_touched")

    def __init__(self) -> None:
        self._touched: OrderedDict[Node, None] = OrderedDict()
        self._returned: list[tuple[int, int, Node]] = []
        self._stamp = 0
        self._serial = 0

    def __len__(self) -> int:
        """Entries held, stale ones included."""
        return len(self._touched) + len(self._returned)

    def __contains__(self, node: Node) -> bool:
        """Whether an entry that still holds would find ``node``; for audits, not for speed."""
        return node in self._touched or any(
            stamp == node.stamp and node is other for stamp, _, other in self._returned
        )

    def touch(self, node: Node) -> None:
        """Make ``node`` the newest."""
        self._stamp += 1
        node.stamp = self._stamp
        node.queued = True
        self._touched[node] = None
        self._touched.move_to_end(node)

    def restore(self, node: Node) -> None:
        """Put an evictable leaf back at the age it has; nothing happens if it is still in line."""
        if not node.queued:
            node.queued = True
            self._serial += 1
            heappush(self._returned, (node.stamp, self._serial, node))

    def pop(self) -> Node | None:
        """Take the oldest evictable leaf out of the order; ``None`` when there is none."""
        while True:
            node = self._pop_entry()
            if node is None or not (node.pins or node.children):
                return node

    def _pop_entry(self) -> Node | None:
        """The oldest entry whose stamp still holds, whatever became of its node."""
        while self._returned:
            stamp, _, node = heappop(self._returned)
            if stamp == node.stamp:
                node.queued = False
                return node
        if not self._touched:
            return None
        node, _ = self._touched.popitem(last=False)
        node.queued = False
        return node
