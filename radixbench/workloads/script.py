"""From what users say to conversations in the order they start.

Generators make talks, group by group; here they are shuffled, numbered and given what all kinds have
alike: the output length, think time, temperature, and answers made up beforehand where the history is a
recorded one.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Conversation, TokenIds, Turn, Workload
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource, request_seeds


@dataclass(frozen=True, slots=True)
class Talk:
    """What one user says, turn by turn; the first turn holds the whole opening prompt."""

    group: int
    asked: tuple[tuple[int, ...], ...]


def script(
    kind: str,
    talks: Sequence[Talk],
    sizes: Sizes,
    *,
    seed: int,
    tokens: TokenSource,
    prefixes: Sequence[TokenIds] = (),
) -> Workload:
    """``talks`` in an order fixed by ``seed``; requests are numbered conversation by conversation."""
    if sizes.history == "retokenized":
        raise UsageError(
            f"{kind} asks in token ids, which no text can be encoded to anew",
            remedy="use history live or recorded, or a file of conversations",
        )
    conversations: list[Conversation] = []
    prompt = 0
    for index, place in enumerate(tokens.shuffled("shuffle", seed, len(talks))):
        talk = talks[place]
        turns = (
            _recorded(talk, place, sizes, seed, tokens) if sizes.history == "recorded" else _live(talk, sizes)
        )
        numbered = tuple(replace(turn, prompt=prompt + turn.prompt) for turn in turns)
        conversations.append(Conversation(index=index, group=talk.group, turns=numbered))
        prompt += len(turns)
    workload = Workload(kind=kind, conversations=tuple(conversations), prefixes=tuple(prefixes))
    return at_temperature(workload, 0.0 if sizes.temperature is None else sizes.temperature, seed=seed)


def at_temperature(workload: Workload, temperature: float, *, seed: int) -> Workload:
    """``workload`` sampled at ``temperature``, each request with a seed of its own; 0 leaves it greedy."""
    if not temperature:
        return workload
    seeds = iter(request_seeds(seed, workload.request_count))
    conversations = tuple(
        replace(
            conversation,
            turns=tuple(
                replace(turn, temperature=temperature, seed=next(seeds)) for turn in conversation.turns
            ),
        )
        for conversation in workload.conversations
    )
    return replace(workload, conversations=conversations)


def _live(talk: Talk, sizes: Sizes) -> list[Turn]:
    return [
        Turn(prompt=at, user_ids=ids, output_len=sizes.output_len, delay_s=_delay(at, sizes))
        for at, ids in enumerate(talk.asked)
    ]


def _recorded(talk: Talk, place: int, sizes: Sizes, seed: int, tokens: TokenSource) -> list[Turn]:
    """Every turn with its whole prompt: leading parts of one run of ids, which isn't copied."""
    answers = tokens.draw(f"answer/{place}", seed, len(talk.asked) - 1, sizes.output_len)
    whole = array("i", talk.asked[0])
    ends = [len(whole)]
    for answer, asked in zip(answers, talk.asked[1:], strict=True):
        whole.extend(answer)
        whole.extend(asked)
        ends.append(len(whole))
    said = memoryview(whole).toreadonly()
    return [
        Turn(
            prompt=at,
            user_ids=(),
            whole_ids=said[:end],
            output_len=sizes.output_len,
            delay_s=_delay(at, sizes),
        )
        for at, end in enumerate(ends)
    ]


def _delay(at: int, sizes: Sizes) -> float:
    return sizes.think_time_s if at else 0.0
