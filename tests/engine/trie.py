"""The oracle of the tree's tests: a dictionary of page prefixes, too slow to be wrong.

Every cached page is one entry under (namespace, all tokens up to its end): its slots, when it was last
on a path, and how often it is locked. No edges, no splits, no pins, no sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Prefix = tuple[str, tuple[int, ...]]


@dataclass
class Page:
    """One page: its slots, its last use, its locks."""

    slots: tuple[int, ...]
    used_at: int
    locks: int = 0


@dataclass
class PrefixDictionary:
    """What a radix tree must do, said in the plainest way."""

    page_size: int
    pages: dict[Prefix, Page] = field(default_factory=dict)
    now: int = 0

    def prefixes(self, namespace: str, key: Sequence[int]) -> list[Prefix]:
        """Every whole-page prefix of ``key``, shortest first."""
        ends = range(self.page_size, len(key) + 1, self.page_size)
        return [(namespace, tuple(key[:end])) for end in ends]

    def match(self, namespace: str, key: Sequence[int]) -> list[int]:
        """Slots of the longest cached prefix; a use of it."""
        self.now += 1
        slots: list[int] = []
        for prefix in self.prefixes(namespace, key):
            page = self.pages.get(prefix)
            if page is None:
                break
            page.used_at = self.now
            slots.extend(page.slots)
        return slots

    def insert(self, namespace: str, key: Sequence[int], slots: Sequence[int]) -> int:
        """Add the pages that are missing; returns how many tokens were there."""
        existing = len(self.match(namespace, key))
        for prefix in self.prefixes(namespace, key)[existing // self.page_size :]:
            end = len(prefix[1])
            self.pages[prefix] = Page(tuple(slots[end - self.page_size : end]), self.now)
        return existing

    def lock(self, namespace: str, key: Sequence[int], change: int) -> None:
        """Lock (+1) or unlock (−1) the path to ``key``."""
        for prefix in self.prefixes(namespace, key):
            self.pages[prefix].locks += change

    def evict(self, tokens: int) -> set[int]:
        """Drop the oldest unlocked last pages, one by one."""
        freed: set[int] = set()
        while len(freed) < tokens:
            inner = {(ns, key[: -self.page_size]) for ns, key in self.pages}
            leaves = [
                (page.used_at, prefix)
                for prefix, page in self.pages.items()
                if prefix not in inner and not page.locks
            ]
            if not leaves:
                break
            freed.update(self.pages.pop(min(leaves)[1]).slots)
        return freed

    def total(self, *, locked: bool) -> int:
        """Tokens in locked or unlocked pages."""
        return self.page_size * sum((page.locks > 0) == locked for page in self.pages.values())
