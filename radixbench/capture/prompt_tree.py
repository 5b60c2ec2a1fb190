"""Which tokens a run's prompts and answers share, kept without the tokens.

The sequences are sorted as bytes, so that each shares most with its neighbour, and one pass over the
sorted list builds the compressed tree. Only its rightmost path, held on a stack, can still change. A
node ends where sequences part, and where a prompt or an answer ends:

    A B C D                   A B ─┬─ C D
    A B E          →               └─ E ── F
    A B E F

Nodes are numbered by the sorted sequences, parents before children: equal sequences give equal
trees, whatever the order of the requests.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from radixbench.capture.model import PrefixNode, PromptTree
from radixbench.units import Bytes, Tokens

_TOKEN_BYTES: Bytes = 4


def build_prompt_tree(
    prompts: Sequence[Sequence[int] | None], outputs: Sequence[Sequence[int] | None]
) -> PromptTree:
    """The prefix tree over every prompt and every prompt followed by its answer.

    ``prompts[i]`` and ``outputs[i]`` are the token ids (below 2³¹) of the request with prompt number i.
    An unknown prompt has no node, an unknown answer no sequence node. A prompt of no tokens would end
    at the root, which is no node, and counts as unknown.
    """
    if len(prompts) != len(outputs):
        raise ValueError(f"{len(prompts)} prompts but {len(outputs)} outputs")
    paths = sorted(
        (
            _Path(_encode(prompt) + _encode(output or ()), len(prompt), index, output is not None)
            for index, (prompt, output) in enumerate(zip(prompts, outputs, strict=True))
            if prompt is not None and len(prompt) > 0
        ),
        key=lambda path: (path.key, path.prompt_len),
    )
    builder = _Builder(paths)
    ends = [builder.add(rank) for rank in range(len(paths))]
    number = builder.numbering()
    prompt_nodes: list[int | None] = [None] * len(prompts)
    sequence_nodes: list[int | None] = [None] * len(prompts)
    for path, end in zip(paths, ends, strict=True):
        prompt_nodes[path.index] = number[end.prompt]
        sequence_nodes[path.index] = number[end.sequence] if path.answered else None
    return PromptTree(builder.nodes(number), tuple(prompt_nodes), tuple(sequence_nodes))


def depths(tree: PromptTree) -> tuple[Tokens, ...]:
    """For each node, how many tokens lead from the root to its end."""
    found: list[Tokens] = []
    for node in tree.nodes:
        found.append(node.len + (0 if node.parent is None else found[node.parent]))
    return tuple(found)


def depth(tree: PromptTree, node: int | None) -> Tokens:
    """How many tokens lead from the root to the end of one node; 0 for the root (``None``)."""
    tokens = 0
    while node is not None:
        tokens += tree.nodes[node].len
        node = tree.nodes[node].parent
    return tokens


def common_prefix(tree: PromptTree, node_a: int, node_b: int) -> Tokens:
    """How many leading tokens the sequences that end at two nodes have in common."""
    a: int | None = node_a
    b: int | None = node_b
    while a != b:  # a parent's number is below its child's, so the greater of the two can climb
        if b is None or (a is not None and a > b):
            a = None if a is None else tree.nodes[a].parent
        else:
            b = tree.nodes[b].parent
    return depth(tree, a)


@dataclass(frozen=True, slots=True)
class _Path:
    """One request's prompt and answer as bytes; ``prompt_len`` tokens of them are the prompt."""

    key: bytes
    prompt_len: Tokens
    index: int
    answered: bool


@dataclass(frozen=True, slots=True)
class _Ends:
    prompt: int
    sequence: int


def _encode(tokens: Sequence[int]) -> bytes:
    """Token ids as little-endian int32."""
    return np.frombuffer(array("i", tokens), dtype=np.intc).astype("<i4", copy=False).tobytes()


def _common_tokens(a: bytes, b: bytes) -> Tokens:
    size = min(len(a), len(b))
    if a[:size] == b[:size]:
        return size // _TOKEN_BYTES
    differs = np.frombuffer(a[:size], dtype="<i4") != np.frombuffer(b[:size], dtype="<i4")
    return int(differs.argmax())


@dataclass(slots=True)
class _Builder:
    """The growing tree. Node n holds tokens ``start[n]`` to ``end[n]`` of the path ``owner[n]``.

    ``stack`` is the path added last, from the root down.
    """

    paths: Sequence[_Path]
    parent: list[int | None] = field(default_factory=list)
    start: list[Tokens] = field(default_factory=list)
    end: list[Tokens] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)

    def add(self, rank: int) -> _Ends:
        """Add the next path in sorted order; tell where its prompt and its whole sequence end."""
        path = self.paths[rank]
        shared = _common_tokens(self.paths[rank - 1].key, path.key) if rank else 0
        prompt = self._end_at(path.prompt_len) if path.prompt_len <= shared else None
        self._cut_back(shared)
        if prompt is None:
            prompt = self._grow(path.prompt_len, rank)
        return _Ends(prompt, self._grow(len(path.key) // _TOKEN_BYTES, rank))

    def numbering(self) -> list[int]:
        """The final number of each node: by owner, then by depth."""
        order = sorted(range(len(self.owner)), key=lambda node: (self.owner[node], self.end[node]))
        number = [0] * len(order)
        for place, node in enumerate(order):
            number[node] = place
        return number

    def nodes(self, number: Sequence[int]) -> tuple[PrefixNode, ...]:
        """All nodes in the order of their numbers, each with the hash of its own tokens."""
        order = sorted(range(len(number)), key=number.__getitem__)
        return tuple(self._node(node, number) for node in order)

    def _node(self, node: int, number: Sequence[int]) -> PrefixNode:
        key = memoryview(self.paths[self.owner[node]].key)
        own = key[self.start[node] * _TOKEN_BYTES : self.end[node] * _TOKEN_BYTES]
        parent = self.parent[node]
        return PrefixNode(
            parent=None if parent is None else number[parent],
            len=self.end[node] - self.start[node],
            sha256=hashlib.sha256(own).hexdigest(),
        )

    def _grow(self, end: Tokens, owner: int) -> int:
        """The node that ends at ``end``, below the top of the stack or the top itself."""
        top = self.stack[-1] if self.stack else None
        start = 0 if top is None else self.end[top]
        if top is not None and start == end:
            return top
        node = self._new(top, start, end, owner)
        self.stack.append(node)
        return node

    def _cut_back(self, tokens: Tokens) -> None:
        """Leave on the stack what lies within the first ``tokens``, splitting a node across that line."""
        if self.stack and self.end[self.stack[-1]] > tokens > 0:
            self._end_at(tokens)
        while self.stack and self.end[self.stack[-1]] > tokens:
            self.stack.pop()

    def _end_at(self, tokens: Tokens) -> int:
        """The node of the stack that ends after ``tokens``, made by a split if there is none."""
        place = bisect_left(self.stack, tokens, key=self.end.__getitem__)
        below = self.stack[place]
        if self.end[below] == tokens:
            return below
        middle = self._new(self.parent[below], self.start[below], tokens, self.owner[below])
        self.parent[below], self.start[below] = middle, tokens
        self.stack.insert(place, middle)
        return middle

    def _new(self, parent: int | None, start: Tokens, end: Tokens, owner: int) -> int:
        self.parent.append(parent)
        self.start.append(start)
        self.end.append(end)
        self.owner.append(owner)
        return len(self.owner) - 1
