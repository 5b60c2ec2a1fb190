"""The socket for whatever computes a batch, and its scripted plug.

A real model (``model.runner``) and ``ScriptedRunner`` fit the same socket, so that the whole chain
from HTTP to report runs in seconds, deterministically, with the real scheduler and the real tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from radixbench.clock import Clock
from radixbench.engine.batch import Batch, Entry


class Runner(Protocol):
    """Computes batches over KV slots that it owns."""

    def run(self, batch: Batch) -> Sequence[int | None]:
        """Compute one batch; for each entry the next token id, or ``None`` where none is wanted."""
        ...


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a scripted step costs, in nanoseconds: a fixed part and a part per computed token."""

    prefill_base_ns: int = 1_000_000
    prefill_token_ns: int = 20_000
    decode_base_ns: int = 2_000_000
    decode_token_ns: int = 100_000

    def of(self, batch: Batch) -> int:
        """The time ``batch`` takes."""
        if batch.phase == "prefill":
            return self.prefill_base_ns + self.prefill_token_ns * batch.extend_tokens
        return self.decode_base_ns + self.decode_token_ns * batch.extend_tokens


class ScriptedRunner:
    """Lets scripted time pass and yields tokens that depend on the whole context.

    Each slot remembers a checksum of all tokens up to its own, so that a wrong slot, a lost one or a
    reused one changes the output just as a real model's would.
    """

    def __init__(
        self, *, clock: Clock, pool_slots: int, vocab_size: int, cost: StepCost | None = None
    ) -> None:
        self._clock = clock
        self._cost = cost or StepCost()
        self._vocab_size = vocab_size
        self._checksums = np.zeros(pool_slots, dtype=np.uint64)

    def run(self, batch: Batch) -> list[int | None]:
        self._clock.sleep_ns(self._cost.of(batch))
        return [self._compute(entry) for entry in batch.entries]

    def _compute(self, entry: Entry) -> int | None:
        checksum = int(self._checksums[entry.slots[entry.cached_len - 1]]) if entry.cached_len else 0
        for token, slot in zip(entry.token_ids, entry.slots[entry.cached_len :], strict=True):
            checksum = (checksum * 6364136223846793005 + int(token) + 1442695040888963407) % 2**64
            self._checksums[slot] = checksum
        return (checksum >> 33) % self._vocab_size if entry.wants_token else None
