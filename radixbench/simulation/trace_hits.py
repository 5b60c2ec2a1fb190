"""Traces of hash ids against the engine's own tree, without making the tokens they stand for.

Tokens of a block always stand together, so the tree works in units of several tokens, and finds what it would find
token by token:

- without an end to the capacity, one unit is one block. The longest prefix shared with an earlier prompt, in
  tokens, is then known; whatever the page size, a tree of tokens finds it rounded down to pages, since every
  earlier prompt is kept down to its last whole page, at or beyond that point.
- with a capacity, one unit is the greatest common divisor of page and block. Everything such a tree does (match,
  split, keep, evict) is in whole pages, and a page is a whole number of units, each within one block.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from radixbench.simulation.hit_row import HitRow, HitSum
from radixbench.simulation.hits import CacheSize
from radixbench.simulation.prefix_cache import PrefixCache
from radixbench.workloads.replay import TraceRequest


def trace_hits(
    requests: Iterable[TraceRequest], *, block_size: int, sizes: Sequence[CacheSize]
) -> tuple[HitRow, ...]:
    """What each cache gives for the prompts of ``requests`` in their order; answers leave nothing."""
    numbers: dict[int, int] = {}
    endless = _Endless(block_size, [size for size in sizes if size.capacity is None])
    bounded = [_Bounded(block_size, size) for size in sizes if size.capacity is not None]
    for request in requests:
        ids = np.fromiter((numbers.setdefault(one, len(numbers)) for one in request.hash_ids), dtype=np.int32)
        endless.take(request, ids)
        for cache in bounded:
            cache.take(request, ids)
    without_end, with_end = iter(endless.sums), iter(bounded)
    sums = [next(without_end) if size.capacity is None else next(with_end).finished() for size in sizes]
    return tuple(total.row(with_blocks=True) for total in sums)


class _Endless:
    """One tree of blocks for all page sizes."""

    def __init__(self, block_size: int, sizes: Sequence[CacheSize]) -> None:
        self._block = block_size
        self._cache = PrefixCache(page_size=1)
        self.sums = [HitSum(size.page_size, None) for size in sizes]

    def take(self, request: TraceRequest, ids: NDArray[np.int32]) -> None:
        if not self.sums:
            return
        served = self._cache.serve(ids.tobytes(), limit=len(ids), room=len(ids))
        assert served is not None, "a cache without an end has room for everything"
        shared = min(served.cached * self._block, request.input_len)
        for total in self.sums:
            page = total.page_size
            total.add(request.input_len, min(shared, request.input_len - 1) // page * page)
            _add_blocks(total, request, shared // page * page, self._block)


class _Bounded:
    """A tree of units of its own, for one page size and capacity."""

    def __init__(self, block_size: int, size: CacheSize) -> None:
        assert size.capacity is not None, "without a capacity nothing is ever evicted"
        self._block = block_size
        self._unit = math.gcd(block_size, size.page_size)
        self._cache = PrefixCache(size.page_size // self._unit, size.capacity // self._unit)
        self._total = HitSum(size.page_size, size.capacity)

    def take(self, request: TraceRequest, ids: NDArray[np.int32]) -> None:
        unit, page, total = self._unit, self._total.page_size, self._total
        key = np.repeat(ids, self._block // unit)[: request.input_len // unit]
        room = -(-request.input_len // page) * page // unit
        served = self._cache.serve(key.tobytes(), limit=(request.input_len - 1) // unit, room=room)
        if served is None:
            total.skipped += 1
            return
        total.add(request.input_len, served.cached * unit)
        _add_blocks(total, request, served.known * unit, self._block)

    def finished(self) -> HitSum:
        """The sums, with what was evicted."""
        self._total.evicted_tokens = self._cache.evicted * self._unit
        return self._total


def _add_blocks(total: HitSum, request: TraceRequest, known: int, block_size: int) -> None:
    """Whole blocks among the leading ``known`` tokens; a partial last one is whole with the prompt."""
    total.blocks += len(request.hash_ids)
    total.cached_blocks += len(request.hash_ids) if known == request.input_len else known // block_size
