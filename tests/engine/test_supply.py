"""Slots for requests: what is promised, what is evicted, and in which order they give way."""

from __future__ import annotations

import numpy as np

from radixbench.engine.batch import SamplingParams
from radixbench.engine.cache import RadixCache
from radixbench.engine.request import Req
from radixbench.engine.slots import Room, SlotPool
from radixbench.engine.supply import SlotSupply


def scene(evictable: int) -> tuple[SlotPool, SlotSupply, Req]:
    """A request with 100 slots and 400 promised; all others are taken, ``evictable`` of them by the cache."""
    pool = SlotPool(4096)
    cache = RadixCache(pool)
    supply = SlotSupply(pool, cache)
    req = Req(0, "r", tuple(range(1000)), SamplingParams(max_tokens=1))
    req.open(1)
    req.hold(pool.take(req.room, 100, ahead=400))
    req.cached_len = 100
    rest = [slot for start, stop in pool.take(Room(), pool.open) for slot in range(start, stop)]
    cached = np.asarray(rest[:evictable], dtype=np.int32)
    cache.tree.insert(np.arange(5000, 5000 + evictable, dtype=np.int32).tobytes(), cached.tobytes())
    return pool, supply, req


def test_promised_slots_come_before_eviction() -> None:
    """A chunk that fits the request's own room evicts nothing and continues its run."""
    pool, supply, req = scene(evictable=200)
    supply.extend(req, 400)
    assert req.own_slots.tolist() == list(range(500))
    assert (supply.evicted_tokens, pool.free) == (0, 0)


def test_a_chunk_larger_than_its_room_evicts_the_difference() -> None:
    """Own room, what is open and what can be evicted add up, however much was promised before."""
    pool, supply, req = scene(evictable=50)
    assert supply.available == 450
    supply.extend(req, 450)
    assert (req.owned_len, supply.evicted_tokens, pool.free) == (550, 50, 0)
    pool.check()


def test_promises_to_others_are_kept_as_long_as_eviction_helps() -> None:
    """Shortage cuts a promise to a few slots first, then evicts, and voids it only at the end."""
    pool, supply, req = scene(evictable=50)
    other = Req(1, "o", tuple(range(1000)), SamplingParams(max_tokens=1))
    other.open(1)
    supply.extend(other, 300)
    assert (len(req.room), supply.evicted_tokens) == (64, 0)
    other.cached_len = 300
    supply.extend(other, 80)
    assert (len(req.room), supply.evicted_tokens) == (64, 44)
    other.cached_len = 380
    supply.extend(other, 70)
    assert (len(req.room), supply.evicted_tokens, pool.free) == (0, 50, 0)
