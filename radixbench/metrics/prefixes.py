"""A cache without limits, played over a capture's prompt tree: who left how much of each node's run in it.

Of each node two facts suffice: the most any writer left, and the most anybody but that writer left. So a match can
leave one writer out, which is how a request is asked what it shares with the others. Ancestors of a cached token
are always cached, hence a walk from a node towards the root ends at the first token found, and a write at the
first node that gains nothing: the cost grows with nodes, not with pairs of requests.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from radixbench.capture.model import PromptTree
from radixbench.errors import CaptureError
from radixbench.units import Tokens

NOBODY: Final = -1
BEFOREHAND: Final = -2
"""The writer of what was held before the first request."""


class Found(NamedTuple):
    """``tokens`` from the root are cached, the last of them in the run of ``node``; ``None`` for none."""

    tokens: Tokens
    node: int | None


class CachedPrefixes:
    """What is cached at one moment; starts with what the tree says was held beforehand."""

    def __init__(self, tree: PromptTree, depths: list[Tokens]) -> None:
        self._lengths = [node.len for node in tree.nodes]
        self._parents = [node.parent for node in tree.nodes]
        self._depths = depths
        self._kept = [0] * len(depths)
        self._writer = [NOBODY] * len(depths)
        self._kept_by_others = [0] * len(depths)
        for node in tree.held:
            self.write(node, BEFOREHAND)

    def match(self, node: int, leaving_out: int = NOBODY) -> Found:
        """How far the path to ``node`` is cached, by anybody but the writer ``leaving_out``."""
        at: int | None = node
        most, writer, by_others = self._kept, self._writer, self._kept_by_others
        while at is not None:
            kept = most[at] if writer[at] != leaving_out else by_others[at]
            if kept > 0:
                return Found(self._depths[at] - self._lengths[at] + kept, at)
            at = self._parents[at]
        return Found(0, None)

    def write(self, node: int, writer: int, but_last: Tokens = 0) -> None:
        """Cache the path to ``node`` except its last ``but_last`` tokens."""
        at: int | None = node
        while at is not None:
            kept = self._lengths[at] - but_last
            if kept > 0:
                if not self._leave(at, kept, writer):
                    return
                but_last = 0
            else:
                but_last = -kept
            at = self._parents[at]

    def _leave(self, at: int, kept: Tokens, writer: int) -> bool:
        """Whether anything is new in this node; if not, nothing is new above it either."""
        most = self._kept[at]
        if writer == self._writer[at]:
            if most >= kept:
                return False
            self._kept[at] = kept
        elif kept > most:
            self._kept_by_others[at] = most
            self._kept[at], self._writer[at] = kept, writer
        elif self._kept_by_others[at] < kept:
            self._kept_by_others[at] = kept
        else:
            return False
        return True


def tree_depths(tree: PromptTree) -> list[Tokens]:
    """Tokens from the root to the end of each node; raises ``CaptureError`` for a node before its parent."""
    depths: list[Tokens] = []
    for index, node in enumerate(tree.nodes):
        if node.parent is not None and not 0 <= node.parent < index:
            raise CaptureError(f"prompt tree: node {index} stands before its parent {node.parent}")
        depths.append(node.len + (0 if node.parent is None else depths[node.parent]))
    return depths
