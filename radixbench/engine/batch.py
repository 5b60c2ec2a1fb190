"""What one step computes: the hand-over from scheduler to runner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radixbench.records import Phase


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are chosen and when a request ends by itself.

    ``temperature`` 0 is greedy. ``top_p`` in (0, 1]. ``seed`` makes sampling a function of the request and
    the output position alone, never of the batch around it. ``stop_token_ids`` end the request
    (finish reason ``stop``) unless ``ignore_eos``. Stop strings need text and so live in the server.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop_token_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One sequence's part of a step.

    ``token_ids`` (int32, ``[extend_len]``) are the tokens to compute, at positions ``cached_len`` onward.
    ``slots`` (int32, ``[cached_len + extend_len]``) are the KV slots of all tokens up to and including
    them; the runner writes K and V of ``token_ids`` to the last ``extend_len`` of these and attends over
    all. Both arrays are views that hold for this step only. ``wants_token`` is false for a prefill chunk that isn't the last.
    ``output_index`` counts this request's output tokens from 0. ``key`` names the request for
    the whole of its life.
    """

    key: int
    token_ids: NDArray[np.int32]
    slots: NDArray[np.int32]
    cached_len: int
    wants_token: bool
    output_index: int
    sampling: SamplingParams

    @property
    def extend_len(self) -> int:
        """How many tokens this step computes for the sequence."""
        return len(self.token_ids)


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's work: all prefill, or all decode (``extend_len`` 1 each)."""

    phase: Phase
    entries: tuple[Entry, ...]

    @property
    def extend_tokens(self) -> int:
        """How many tokens the step computes."""
        return sum(entry.extend_len for entry in self.entries)
