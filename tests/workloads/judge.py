"""The judge of every workload: the engine's own tree, unlimited, fed one request after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from radixbench.engine.radix import RadixTree
from radixbench.workloads.build import Sizes, families
from radixbench.workloads.conversation import Turn, Workload
from radixbench.workloads.tokens import TokenSource

SIZES = Sizes(
    shared=24,
    groups=3,
    prompts_per_group=4,
    question_len=8,
    output_len=5,
    examples=2,
    example_len=6,
    documents=5,
    documents_per_prompt=2,
    document_len=7,
    document_order="ordered",
    tools_len=4,
    tool_result_len=9,
    depth=3,
    fanout=2,
)


def sizes(**changes: object) -> Sizes:
    return replace(SIZES, **changes)


def source(
    kind: str = "shared-prefix", wanted: Sizes = SIZES, cell: int = 0, vocab: int = 8192
) -> TokenSource:
    return TokenSource.of(vocab, excluded=(0, 1, 2), cell=cell, families=families(kind, wanted))


def prompts(workload: Workload) -> list[tuple[int, ...]]:
    """Every prompt by number, as it is sent when each answer has the length asked for."""
    found: dict[int, tuple[int, ...]] = {}
    for conversation in workload.conversations:
        history: tuple[int, ...] = ()
        for turn in conversation.turns:
            prompt = (
                tuple(history) + tuple(turn.user_ids) if turn.whole_ids is None else tuple(turn.whole_ids)
            )
            found[turn.prompt] = prompt
            history = prompt + answer(turn)
    return [found[number] for number in range(len(found))]


def answer(turn: Turn) -> tuple[int, ...]:
    """An answer nobody else gets."""
    return tuple((turn.prompt * 7919 + at * 104_729 + 13) % 8192 for at in range(turn.output_len))


def reuse(workload: Workload, page_size: int = 1) -> list[int]:
    """What an unlimited cache finds for each prompt, one conversation after the other, in send order."""
    tree = RadixTree(page_size)
    turns = [turn for conversation in workload.conversations for turn in conversation.turns]
    asked = prompts(workload)
    found = []
    for turn in turns:
        prompt = asked[turn.prompt]
        found.append(tree.match_prefix(as_key(prompt), limit=len(prompt) - 1).length)
        keep(tree, prompt)
        keep(tree, (prompt + answer(turn))[:-1])
    return found


def primed(workload: Workload, page_size: int = 1) -> list[int]:
    """What each prompt finds, alone, in a cache that holds the prefixes and nothing else."""
    found = []
    for prompt in prompts(workload):
        tree = RadixTree(page_size)
        for prefix in workload.prefixes:
            keep(tree, prefix)
        found.append(tree.match_prefix(as_key(prompt), limit=len(prompt) - 1).length)
    return found


def keep(tree: RadixTree, ids: Sequence[int]) -> None:
    tree.insert(as_key(ids), as_key(ids))


def as_key(ids: Sequence[int]) -> bytes:
    return np.asarray(ids, dtype="<i4").tobytes()


def first_arrivals(workload: Workload) -> list[bool]:
    """For each conversation, whether it is the first of its group."""
    seen: set[int] = set()
    return [
        conversation.group not in seen and not seen.add(conversation.group)
        for conversation in workload.conversations
    ]


def common(a: Sequence[int], b: Sequence[int]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
