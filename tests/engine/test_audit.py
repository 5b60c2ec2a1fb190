"""Faults put in on purpose: the audit finds each and names what is wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from radixbench.engine.audit import AuditError, Holding, check_ownership
from radixbench.engine.cache import RadixCache
from radixbench.engine.engine import Engine
from tests.engine.drive import Drive


def busy() -> Engine:
    """An engine with two requests decoding on a common prefix and something evictable."""
    drive = Drive(pool=128)
    drive.ask("old", range(500, 520), 1)
    for rid in ("a", "b"):
        drive.add(rid, [*range(20), ord(rid)], 20)
        drive.step()
    drive.step()
    return drive.engine


def cache_of(engine: Engine) -> RadixCache:
    """The engine's cache, which is a radix cache."""
    assert isinstance(engine._cache, RadixCache)
    return engine._cache


def free_twice(engine: Engine) -> None:
    engine._pool.give_back(engine._scheduler.running[0].own_slots[:1].copy())


def lose_a_slot(engine: Engine) -> None:
    engine._scheduler.running[0].owned_len -= 1


def share_a_slot(engine: Engine) -> None:
    first, second = engine._scheduler.running
    first.slots[first.owned_len - 1] = second.slots[second.owned_len - 1]


def forget_a_lock(engine: Engine) -> None:
    node = engine._scheduler.running[0].node
    assert node is not None
    cache_of(engine).tree.unlock(node)


def miscount(engine: Engine) -> None:
    cache_of(engine).tree._evictable += 4


def break_a_link(engine: Engine) -> None:
    node = next(iter(cache_of(engine).tree.root.children.values()))
    node.name = b"nobody"


def lose_a_leaf(engine: Engine) -> None:
    cache_of(engine).tree._order.pop()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (free_twice, r"slot \d+ has 2 owners: the free list, request a"),
        (lose_a_slot, r"slot \d+ has 0 owners: nobody"),
        (share_a_slot, r"slot \d+ has \d owners"),
        (forget_a_lock, r"pins instead of 1"),
        (miscount, r"counts 2\d evictable"),
        (break_a_link, r"not linked"),
        (lose_a_leaf, r"eviction would never find"),
    ],
)
def test_an_injected_fault_is_found(fault: Callable[[Engine], None], words: str) -> None:
    """A sound engine passes; the same engine with one fault doesn't."""
    engine = busy()
    engine.audit()
    fault(engine)
    with pytest.raises(AuditError, match=words):
        engine.audit()


def test_slots_outside_the_pool_are_found() -> None:
    """A slot number the pool doesn't have is named with its owner."""
    with pytest.raises(AuditError, match="request x holds a slot outside the pool of 2"):
        check_ownership(2, [Holding("request x", np.asarray([2], dtype=np.int32))])
