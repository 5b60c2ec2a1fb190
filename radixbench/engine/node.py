"""One edge of the radix tree: a run of tokens and the KV slots that hold them.

Tokens and slots are both the bytes of little runs of int32, so that comparing an edge is one
``memcmp``, splitting it two slices and joining a path one ``join``. Lengths and positions inside the
tree are therefore counted in bytes, ``TOKEN_BYTES`` to a token; whole pages only.
"""

from __future__ import annotations

from typing import Final

TOKEN_BYTES: Final = 4


class Node:
    """Edge and node in one. Identity is its name: nodes compare and hash as objects.

    ``name`` is its key in the parent's ``children``: the namespace (below the root only) and the first
    page. ``end`` is where the edge ends, counted from the root. ``pins`` are the locks taken on this
    very node plus its pinned children; a node with pins is protected. ``stamp`` is the time of the
    last touch that went through this node and isn't remembered by a child. ``queued`` says that the
    eviction order holds an entry for it.
    """

    __slots__ = ("children", "end", "key", "name", "parent", "pins", "queued", "slots", "stamp")

    def __init__(self, parent: Node | None, name: bytes, key: bytes, slots: bytes, end: int) -> None:
        self.parent = parent
        self.name = name
        self.key = key
        self.slots = slots
        self.end = end
        self.children: dict[bytes, Node] = {}
        self.pins = 0
        self.stamp = 0
        self.queued = False

    @property
    def length(self) -> int:
        """How many tokens lie between the root and the end of this edge."""
        return self.end // TOKEN_BYTES

    def __repr__(self) -> str:
        return f"tree node of tokens {(self.end - len(self.key)) // TOKEN_BYTES}–{self.length}"
