"""The mock's cache: prefixes in the engine's own radix tree, counted and dropped as a real server does.

A prompt enters when its first token leaves, its answer (less the last token) at the end; a request that is
cut off leaves nothing more. Two requests that come in together therefore both miss, as in SGLang and vLLM. A match
never covers the whole prompt. Only what is cached counts against the capacity; what can't be
made room for, since all is in use, isn't kept.
"""

from __future__ import annotations

from typing import NamedTuple

from radixbench.engine.node import TOKEN_BYTES, Node
from radixbench.engine.radix import RadixTree
from radixbench.mock.settings import CacheSettings


class Found(NamedTuple):
    """Cached tokens of one prompt by tier: in the first, and only in the outer one."""

    device: int
    outer: int

    @property
    def total(self) -> int:
        """Tokens that need no computing."""
        return self.device + self.outer


class CacheModel:
    """What the mock has cached. Mutable; one per server.

    ``evicted_tokens`` counts what was dropped for want of room, ``leases`` requests under way.
    """

    def __init__(self, settings: CacheSettings) -> None:
        self._settings = settings
        self._device = RadixTree(settings.page_size)
        self._outer = RadixTree(settings.page_size)
        self._prewarmed = settings.prewarmed_tokens
        self._seen: set[tuple[bytes, bytes]] = set()
        self.evicted_tokens = 0
        self.leases = 0

    @property
    def held_tokens(self) -> int:
        """Tokens in the first tier."""
        return self._device.evictable + self._device.protected

    def admit(self, prompt: bytes, namespace: str, *, reuse: bool = True) -> Lease:
        """Look a prompt up and protect what was found until the lease ends; without ``reuse`` nothing is."""
        return Lease(self, prompt, namespace.encode() if self._settings.honours_salt else b"", reuse=reuse)

    def flush(self, *, device: bool = True, outer: bool = False) -> bool:
        """Forget what these tiers hold; nothing and ``False`` while requests are under way."""
        if self.leases:
            return False
        if device:
            self._device.reset()
        if outer or not self._settings.outer_tier:
            self._outer.reset()
            self._prewarmed = 0
            self._seen.clear()
        return True

    def find(self, prompt: bytes, namespace: bytes, *, reuse: bool) -> tuple[Node, Found]:
        """The longest cached prefix, locked, and its length by tier."""
        limit = len(prompt) // TOKEN_BYTES - 1
        if not (self._settings.enabled and reuse and self._looks_for(prompt, namespace)) or limit < 1:
            return self._device.root, Found(0, 0)
        match = self._device.match_prefix(prompt, namespace, limit)
        self._device.lock(match.node)
        warm = min(self._prewarmed, limit) // self._settings.page_size * self._settings.page_size
        device = match.length if self._settings.outer_tier else max(match.length, warm)
        if not self._settings.outer_tier:
            return match.node, Found(device, 0)
        outer = max(self._outer.match_prefix(prompt, namespace, limit).length, warm)
        return match.node, Found(device, max(outer - device, 0))

    def _looks_for(self, prompt: bytes, namespace: bytes) -> bool:
        """Whether prompts of this kind are ever found: repeats, or what isn't one."""
        finds = self._settings.finds
        return finds == "all" or (finds == "repeats") is ((prompt, namespace) in self._seen)

    def see(self, prompt: bytes, namespace: bytes) -> None:
        """From now on this prompt is a repeat; noted only where that matters."""
        if self._settings.finds != "all":
            self._seen.add((prompt, namespace))

    def keep(self, key: bytes, namespace: bytes, node: Node) -> Node:
        """Put the whole pages of ``key`` below the locked ``node``; returns the node to hold from now on, locked."""
        if not self._settings.enabled:
            return node
        fitting = self._room_for(key, namespace)
        if len(fitting) <= node.end:
            return node
        held = self._device.insert(fitting, bytes(len(fitting) - node.end), namespace, self._start(node)).node
        if held is not node:
            self._device.lock(held)
            self._device.unlock(node)
        if self._settings.outer_tier:
            self._outer.insert(fitting, bytes(len(fitting)), namespace)
        return held

    def release(self, node: Node) -> None:
        """End the protection of a path."""
        self._device.unlock(node)

    def _start(self, node: Node) -> Node | None:
        return None if node.parent is None else node

    def _room_for(self, key: bytes, namespace: bytes) -> bytes:
        """As much of ``key`` as can be kept, the oldest of the rest evicted."""
        tree, page = self._device, self._settings.page_size
        tokens = len(key) // TOKEN_BYTES
        known = tree.match_prefix(key, namespace)
        tree.lock(known.node)
        missing = tokens - tokens % page - known.length
        lacking = missing - (self._settings.capacity_tokens - self.held_tokens)
        if lacking > 0:
            freed = len(tree.evict(lacking))
            self.evicted_tokens += freed
            missing -= -(-max(lacking - freed, 0) // page) * page
        tree.unlock(known.node)
        return key[: (known.length + max(missing, 0)) * TOKEN_BYTES]


class Lease:
    """One request's hold on the cache, from its arrival to its end. ``found`` is what it found on arrival."""

    def __init__(self, cache: CacheModel, prompt: bytes, namespace: bytes, *, reuse: bool) -> None:
        self._cache = cache
        self._prompt = prompt
        self._namespace = namespace
        self._node, self.found = cache.find(prompt, namespace, reuse=reuse)
        self._open = True
        cache.leases += 1

    def prefilled(self) -> None:
        """The prompt is computed: others may use it."""
        self._cache.see(self._prompt, self._namespace)
        self._node = self._cache.keep(self._prompt, self._namespace, self._node)

    def finish(self, answer: bytes) -> None:
        """The answer is complete; its tokens, less the last, are kept."""
        if self._open:
            self._node = self._cache.keep(self._prompt + answer[:-TOKEN_BYTES], self._namespace, self._node)
            self.end()

    def end(self) -> None:
        """Let go; harmless when it was let go before."""
        if self._open:
            self._open = False
            self._cache.leases -= 1
            self._cache.release(self._node)
