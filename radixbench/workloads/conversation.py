"""What is asked: conversations of turns, as exact token ids.

A prompt of turn k is everything said so far: earlier prompts, the answers the server gave, and
the new user tokens. A single-turn workload is conversations of one turn.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Turn:
    """New user tokens and how many output tokens to ask for. ``prompt`` numbers the run's requests."""

    prompt: int
    user_ids: tuple[int, ...]
    output_len: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that belong together, played in order by one client; ``group`` shares a prefix."""

    index: int
    group: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """Conversations in the order they are started.

    ``digest`` identifies the script (all user token ids, output lengths and their order), so that two
    captures can prove they asked the same.
    """

    kind: str
    conversations: tuple[Conversation, ...]

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
        return sha.hexdigest()
