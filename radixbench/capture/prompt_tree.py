"""Which tokens a run's prompts and answers share, kept without the tokens.

Sequences enter a compressed tree one after the other. It holds every distinct run of tokens once, so that a
conversation of many turns costs its last prompt, and a prompt that is made while it is read is read once.
A node ends where sequences part, and where a prompt, an answer or something held beforehand ends:

    A B C D                   A B ─┬─ C D
    A B E          →               └─ E ── F
    A B E F

Nodes are numbered in the order of the tokens' bytes, parents before children: equal sequences give equal
trees, whatever the order of the requests.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from radixbench.capture.model import PrefixNode, PromptTree
from radixbench.units import Bytes, Tokens

_TOKEN_BYTES: Bytes = 4


def build_prompt_tree(
    prompts: Sequence[Sequence[int] | None],
    outputs: Sequence[Sequence[int] | None],
    held: Iterable[Sequence[int]] = (),
) -> PromptTree:
    """The prefix tree over every prompt and every prompt followed by its answer.

    ``prompts[i]`` and ``outputs[i]`` are the token ids (below 2³¹) of the request with prompt number i; a length
    and an iterator are enough. ``held`` are sequences that were in the cache before the first request. An unknown
    prompt has no node, an unknown answer no sequence node. A prompt of no tokens would end at the root, which
    is no node, and counts as unknown.
    """
    if len(prompts) != len(outputs):
        raise ValueError(f"{len(prompts)} prompts but {len(outputs)} outputs")
    root = _Node(None, b"")
    ends: list[_Node | None] = []
    wholes: list[_Node | None] = []
    for prompt, output in zip(prompts, outputs, strict=True):
        known = prompt is not None and len(prompt) > 0
        end = _grow(root, _encode(prompt)) if known and prompt is not None else None
        ends.append(end)
        wholes.append(None if end is None or output is None else _grow(end, _encode(output)))
    kept = [_grow(root, _encode(sequence)) for sequence in held if len(sequence) > 0]
    nodes = tuple(_numbered(root))
    return PromptTree(
        nodes,
        tuple(None if node is None else node.number for node in ends),
        tuple(None if node is None else node.number for node in wholes),
        tuple(sorted({node.number for node in kept})),
    )


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


class _Node:
    """``run``: the bytes of the tokens after ``parent``; children by their first token's bytes.

    A node never moves: a split puts a new one above it, so that whoever ended here still does.
    """

    __slots__ = ("children", "number", "parent", "run")

    def __init__(self, parent: _Node | None, run: bytes) -> None:
        self.parent = parent
        self.run = run
        self.children: dict[bytes, _Node] | None = None
        self.number = -1


def _encode(tokens: Sequence[int]) -> bytes:
    """Token ids as little-endian int32."""
    return np.frombuffer(array("i", tokens), dtype=np.intc).astype("<i4", copy=False).tobytes()


def _grow(node: _Node, key: bytes) -> _Node:
    """The node in which ``key`` ends when it is followed down from ``node``, made where there is none."""
    position = 0
    while position < len(key):
        first = key[position : position + _TOKEN_BYTES]
        child = None if node.children is None else node.children.get(first)
        if child is None:
            return _adopt(node, _Node(node, key[position:]))
        if not key.startswith(child.run, position):
            child = _split(child, _common_bytes(child.run, key, position))
        position += len(child.run)
        node = child
    return node


def _adopt(parent: _Node, child: _Node) -> _Node:
    if parent.children is None:
        parent.children = {}
    parent.children[child.run[:_TOKEN_BYTES]] = child
    return child


def _split(node: _Node, at: Bytes) -> _Node:
    """The new node that takes the first ``at`` bytes of ``node``, which keeps the rest below it."""
    assert node.parent is not None, "the root holds no tokens to split"
    upper = _adopt(node.parent, _Node(node.parent, node.run[:at]))
    node.parent, node.run = upper, node.run[at:]
    _adopt(upper, node)
    return upper


def _common_bytes(run: bytes, key: bytes, position: int) -> Bytes:
    """How many bytes of whole tokens ``run`` shares with ``key`` from ``position`` on, where they part."""
    size = min(len(run), len(key) - position)
    ours = np.frombuffer(run, dtype="<i4", count=size // _TOKEN_BYTES)
    theirs = np.frombuffer(key, dtype="<i4", count=size // _TOKEN_BYTES, offset=position)
    differs = ours != theirs
    return int(differs.argmax()) * _TOKEN_BYTES if differs.any() else size


def _numbered(root: _Node) -> Iterator[PrefixNode]:
    """All nodes, parents before children, siblings by their bytes; gives each its number and frees its tokens."""
    number = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.parent is not None:
            node.number, number = number, number + 1
            above = node.parent.number if node.parent.parent is not None else None
            yield PrefixNode(above, len(node.run) // _TOKEN_BYTES, hashlib.sha256(node.run).hexdigest())
            node.run = b""
        if node.children is not None:
            stack.extend(node.children[first] for first in sorted(node.children, reverse=True))
            node.children = None
