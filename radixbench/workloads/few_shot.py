"""Few-shot prompts: an instruction, a task's examples, then the item in question.

The traffic of evaluation harnesses and extraction pipelines, and a case of sharing on two levels: the
instruction of ``shared`` tokens opens every prompt, the ``examples`` of ``example_len`` tokens each open all
prompts of a group (a task). A cache should find both in every prompt but the first of each group, and in
those the instruction, except in the very first.

    instruction ─┬─ examples of group 0 ─┬─ question
                 │                       └─ question
                 └─ examples of group 1 ─── question
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import questions
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "few-shot"


def few_shot(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Prompts of ``shared`` + ``examples`` x ``example_len`` + ``question_len`` tokens, shuffled."""
    counts = quotas(sizes)
    prefixes = _prefixes(sizes, seed, tokens)
    asked = questions(counts, sizes, seed=seed, tokens=tokens)
    talks = [
        Talk(group, (prefixes[group] + tuple(ids),))
        for group, ids in zip(members(counts), asked, strict=True)
    ]
    used = [prefix for prefix, count in zip(prefixes, counts, strict=True) if count]
    return script(KIND, talks, sizes, seed=seed, tokens=tokens, prefixes=used)


def _prefixes(sizes: Sizes, seed: int, tokens: TokenSource) -> list[tuple[int, ...]]:
    """Instruction and examples of each group; without an instruction the examples open the prompt."""
    length = sizes.needed("examples") * sizes.needed("example_len")
    blocks = tokens.draw("examples", seed, sizes.groups, length)
    if not sizes.shared:
        return [tuple(tokens.opened(block, group, seed)) for group, block in enumerate(blocks)]
    (instruction,) = tokens.draw("instruction", seed, 1, sizes.shared)
    head = tuple(tokens.opened(instruction, 0, seed))
    for block, first in zip(blocks, tokens.distinct("example", seed, sizes.groups), strict=True):
        block[0] = first
    return [head + tuple(block) for block in blocks]
