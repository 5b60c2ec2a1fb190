"""Chats: conversations of several turns, grouped under shared system prompts.

The traffic of an assistant: every turn asks with everything said so far. A cache should find, in turn k,
the prompt and the answer of turn k - 1 (all but the answer's last token, which was never computed), and in a
first turn the group's system prompt of ``shared`` tokens. With recorded history the answers were made up
beforehand, so what the server itself generated is in no later prompt: only the prompt of turn k - 1 is found.
A long system prompt with short turns is a persona; long answers to short questions gain next to nothing.
Within a group the first questions differ from their first token on; with ``shared`` 0 no two
conversations share anything.
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import heads, questions
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "multi-turn"


def multi_turn(sizes: Sizes, seed: int, tokens: TokenSource, kind: str = KIND) -> Workload:
    """Conversations of ``turns`` turns (one where it is ``None``), shuffled.

    Turn k (from 1) is a prompt of ``shared`` + k x ``question_len`` + (k - 1) x ``output_len`` tokens when
    every answer has the length asked for.
    """
    turns = 1 if sizes.turns is None else sizes.needed("turns")
    counts = quotas(sizes)
    systems = heads("system", sizes.shared, seed=seed, sizes=sizes, tokens=tokens)
    said = questions(counts, sizes, seed=seed, tokens=tokens, turns=turns)
    talks = []
    for place, group in enumerate(members(counts)):
        first, *later = said[place * turns : (place + 1) * turns]
        first = systems[group] + first if sizes.shared else tokens.opened(first, place, seed)
        talks.append(Talk(group, tuple(tuple(ids) for ids in (first, *later))))
    used = [tuple(system) for system, count in zip(systems, counts, strict=True) if count and system]
    return script(kind, talks, sizes, seed=seed, tokens=tokens, prefixes=used)
