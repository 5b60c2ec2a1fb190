"""Chats: conversations of several turns, grouped under shared system prompts.

Turn k asks with everything said so far, so only its new user tokens are scripted here; whoever plays the
conversation puts the answers the server really gave in between. The first turn opens with the group's
system prompt of ``shared`` tokens. Within a group the first questions differ from their first token on;
with ``shared`` 0 no two conversations share anything. Conversations are shuffled.
"""

from __future__ import annotations

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Conversation, Turn, Workload
from radixbench.workloads.tokens import TokenSource, begin

KIND = "multi-turn"


def multi_turn(
    *,
    shared: int,
    turns: int,
    groups: int,
    prompts_per_group: int,
    question_len: int,
    output_len: int,
    seed: int,
    tokens: TokenSource,
) -> Workload:
    """``groups`` x ``prompts_per_group`` conversations of ``turns`` turns.

    Turn k (from 1) is a prompt of ``shared`` + k x ``question_len`` + (k - 1) x ``output_len`` tokens when
    every answer has the length asked for. Requests are numbered conversation by conversation.
    """
    _refuse_nonsense(shared, turns, groups, prompts_per_group, question_len, output_len)
    count = groups * prompts_per_group
    systems = _systems(shared, groups, seed, tokens)
    questions = _questions(turns, groups, prompts_per_group, question_len, seed, tokens)
    conversations = []
    for index, place in enumerate(tokens.shuffled("shuffle", seed, count)):
        group = place // prompts_per_group
        opening = [] if shared else tokens.opening(place, seed)
        asked = questions[place * turns : (place + 1) * turns]
        asked[0] = systems[group] + begin(asked[0], opening)
        conversations.append(
            Conversation(
                index=index,
                group=group,
                turns=tuple(
                    Turn(prompt=index * turns + turn, user_ids=tuple(ids), output_len=output_len)
                    for turn, ids in enumerate(asked)
                ),
            )
        )
    return Workload(kind=KIND, conversations=tuple(conversations))


def _systems(shared: int, groups: int, seed: int, tokens: TokenSource) -> list[list[int]]:
    """One system prompt per group; empty ones where nothing is shared."""
    if not shared:
        return [[] for _ in range(groups)]
    drawn = tokens.draw("system", seed, groups, shared)
    return [begin(ids, tokens.opening(group, seed)) for group, ids in enumerate(drawn)]


def _questions(
    turns: int, groups: int, prompts_per_group: int, question_len: int, seed: int, tokens: TokenSource
) -> list[list[int]]:
    """The user tokens of every turn, in order [group][conversation][turn]."""
    questions = tokens.draw("question", seed, groups * prompts_per_group * turns, question_len)
    for group in range(groups):
        firsts = tokens.distinct(f"first/{group}", seed, prompts_per_group)
        for place, first in enumerate(firsts, start=group * prompts_per_group):
            questions[place * turns][0] = first
    return questions


def _refuse_nonsense(
    shared: int, turns: int, groups: int, prompts_per_group: int, question_len: int, output_len: int
) -> None:
    if shared < 0:
        raise UsageError(f"a prompt can't share {shared} tokens", remedy="give 0 or more")
    for name, value in (
        ("turns", turns),
        ("groups", groups),
        ("prompts per group", prompts_per_group),
        ("question length", question_len),
        ("output length", output_len),
    ):
        if value < 1:
            raise UsageError(f"{name} of {value} make no workload", remedy="give 1 or more")
