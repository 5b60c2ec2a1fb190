"""One request in flight: its tokens, its KV slots, and how far it has come.

``tokens`` are the prompt, then the outputs. The KV of the first ``cached_len`` of them is computed; the
next step computes some or all of the ``extend_len`` that are left. ``slots`` say where: first the tree's,
shared and locked, then the request's own.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from radixbench.engine.batch import Entry, SamplingParams
from radixbench.engine.node import Node
from radixbench.engine.slots import Room, Run

_NO_SLOTS: NDArray[np.int32] = np.empty(0, dtype=np.int32)


class Req:
    """Mutable. Lengths count tokens; ``shared_len`` and ``owned_len`` are whole pages.

    ``cached_len`` tokens have their KV in ``slots[:cached_len]``. Of these slots the tree owns the first
    ``shared_len``, on the path that ends in ``node``, locked once; the request owns the rest up to
    ``owned_len``, some of which may not be written yet.
    """

    __slots__ = (
        "admitted_ns",
        "cached_len",
        "entry_ns",
        "first_cached_len",
        "first_token_ns",
        "key",
        "length",
        "namespace",
        "node",
        "owned_len",
        "prompt_len",
        "retractions",
        "rid",
        "room",
        "sampling",
        "shared_len",
        "slots",
        "tokens",
    )

    def __init__(
        self,
        key: int,
        rid: str,
        token_ids: tuple[int, ...],
        sampling: SamplingParams,
        *,
        namespace: bytes = b"",
        entry_ns: int = 0,
    ) -> None:
        self.key = key
        self.rid = rid
        self.sampling = sampling
        self.namespace = namespace
        self.prompt_len = self.length = len(token_ids)
        self.tokens = np.empty(self.prompt_len + sampling.max_tokens, dtype=np.int32)
        self.tokens[: self.prompt_len] = np.frombuffer(array("i", token_ids), dtype=np.int32)
        self.entry_ns = entry_ns
        self.admitted_ns: int | None = None
        self.first_token_ns: int | None = None
        self.first_cached_len: int | None = None
        self.retractions = 0
        self.room = Room()
        self.forget()

    def open(self, page_size: int) -> None:
        """Make room to note the slots of the whole request, prompt and all outputs."""
        self.slots = np.empty(-(-len(self.tokens) // page_size) * page_size, dtype=np.int32)

    def forget(self) -> None:
        """Hold no slots: nothing is computed, everything known is still to be."""
        self.cached_len = 0
        self.shared_len = 0
        self.owned_len = 0
        self.node: Node | None = None
        self.slots = _NO_SLOTS

    @property
    def output_len(self) -> int:
        """Tokens generated so far."""
        return self.length - self.prompt_len

    @property
    def remaining_len(self) -> int:
        """Tokens that may still be generated."""
        return self.sampling.max_tokens - self.output_len

    @property
    def extend_len(self) -> int:
        """Known tokens whose KV isn't computed yet: 1 while decoding."""
        return self.length - self.cached_len

    @property
    def match_limit(self) -> int:
        """How many tokens a cache hit may cover: the last one is always computed."""
        return self.length - 1

    @property
    def own_slots(self) -> NDArray[np.int32]:
        """The slots this request alone owns, in whole pages."""
        return self.slots[self.shared_len : self.owned_len]

    def prefix_bytes(self, length: int) -> bytes:
        """The first ``length`` tokens as a key of the tree."""
        return self.tokens[:length].tobytes()

    def hold(self, runs: list[Run]) -> None:
        """Own these slots behind those it has."""
        for start, stop in runs:
            end = self.owned_len + stop - start
            self.slots[self.owned_len : end] = np.arange(start, stop, dtype=np.int32)
            self.owned_len = end

    def hold_page(self, start: int, page_size: int) -> None:
        """Own one more page, the one that begins at slot ``start``."""
        if page_size == 1:
            self.slots[self.owned_len] = start
            self.owned_len += 1
        else:
            self.hold([Run(start, start + page_size)])

    def entry(self, extend_len: int) -> Entry:
        """The part of a step that computes its next ``extend_len`` tokens."""
        cached, end = self.cached_len, self.cached_len + extend_len
        return Entry(
            key=self.key,
            token_ids=self.tokens[cached:end],
            slots=self.slots[:end],
            cached_len=cached,
            wants_token=end == self.length,
            output_index=self.length - self.prompt_len,
            sampling=self.sampling,
        )

    def append(self, token_id: int, now_ns: int) -> str | None:
        """Take a generated token; returns the finish reason if it is the last."""
        self.tokens[self.length] = token_id
        self.length += 1
        if self.first_token_ns is None:
            self.first_token_ns = now_ns
        if not self.sampling.ignore_eos and token_id in self.sampling.stop_token_ids:
            return "stop"
        return "length" if self.output_len >= self.sampling.max_tokens else None
