"""Random token ids that are the same everywhere and share no page by accident.

Prompts are made of *families*: all prompts that begin alike on purpose (a group with a shared prefix,
or a single prompt where nothing is shared). Every family of a sweep has a number of its own,

    number = pair(cell, seed) * (families of a cell + reserve) + family

with Cantor's pairing function, so that it depends neither on how many cells nor on how many seeds a
sweep has. The first token of a family is looked up by that number in one fixed permutation of the
vocabulary: as long as the numbers are smaller than the vocabulary, no two families of any cell or seed
share even a page of one token. Beyond that the next tokens carry the number's higher digits, so that
the first two, three or four tokens together are still unique. The rest is random.

Only raw PCG64 words are used, never numpy's distributions: the words are guaranteed to stay what they
are in every numpy, distributions aren't.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radixbench.errors import UsageError

RESERVE = 32
"""Families of each cell and seed that are kept for warm-up and probe prompts."""

_OPENING = 4


@dataclass(frozen=True, slots=True, eq=False)
class TokenSource:
    """Token ids for one cell of a sweep; make it with ``TokenSource.of``.

    ``allowed`` are the ids that may be drawn, ascending; ``order`` is a permutation of them, the same for
    every cell and seed. ``cell`` numbers the cells of a sweep from 0 and ``families`` bounds the families
    of measured prompts in any of them (groups x prompts per group).
    """

    cell: int
    families: int
    allowed: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def of(
        cls, vocab_size: int, *, excluded: Iterable[int] = (), cell: int = 0, families: int
    ) -> TokenSource:
        """A source over ids 0 ... ``vocab_size`` - 1 without the ``excluded`` (special) ones."""
        if cell < 0 or families < 1:
            raise UsageError(f"a cell can't have number {cell} and {families} families of prompts")
        usable = np.ones(max(vocab_size, 0), dtype=np.bool_)
        usable[[token for token in excluded if 0 <= token < vocab_size]] = False
        allowed = np.flatnonzero(usable)
        if len(allowed) < 2:
            raise UsageError(
                f"a vocabulary of {vocab_size} ids leaves {len(allowed)} to draw prompts from",
                remedy="at least 2 that aren't special are needed",
            )
        order = allowed[np.argsort(_words("order", len(allowed)), kind="stable")]
        return cls(cell=cell, families=families, allowed=allowed, order=order)

    def draw(self, purpose: str, seed: int, rows: int, length: int) -> list[list[int]]:
        """``rows`` runs of ``length`` random ids; fixed by ``purpose``, the cell and ``seed``."""
        words = _words(f"{purpose}/{self.cell}/{seed}", rows * length)
        picks = (words % np.uint64(len(self.allowed))).astype(np.int64)
        drawn: list[list[int]] = self.allowed[picks].reshape(rows, length).tolist()
        return drawn

    def shuffled(self, purpose: str, seed: int, count: int) -> list[int]:
        """0 ... ``count`` - 1 in an order fixed by ``purpose``, the cell and ``seed``."""
        words = _words(f"{purpose}/{self.cell}/{seed}", count)
        permutation: list[int] = np.argsort(words, kind="stable").tolist()
        return permutation

    def distinct(self, purpose: str, seed: int, count: int) -> list[int]:
        """``count`` ids, all different as far as the vocabulary reaches."""
        start = int(_words(f"{purpose}/{self.cell}/{seed}", 1)[0] % np.uint64(len(self.order)))
        places = (start + np.arange(count)) % len(self.order)
        picked: list[int] = self.order[places].tolist()
        return picked

    def opening(self, family: int, seed: int) -> list[int]:
        """The first ids of measured family ``family``, unlike those of any other cell, seed or family."""
        if not 0 <= family < self.families:
            raise UsageError(f"family {family} is outside the {self.families} this cell was made for")
        return self._opening(family, seed)

    def reserved_opening(self, place: int, seed: int) -> list[int]:
        """The first ids of the ``place``-th prompt outside the measured set."""
        if not 0 <= place < RESERVE:
            raise UsageError(f"only {RESERVE} prompts per run can be sent outside the measured set")
        return self._opening(self.families + place, seed)

    def _opening(self, place: int, seed: int) -> list[int]:
        if seed < 0:
            raise UsageError(f"a seed can't be negative, as {seed} is")
        diagonal = self.cell + seed
        block = diagonal * (diagonal + 1) // 2 + seed
        number = block * (self.families + RESERVE) + place
        size = len(self.order)
        first = number % size
        ids: list[int] = []
        for position in range(_OPENING):
            number, digit = divmod(number, size)
            ids.append(int(self.order[(digit + position * (first + 1)) % size]))
        return ids


def begin(ids: list[int], opening: list[int]) -> list[int]:
    """``ids`` with their first tokens replaced by ``opening``; the length stays."""
    return (opening + ids[len(opening) :])[: len(ids)]


def _words(key: str, count: int) -> NDArray[np.uint64]:
    """``count`` random 64-bit words, fixed by ``key``."""
    entropy = np.frombuffer(hashlib.sha256(f"radixbench/{key}".encode()).digest(), dtype="<u4")
    return np.random.PCG64(np.random.SeedSequence(entropy.tolist())).random_raw(count)
