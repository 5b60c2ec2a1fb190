"""What an unlimited cache would reuse of a workload that nobody has played yet.

The workload is played against the engine's own tree, request by request and conversation by conversation, with
made-up answers that no prompt repeats by chance. So the count is exact for any kind, but for first
arrivals that race in reality: here each finds what all before it left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from radixbench.engine.node import TOKEN_BYTES
from radixbench.engine.radix import RadixTree
from radixbench.scenario.model import CacheState
from radixbench.units import Tokens
from radixbench.workloads.conversation import Conversation, TokenIds, Turn
from radixbench.workloads.replay import BlockPrompt


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: ``cached`` of its ``prompt`` tokens are found, ``output`` are asked for."""

    prompt: Tokens
    cached: Tokens
    output: Tokens


class Reuse(NamedTuple):
    """All requests, and how many tokens the cache holds in the end."""

    asks: tuple[Ask, ...]
    kept: Tokens


def reuse(
    conversations: Iterable[Conversation],
    prefixes: Iterable[TokenIds],
    *,
    page_size: int,
    state: CacheState = "cold",
) -> Reuse:
    """Every request in the order of its conversation, with what the cache holds of it.

    ``primed`` starts with ``prefixes`` in the cache, ``warm`` with the whole workload played once. Turns that bring
    messages can't be counted: nothing here renders them.
    """
    played = list(conversations)
    of_blocks = any(isinstance(turn.whole_ids, BlockPrompt) for talk in played for turn in talk.turns)
    cache = _BlockCache(page_size) if of_blocks else _Cache(page_size)
    if state == "primed":
        for prefix in prefixes:
            cache.keep(_key(prefix))
    if state == "warm":
        cache.play(played)
    return Reuse(tuple(cache.play(played)), cache.kept)


class _Cache:
    """A tree that never evicts."""

    def __init__(self, page_size: int) -> None:
        self._tree = RadixTree(page_size)
        self._made_up = 0

    def keep(self, key: bytes) -> None:
        """Put a run of tokens into the tree; slots are of no interest here."""
        self._tree.insert(key, bytes(len(key)))

    @property
    def kept(self) -> Tokens:
        """Tokens in the tree."""
        return self._tree.evictable

    def play(self, conversations: Iterable[Conversation]) -> list[Ask]:
        """Ask everything; what was asked before this is cached, what is asked now will be."""
        return [ask for conversation in conversations for ask in self._turns(conversation)]

    def _turns(self, conversation: Conversation) -> Iterator[Ask]:
        said = b""
        for turn in conversation.turns:
            prompt = _prompt(turn, said)
            length = len(prompt) // TOKEN_BYTES
            cached = self._tree.match_prefix(prompt, limit=length - 1).length
            said = prompt + self._answer(turn.output_len)
            self.keep(said[:-TOKEN_BYTES])
            yield Ask(length, cached, turn.output_len)

    def _answer(self, length: Tokens) -> bytes:
        """Ids below 0, which no vocabulary has, each used once."""
        first = self._made_up + 1
        self._made_up += length
        return _key(range(-first, -first - length, -1))


class _BlockCache(_Cache):
    """The same for a trace's prompts, whose blocks stand for their tokens: none of them is made."""

    def __init__(self, page_size: int) -> None:
        super().__init__(page_size=1)
        self._page_size = page_size
        self._numbers: dict[int, int] = {}
        self._block = 0

    @property
    def kept(self) -> Tokens:
        """Tokens of all blocks in the tree, each counted as a whole one."""
        return self._tree.evictable * self._block

    def _turns(self, conversation: Conversation) -> Iterator[Ask]:
        for turn in conversation.turns:
            prompt = turn.whole_ids
            assert isinstance(prompt, BlockPrompt)
            self._block = prompt.blocks.size
            blocks = _key([self._numbers.setdefault(it, len(self._numbers)) for it in prompt.hash_ids])
            found = self._tree.match_prefix(blocks).length * self._block
            cached = min(found, prompt.length - 1)
            self.keep(blocks)
            yield Ask(prompt.length, cached - cached % self._page_size, turn.output_len)


def _key(ids: TokenIds) -> bytes:
    return np.asarray(ids, dtype=np.int32).tobytes()


def _prompt(turn: Turn, said: bytes) -> bytes:
    if turn.whole_ids is not None:
        return _key(turn.whole_ids)
    if turn.messages:
        raise ValueError("messages have to be rendered before their tokens can be counted")
    return said + _key(turn.user_ids)
