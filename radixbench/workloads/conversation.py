"""What is asked: conversations of turns, as exact token ids.

A prompt of turn k is everything said so far: earlier prompts, the answers, and the new user tokens. A
single-turn workload is conversations of one turn. Where the history holds recorded answers each turn brings
its whole prompt; where it holds the server's text encoded anew, each turn brings messages, and whoever
plays it renders them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

TokenIds: TypeAlias = Sequence[int]
"""Ids as any sequence: a tuple, or one that makes its ids when they are read (a trace's prompts)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat: ``role`` is ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    text: str


Render: TypeAlias = Callable[[Sequence[Message]], tuple[int, ...]]
"""A chat as the model's template renders it, ready for the next answer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: how its prompt comes about, and how many output tokens to ask for.

    ``prompt`` numbers the run's requests. Exactly one of the three holds: ``whole_ids`` is the whole prompt;
    or ``messages`` are the new messages, rendered together with all before; or ``user_ids`` follow the history
    (earlier prompt and the answer the server gave). ``delay_s`` passes after the answer before.
    ``temperature`` 0 is greedy; above it ``seed`` is sent along.
    """

    prompt: int
    user_ids: TokenIds
    output_len: int
    whole_ids: TokenIds | None = None
    messages: tuple[Message, ...] = ()
    delay_s: float = 0.0
    temperature: float = 0.0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that belong together, played in order by one client; ``group`` shares a prefix.

    ``due_s`` is when its first turn is to be sent, in seconds from the start, where the workload itself says so
    (a trace).
    """

    index: int
    group: int
    turns: tuple[Turn, ...]
    due_s: float | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """Conversations in the order they are started.

    ``prefixes`` are the prompts that put every prefix shared on purpose into a cache: what priming sends.
    ``digest`` identifies the script (all token ids, messages, output lengths and their order), so that two
    captures can prove they asked the same.
    """

    kind: str
    conversations: tuple[Conversation, ...]
    prefixes: tuple[TokenIds, ...] = ()

    @property
    def request_count(self) -> int:
        """How many requests the workload sends."""
        return sum(len(conversation.turns) for conversation in self.conversations)

    @property
    def digest(self) -> str:
        """SHA-256 over the script, in hex."""
        sha = hashlib.sha256(self.kind.encode())
        for conversation in self.conversations:
            for turn in conversation.turns:
                header = (
                    conversation.index,
                    conversation.group,
                    turn.prompt,
                    turn.output_len,
                    len(turn.user_ids),
                )
                sha.update(np.asarray(header, dtype="<i8").tobytes())
                sha.update(np.asarray(turn.user_ids, dtype="<i4").tobytes())
                _further(sha, conversation, turn)
        return sha.hexdigest()


def _further(sha: hashlib._Hash, conversation: Conversation, turn: Turn) -> None:
    """What only some workloads have; one without it keeps its digest."""
    if turn.whole_ids is not None:
        sha.update(b"whole" + np.asarray(turn.whole_ids, dtype="<i4").tobytes())
    for message in turn.messages:
        sha.update(
            f"message {message.role} {len(message.text)} {message.text}".encode(errors="surrogatepass")
        )
    timing = (turn.delay_s, turn.temperature, turn.seed, conversation.due_s)
    if timing != (0.0, 0.0, None, None):
        sha.update(repr(timing).encode())
