"""No prompt twice in a cold set, unless the traffic is one of repeats.

A set with equal prompts, sent to a server declared cold, measures a cache that the run itself filled. Made-up
workloads have none except where a prompt is asked again on purpose; recorded chats and traces repeat as their
users did.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from radixbench.errors import UsageError
from radixbench.workloads import chats, replay, sampling
from radixbench.workloads.conversation import Turn, Workload

REPEATING = frozenset({sampling.KIND, chats.KIND, replay.KIND})
"""The kinds whose prompts may be equal."""


def duplicates(workload: Workload) -> int:
    """How many scripted prompts equal an earlier one.

    A turn that goes on after the server's own answer has no prompt yet and doesn't count.
    """
    seen: set[bytes] = set()
    count = 0
    for turn in _scripted(workload):
        key = _key(turn)
        count += key in seen
        seen.add(key)
    return count


def refuse_duplicates(workload: Workload) -> None:
    """Raise ``UsageError`` when a cold set of this kind may hold no equal prompts and does."""
    if workload.kind in REPEATING:
        return
    if count := duplicates(workload):
        raise UsageError(
            f"cold set has {count:,} duplicates among its {workload.request_count:,} prompts",
            remedy="ask longer questions or fewer of them",
        )


def _scripted(workload: Workload) -> Iterator[Turn]:
    for conversation in workload.conversations:
        for place, turn in enumerate(conversation.turns):
            if place == 0 or turn.whole_ids is not None:
                yield turn


def _key(turn: Turn) -> bytes:
    ids = turn.user_ids if turn.whole_ids is None else turn.whole_ids
    sha = hashlib.sha256(np.asarray(ids, dtype="<i4").tobytes())
    for message in turn.messages:
        sha.update(f"{message.role} {len(message.text)} {message.text}".encode(errors="surrogatepass"))
    return sha.digest()
