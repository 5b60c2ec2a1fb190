"""Token sequences against the engine's own tree: how much of each prompt an earlier request left behind.

All caches asked for watch the same requests in one pass, so sequences may be made as they are needed and memory
holds the trees alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from radixbench.errors import UsageError
from radixbench.simulation.hit_row import HitRow, HitSum
from radixbench.simulation.prefix_cache import PrefixCache
from radixbench.units import Tokens


@dataclass(frozen=True, slots=True)
class CacheSize:
    """A page size and a capacity, both in tokens; ``None`` never runs out."""

    page_size: int
    capacity: Tokens | None = None

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise UsageError(f"a page of {self.page_size} tokens", remedy="a page has at least 1")
        if self.capacity is not None and self.capacity < self.page_size:
            raise UsageError(
                f"a capacity of {self.capacity} tokens is less than one page of {self.page_size}",
                remedy="raise the capacity or lower the page size",
            )


class Ask(NamedTuple):
    """One request: ``ids`` (int32 as bytes) are its prompt and what else it leaves in the cache."""

    ids: bytes
    prompt_len: Tokens


def token_hits(asks: Iterable[Ask], sizes: Sequence[CacheSize]) -> tuple[HitRow, ...]:
    """What each cache gives for ``asks`` in their order."""
    caches = [PrefixCache(size.page_size, size.capacity) for size in sizes]
    sums = [HitSum(size.page_size, size.capacity) for size in sizes]
    for ask in asks:
        tokens = len(ask.ids) // 4
        for cache, total in zip(caches, sums, strict=True):
            room = -(-tokens // total.page_size) * total.page_size
            served = cache.serve(ask.ids, limit=max(0, ask.prompt_len - 1), room=room)
            if served is None:
                total.skipped += 1
            else:
                total.add(ask.prompt_len, served.cached)
    for cache, total in zip(caches, sums, strict=True):
        total.evicted_tokens = cache.evicted
    return tuple(total.row() for total in sums)
