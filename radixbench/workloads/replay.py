"""Traces without text: arrival times, lengths, and which blocks of tokens prompts have in common.

Real traffic of a service (Mooncake: blocks of 512 tokens, Bailian: 16), its sharing kept and its text made up.
The ids of a block are fixed by cell, seed and hash id alone, so requests share exactly the leading blocks whose
ids they share, and a cache should find those: at most page-floored, and never a prompt's last token. A block
that opens a prompt begins like no other of any cell or seed; any other two blocks part within two tokens.

A public trace has prompts of 144 million tokens in all, so none is made before it is read, and none is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Conversation, Turn, Workload
from radixbench.workloads.script import at_temperature
from radixbench.workloads.tokens import TokenSource

KIND = "trace"


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One request of a trace: when, how long, and which blocks its prompt is made of.

    ``at_s`` counts from the trace's start. Equal ``hash_ids`` in leading positions mean equal tokens; the last block
    may be partial. ``chat`` and ``parent`` name the conversation and the request before, where the trace does.
    """

    at_s: float
    input_len: int
    output_len: int
    hash_ids: tuple[int, ...]
    chat: str | None = None
    parent: str | None = None


def families(requests: Sequence[TraceRequest]) -> int:
    """How many families a token source needs for a trace: the blocks that open a prompt."""
    return max(1, len(_openers(requests)))


def replay(
    requests: Sequence[TraceRequest],
    *,
    block_size: int,
    tokens: TokenSource,
    seed: int,
    temperature: float = 0.0,
) -> Workload:
    """A conversation of one turn for each request, by arrival; the group is the block that opens it.

    Raises ``UsageError`` for a request whose blocks don't add up to its length, or that asks for nothing.
    """
    if block_size < 1 or not requests:
        raise UsageError(
            f"a trace of {len(requests)} requests in blocks of {block_size} tokens can't be replayed"
        )
    for number, request in enumerate(requests, start=1):
        _check(request, number, block_size)
    openers = _openers(requests)
    blocks = _Blocks(tokens, seed, block_size, openers)
    in_order = sorted(requests, key=lambda request: request.at_s)
    conversations = tuple(
        Conversation(
            index=index,
            group=openers[request.hash_ids[0]],
            turns=(
                Turn(
                    prompt=index,
                    user_ids=(),
                    whole_ids=BlockPrompt(blocks, request.hash_ids, request.input_len),
                    output_len=request.output_len,
                ),
            ),
            due_s=request.at_s,
        )
        for index, request in enumerate(in_order)
    )
    return at_temperature(Workload(kind=KIND, conversations=conversations), temperature, seed=seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The ids of every block of a trace; ``openers`` number those that open a prompt."""

    tokens: TokenSource
    seed: int
    size: int
    openers: dict[int, int]

    def ids(self, hash_ids: Sequence[int]) -> NDArray[np.int32]:
        """Whole blocks, one after the other. Blocks of consecutive ids are one run of the stream."""
        made = np.empty(len(hash_ids) * self.size, dtype=np.int32)
        start = 0
        for at in range(1, len(hash_ids) + 1):
            if at < len(hash_ids) and hash_ids[at] == hash_ids[at - 1] + 1:
                continue
            made[start * self.size : at * self.size] = self.tokens.run(
                "block", self.seed, (at - start) * self.size, start=hash_ids[start] * self.size
            )
            start = at
        for at, hash_id in enumerate(hash_ids):
            begin = self._begin(hash_id)
            made[at * self.size : at * self.size + len(begin)] = begin
        return made

    def _begin(self, hash_id: int) -> list[int]:
        opener = self.openers.get(hash_id)
        ids = self.tokens.label(hash_id) if opener is None else self.tokens.opening(opener, self.seed)
        return ids[: self.size]


@dataclass(frozen=True, slots=True, eq=False)
class BlockPrompt(Sequence[int]):
    """A trace's prompt: ids made whenever they are read, and not kept."""

    blocks: _Blocks = field(repr=False)
    hash_ids: tuple[int, ...]
    length: int

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        ids: list[int] = self.__array__().tolist()
        return iter(ids)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[np.int32]:
        """All ids at once, for numpy; always a new array."""
        if copy is False:
            raise ValueError("a prompt that is made when it is read can't be had without a copy")
        ids = self.blocks.ids(self.hash_ids)[: self.length]
        return ids if dtype is None else ids.astype(dtype, copy=False)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self.__array__()[index].tolist())
        block, place = divmod(range(self.length)[index], self.blocks.size)
        return int(self.blocks.ids(self.hash_ids[block : block + 1])[place])


def _openers(requests: Sequence[TraceRequest]) -> dict[int, int]:
    """The blocks that open a prompt, numbered as they are first met."""
    firsts = dict.fromkeys(request.hash_ids[0] for request in requests if request.hash_ids)
    return {hash_id: number for number, hash_id in enumerate(firsts)}


def _check(request: TraceRequest, number: int, block_size: int) -> None:
    blocks = -(-request.input_len // block_size)
    if request.input_len < 1 or blocks != len(request.hash_ids):
        raise UsageError(
            f"request {number} of the trace has {request.input_len} tokens and {len(request.hash_ids)} blocks of"
            f" {block_size}, where {max(blocks, 1)} would hold them",
            remedy="see whether the trace's blocks are of another size",
        )
    if request.output_len < 1 or not request.at_s >= 0:
        raise UsageError(
            f"request {number} of the trace asks for {request.output_len} tokens at {request.at_s} s",
            remedy="leave out what failed, and count times from the trace's start",
        )
