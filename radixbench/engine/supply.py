"""Slots for requests: free ones, and those the cache gives up when asked.

When slots are short, evicting one at a time would hand the tail of a cached prefix to all decoding
requests in turn, and leave each with its tokens scattered. So a little more is evicted than the
moment needs, and promises are kept that far: what a request will come back for within its next
``EVICT_AHEAD`` tokens. Promised slots still count as available, and are used before anyone must wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from radixbench.engine.cache import PrefixCache
from radixbench.engine.request import Req
from radixbench.engine.slots import Room, SlotPool

EVICT_AHEAD: Final = 64
ROOM_TOKENS: Final = 512
"""Slots promised to a request's output behind its prompt: long runs, without crowding the rest."""


class SlotSupply:
    """Allocates to requests; evicts only on shortage, and counts what that cost the cache."""

    def __init__(self, pool: SlotPool, cache: PrefixCache) -> None:
        self.evicted_tokens = 0
        self._pool = pool
        self._cache = cache

    @property
    def available(self) -> int:
        """Slots that can be had now, by eviction if need be."""
        return self._pool.free + self._cache.evictable

    @property
    def used(self) -> int:
        """Slots that can't be had: those of requests, and of the cached prefixes they stand on."""
        return self._pool.size - self.available

    def extend(self, req: Req, chunk: int) -> None:
        """Let ``req`` own slots for its next ``chunk`` tokens; at most ``available``.

        Behind them, room for the rest of the prompt and for the output is promised.
        """
        page = self._pool.page_size
        count = -(-(req.cached_len + chunk) // page) * page - req.owned_len
        if count > 0:
            output = _future_len(req)
            self._free_up(count, req.room, min(output, EVICT_AHEAD))
            self._take(req, count, req.extend_len - chunk + min(output, ROOM_TOKENS))

    def extend_decoding(self, requests: Sequence[Req]) -> None:
        """Let each of ``requests`` own a slot for its next token; ``decode_need`` must be available."""
        page = self._pool.page_size
        outside: list[Req] = []
        for req in requests:
            if req.cached_len == req.owned_len:
                start = self._pool.take_page(req.room)
                if start is None:
                    outside.append(req)
                else:
                    req.hold_page(start, page)
        if outside:
            ahead = sum([min(_future_len(req), EVICT_AHEAD) for req in outside])
            self._free_up(page * len(outside), outside[0].room, ahead)
            for req in outside:
                self._take(req, page, min(_future_len(req), ROOM_TOKENS))

    def decode_need(self, requests: Sequence[Req]) -> int:
        """Slots, in whole pages, that ``requests`` need to decode one token each."""
        return self._pool.page_size * sum([req.cached_len == req.owned_len for req in requests])

    def _free_up(self, slots: int, room: Room, ahead: int) -> None:
        """Have ``slots`` in ``room`` or open; if that takes an eviction, ``ahead`` more, as far as they go."""
        pool = self._pool
        if slots > pool.open + len(room):
            pool.recall(EVICT_AHEAD)
            short = slots - pool.open - len(room)
            if short > 0:
                self.evicted_tokens += self._cache.evict(short + ahead)

    def _take(self, req: Req, count: int, ahead: int) -> None:
        after = int(req.slots[req.owned_len - 1]) if req.owned_len else None
        req.hold(self._pool.take(req.room, count, ahead, after))


def _future_len(req: Req) -> int:
    """Output tokens that will need a slot; the last one never does."""
    return req.remaining_len - 1
