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
    of measured prompts in any of them. ``scenario`` sets everything apart from the prompts of other
    scenarios; two sources without one (or of one name) have the same prefixes.
    """

    cell: int
    families: int
    allowed: NDArray[np.int64]
    order: NDArray[np.int64]
    scenario: str = ""

    @classmethod
    def of(
        cls,
        vocab_size: int,
        *,
        excluded: Iterable[int] = (),
        cell: int = 0,
        families: int,
        scenario: str = "",
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
        words = _generator(_key(scenario, "order")).random_raw(len(allowed))
        order = allowed[np.argsort(words, kind="stable")]
        return cls(cell=cell, families=families, allowed=allowed, order=order, scenario=scenario)

    def draw(self, purpose: str, seed: int, rows: int, length: int) -> list[list[int]]:
        """``rows`` runs of ``length`` random ids; fixed by ``purpose``, the cell and ``seed``."""
        drawn: list[list[int]] = self.run(purpose, seed, rows * length).reshape(rows, length).tolist()
        return drawn

    def run(self, purpose: str, seed: int, count: int, *, start: int = 0) -> NDArray[np.int64]:
        """``count`` random ids from place ``start`` of an endless run, fixed by ``purpose``, cell and ``seed``."""
        picks = self._words(purpose, seed, count, start=start) % np.uint64(len(self.allowed))
        return self.allowed[picks.astype(np.int64)]

    def shuffled(self, purpose: str, seed: int, count: int) -> list[int]:
        """0 ... ``count`` - 1 in an order fixed by ``purpose``, the cell and ``seed``."""
        permutation: list[int] = np.argsort(self._words(purpose, seed, count), kind="stable").tolist()
        return permutation

    def distinct(self, purpose: str, seed: int, count: int) -> list[int]:
        """``count`` ids, all different as far as the vocabulary reaches."""
        start = int(self._words(purpose, seed, 1)[0] % np.uint64(len(self.order)))
        places = (start + np.arange(count)) % len(self.order)
        picked: list[int] = self.order[places].tolist()
        return picked

    def label(self, number: int) -> list[int]:
        """Two ids that no other ``number`` has, up to the vocabulary squared; near numbers differ in the first."""
        size = len(self.order)
        return [int(self.order[number % size]), int(self.order[number // size % size])]

    def opening(self, family: int, seed: int) -> list[int]:
        """The first ids of measured family ``family``, unlike those of any other cell, seed or family."""
        if not 0 <= family < self.families:
            raise UsageError(f"family {family} is outside the {self.families} this cell was made for")
        return self._opening(family, seed)

    def opened(self, ids: list[int], family: int, seed: int) -> list[int]:
        """``ids`` that begin with the opening of ``family``; the length stays."""
        return begin(ids, self.opening(family, seed))

    def reserved_opening(self, place: int, seed: int) -> list[int]:
        """The first ids of the ``place``-th prompt outside the measured set."""
        if not 0 <= place < RESERVE:
            raise UsageError(f"only {RESERVE} prompts per run can be sent outside the measured set")
        return self._opening(self.families + place, seed)

    def _words(self, purpose: str, seed: int, count: int, *, start: int = 0) -> NDArray[np.uint64]:
        """``count`` random 64-bit words, from place ``start`` of their stream."""
        generator = _generator(_key(self.scenario, f"{purpose}/{self.cell}/{seed}"))
        return (generator.advance(start) if start else generator).random_raw(count)

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


def request_seeds(seed: int, count: int) -> list[int]:
    """A seed below 2**31 for each of ``count`` requests, fixed by the run's ``seed``."""
    seeds: list[int] = (_generator(f"sampling/{seed}").random_raw(count) >> np.uint64(33)).tolist()
    return seeds


def _key(scenario: str, purpose: str) -> str:
    """What a stream of words is seeded by; without a scenario's name as it was before there were any."""
    return f"{scenario.encode().hex()}//{purpose}" if scenario else purpose


def _generator(key: str) -> np.random.PCG64:
    entropy = np.frombuffer(hashlib.sha256(f"radixbench/{key}".encode()).digest(), dtype="<u4")
    return np.random.PCG64(np.random.SeedSequence(entropy.tolist()))
