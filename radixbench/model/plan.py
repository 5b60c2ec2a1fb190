r"""What one step reads and writes, worked out once and used by all layers.

A step packs the new tokens of all sequences in one row. Sequences with one new token come first
(``RowsPlan``: decoding, or a prompt of which all but the last token is cached), sequences with more follow
(``SpanPlan``). Where a sequence's slots lie in a row in the pool they are a *run*, read in place; what is
left over is gathered. Sequences that share slots are neighbours, and a run they share is one run of
all of them, computed once::

    slots    [ shared run .............. ][ own run ......... ][ loose: gathered, padded ]
    row 0     \___________  one product    [ ................. ][ 17 903 44 ]
    row 1      ___________/  for both       [ ............ ]     [ 18 ]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from radixbench.engine.batch import Batch, Entry

Slots = NDArray[np.int32]

MIN_RUN = 64
"""Slots in a row from which reading in place beats gathering."""
MAX_LOOSE = 128
"""Loose slots of one row from which a gathered run of its own beats padding all rows to its length."""


@dataclass(frozen=True, slots=True)
class Run:
    """``length`` slots in a row from ``start``, in the pool or in what the step gathers, read by rows
    ``first_row`` up to ``end_row``. ``part`` counts the runs of a row from 0.
    """

    first_row: int
    end_row: int
    start: int
    length: int
    gathered: bool
    part: int


@dataclass(frozen=True, slots=True)
class RowsPlan:
    """Sequences with one new token. ``loose[r]`` are row r's slots outside of all runs; with nothing read in
    place these are all its slots, and rows come the longest first.
    """

    runs: tuple[Run, ...]
    gathered: Slots
    loose: tuple[Slots, ...]

    @property
    def parts(self) -> int:
        """The most runs that any row has."""
        return max((run.part + 1 for run in self.runs), default=0)


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """One sequence with several new tokens: rows ``first_row`` up to ``end_row`` of the step, attending to
    each other and to a cached prefix of ``runs`` in the pool and ``gathered`` slots. With nothing read in
    place, ``gathered`` holds the span's own slots too: its K and V are in the pool by then.
    """

    first_row: int
    end_row: int
    runs: tuple[tuple[int, int], ...]
    gathered: Slots

    @property
    def has_prefix(self) -> bool:
        """Whether anything is cached."""
        return bool(self.runs) or len(self.gathered) > 0


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step. ``order[i]`` is the batch entry at the i-th place of the packed row; ``written`` the slots
    that get the step's K and V; ``wanted`` the rows whose next token is wanted, ``answered`` the entries
    they belong to.
    """

    order: tuple[int, ...]
    token_ids: Slots
    positions: NDArray[np.int64]
    written: Slots
    wanted: tuple[int, ...]
    answered: tuple[int, ...]
    rows: RowsPlan | None
    spans: tuple[SpanPlan, ...]


@dataclass(slots=True)
class _Rows:
    """A ``RowsPlan`` in the making: rows are numbered as the trie of their slots is walked."""

    order: list[int] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    gathered: list[Slots] = field(default_factory=list)
    loose: list[Slots] = field(default_factory=list)

    def walk(self, members: Sequence[int], slots: Sequence[Slots], start: int, part: int) -> None:
        """Plan ``members`` (indices into ``slots``) from position ``start``, where they agree so far."""
        for group in _by_slot_at(members, slots, start):
            shared = _common_end(group, slots, start) if len(group) > 1 else 0
            if shared - start < MIN_RUN:
                for member in group:
                    self._row(member, slots[member][start:], part)
                continue
            first_row = len(self.loose)
            pieces = _split(slots[group[0]][start:shared])
            own = self._place(pieces, part)
            self.walk(group, slots, shared, part + len(own))
            self.runs.extend(Run(first_row, len(self.loose), *place) for place in own)

    def lay_out(self, members: Sequence[int], slots: Sequence[Slots]) -> None:
        """Plan ``members`` without runs, the longest first."""
        self.order = sorted(members, key=lambda member: -len(slots[member]))
        self.loose = [slots[member] for member in self.order]

    def _place(self, pieces: _Pieces, part: int) -> list[tuple[int, int, bool, int]]:
        """Start, length, whether gathered, and part of each piece of slots that several rows share."""
        found = [(start, length, False, part + i) for i, (start, length) in enumerate(pieces.runs)]
        if len(pieces.loose):
            found.append((self._gather(pieces.loose), len(pieces.loose), True, part + len(found)))
        return found

    def _row(self, member: int, slots: Slots, part: int) -> None:
        row = len(self.loose)
        pieces = _split(slots)
        if len(pieces.loose) > MAX_LOOSE:
            places, loose = self._place(pieces, part), slots[:0]
        else:
            places, loose = self._place(_Pieces(pieces.runs, slots[:0]), part), pieces.loose
        self.order.append(member)
        self.loose.append(loose)
        self.runs.extend(Run(row, row + 1, *place) for place in places)

    def _gather(self, slots: Slots) -> int:
        start = sum(map(len, self.gathered))
        self.gathered.append(slots)
        return start


@dataclass(frozen=True, slots=True)
class _Pieces:
    runs: tuple[tuple[int, int], ...]
    loose: Slots


def _split(slots: Slots) -> _Pieces:
    """Runs of at least ``MIN_RUN`` slots as (start, length), and the rest in order."""
    cuts = (np.flatnonzero(np.diff(slots) != 1) + 1).tolist()
    bounds = [0, *cuts, len(slots)]
    runs, loose = [], []
    for begin, end in itertools.pairwise(bounds):
        if end - begin >= MIN_RUN:
            runs.append((int(slots[begin]), end - begin))
        else:
            loose.append(slots[begin:end])
    return _Pieces(tuple(runs), np.concatenate(loose) if loose else slots[:0])


def _by_slot_at(members: Sequence[int], slots: Sequence[Slots], position: int) -> list[list[int]]:
    """Members that have the same slot at ``position``, in order of first appearance."""
    groups: dict[int, list[int]] = {}
    for member in members:
        row = slots[member]
        groups.setdefault(int(row[position]) if position < len(row) else -1 - member, []).append(member)
    return list(groups.values())


def _common_end(group: Sequence[int], slots: Sequence[Slots], start: int) -> int:
    """The position up to which all members' slots are the same."""
    first = slots[group[0]]
    end = len(first)
    for member in group[1:]:
        other = slots[member][start:end]
        differs = np.flatnonzero(first[start : start + len(other)] != other)
        end = start + (int(differs[0]) if len(differs) else len(other))
    return end


def _span(entry: Entry, first_row: int, *, in_place: bool) -> SpanPlan:
    if not entry.cached_len:
        pieces = _Pieces((), entry.slots[:0])
    elif in_place:
        pieces = _split(entry.slots[: entry.cached_len])
    else:
        pieces = _Pieces((), entry.slots)
    return SpanPlan(first_row, first_row + entry.extend_len, pieces.runs, pieces.loose)


def plan_step(batch: Batch, *, in_place: bool) -> StepPlan:
    """Plan one batch; without ``in_place`` nothing is read as a run, everything is gathered."""
    entries = batch.entries
    singles = [index for index, entry in enumerate(entries) if entry.extend_len == 1]
    longer = [index for index, entry in enumerate(entries) if entry.extend_len > 1]
    rows, slots = _Rows(), [entry.slots for entry in entries]
    if in_place:
        rows.walk(singles, slots, 0, 0)
    else:
        rows.lay_out(singles, slots)
    order = (*rows.order, *longer)
    packed = [entries[index] for index in order]
    ends = np.cumsum([entry.extend_len for entry in packed]).tolist()
    spans = [
        _span(entry, end - entry.extend_len, in_place=in_place)
        for entry, end in zip(packed[len(singles) :], ends[len(singles) :], strict=True)
    ]
    wanting = [place for place, entry in enumerate(packed) if entry.wants_token]
    return StepPlan(
        order=order,
        token_ids=np.concatenate([entry.token_ids for entry in packed]),
        positions=np.concatenate([np.arange(entry.cached_len, len(entry.slots)) for entry in packed]),
        written=np.concatenate([entry.slots[entry.cached_len :] for entry in packed]),
        wanted=tuple(ends[place] - 1 for place in wanting),
        answered=tuple(order[place] for place in wanting),
        rows=RowsPlan(tuple(rows.runs), _joined(rows.gathered), tuple(rows.loose)) if singles else None,
        spans=tuple(spans),
    )


def _joined(parts: Sequence[Slots]) -> Slots:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
