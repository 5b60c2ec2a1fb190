"""What is asked last: random tokens that part at the first of them.

Prompts of one group have everything before in common; since their questions differ from the first token on,
exactly that is shared, and not a token more.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource


def questions(
    counts: Sequence[int], sizes: Sizes, *, seed: int, tokens: TokenSource, turns: int = 1
) -> list[list[int]]:
    """``turns`` questions for each prompt of each group, in order [group][prompt][turn].

    ``counts`` are the prompts of each group. The first question of a prompt parts from those of its group.
    """
    drawn = tokens.draw("question", seed, sum(counts) * turns, sizes.question_len)
    place = 0
    for group, count in enumerate(counts):
        for first in tokens.distinct(f"first/{group}", seed, count):
            drawn[place * turns][0] = first
            place += 1
    return drawn


def heads(purpose: str, length: int, *, seed: int, sizes: Sizes, tokens: TokenSource) -> list[list[int]]:
    """One run of ``length`` ids to open each group's prompts with; empty runs where ``length`` is 0."""
    if not length:
        return [[] for _ in range(sizes.groups)]
    return [
        tokens.opened(ids, group, seed)
        for group, ids in enumerate(tokens.draw(purpose, seed, sizes.groups, length))
    ]
