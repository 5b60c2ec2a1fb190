"""What a request may reuse and what it leaves behind: with a radix tree, or nothing at all.

One interface, two implementations. Turning the cache off is ``NoCache``: scheduler, pool and runner
are the same, which is what makes the two arms of a comparison comparable. A cache answers for
slots: after each call every slot of a request is either the request's own or on its locked path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from radixbench.engine.audit import Holding, Lock, check_tree
from radixbench.engine.radix import RadixTree
from radixbench.engine.request import Req
from radixbench.engine.slots import SlotPool


class PrefixCache(Protocol):
    """Moves slots between requests, cache and pool."""

    @property
    def evictable(self) -> int:
        """Slots that ``evict`` could free now."""
        ...

    def probe(self, req: Req) -> int:
        """How many leading tokens of ``req`` are cached; counts as a use of them."""
        ...

    def attach(self, req: Req) -> None:
        """Give a request that was just opened its cached prefix, locked; ``cached_len`` is its length.

        Never covers the last known token: a step must compute something to have a next token.
        """
        ...

    def checkpoint(self, req: Req) -> None:
        """Keep the computed tokens of a running request for others, in whole pages."""
        ...

    def retire(self, req: Req) -> None:
        """Keep the computed tokens of a finished request and take all its slots."""
        ...

    def release(self, req: Req) -> None:
        """Take all slots of a request; nothing it hasn't checkpointed is kept."""
        ...

    def evict(self, tokens: int) -> int:
        """Free at least ``tokens`` slots if that many are evictable; returns how many were."""
        ...

    def reset(self) -> None:
        """Forget everything, for a pool that is reset too."""
        ...

    def holdings(self) -> Iterator[Holding]:
        """What the cache owns, for the audit."""
        ...

    def check(self, requests: list[Req]) -> None:
        """Audit the cache's own invariants against the requests that hold slots."""
        ...


class RadixCache:
    """Prefixes live in a radix tree and in the same pool as running tokens.

    When two requests computed the same tokens, the first to enter owns them: the second's duplicates
    go back to the pool and the second is pointed at the first's slots.
    """

    def __init__(self, pool: SlotPool) -> None:
        self._pool = pool
        self.tree = RadixTree(pool.page_size)

    @property
    def evictable(self) -> int:
        return self.tree.evictable

    def probe(self, req: Req) -> int:
        return self.tree.match_prefix(req.prefix_bytes(req.match_limit), req.namespace).length

    def attach(self, req: Req) -> None:
        match = self.tree.match_prefix(req.prefix_bytes(req.match_limit), req.namespace)
        self.tree.lock(match.node)
        req.node = match.node
        req.cached_len = req.shared_len = req.owned_len = match.length
        req.slots[: match.length] = self.tree.slots_of(match.node)

    def checkpoint(self, req: Req) -> None:
        end = req.cached_len - req.cached_len % self._pool.page_size
        if end <= req.shared_len:
            return
        tree, node = self.tree, req.node
        added = req.slots[req.shared_len : end]
        inserted = tree.insert(req.prefix_bytes(end), added.tobytes(), req.namespace, node)
        if inserted.existing > req.shared_len:
            self._pool.give_back(req.slots[req.shared_len : inserted.existing].copy())
            req.slots[:end] = tree.slots_of(inserted.node)
        if inserted.node is not node:
            tree.lock(inserted.node)
            if node is not None:
                tree.unlock(node)
            req.node = inserted.node
        req.shared_len = end

    def retire(self, req: Req) -> None:
        self.checkpoint(req)
        self.release(req)

    def release(self, req: Req) -> None:
        if req.node is not None:
            self.tree.unlock(req.node)
        self._pool.close(req.room)
        self._pool.give_back(req.own_slots)
        req.forget()

    def evict(self, tokens: int) -> int:
        freed = self.tree.evict(tokens)
        self._pool.give_back(freed)
        return len(freed)

    def reset(self) -> None:
        self.tree.reset()

    def holdings(self) -> Iterator[Holding]:
        for node in self.tree.nodes():
            yield Holding(repr(node), np.frombuffer(node.slots, dtype=np.int32))

    def check(self, requests: list[Req]) -> None:
        check_tree(self.tree, [Lock(f"request {req.rid}", req.node, req.shared_len) for req in requests])


class NoCache:
    """Matches nothing, keeps nothing."""

    def __init__(self, pool: SlotPool) -> None:
        self._pool = pool

    @property
    def evictable(self) -> int:
        return 0

    def probe(self, req: Req) -> int:  # noqa: ARG002 - the interface asks for it
        return 0

    def attach(self, req: Req) -> None:
        pass

    def checkpoint(self, req: Req) -> None:
        pass

    def retire(self, req: Req) -> None:
        self.release(req)

    def release(self, req: Req) -> None:
        self._pool.close(req.room)
        self._pool.give_back(req.own_slots)
        req.forget()

    def evict(self, tokens: int) -> int:  # noqa: ARG002 - the interface asks for it
        return 0

    def reset(self) -> None:
        pass

    def holdings(self) -> Iterator[Holding]:
        yield from ()

    def check(self, requests: list[Req]) -> None:
        for req in requests:
            assert req.node is None, f"request {req.rid} holds a tree node without a tree"
