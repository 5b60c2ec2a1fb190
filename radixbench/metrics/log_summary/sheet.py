"""Batch lines of one rank as columns of numbers, in the order of the log whatever their shapes.

A count that a line doesn't print is -1 in its column, a share or a rate ``nan``. Lines that have to be looked at one by
one (ours, with exact times; those of old servers; absurd ones) make no sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from radixbench.logs.record import LogRecord, Rank
from radixbench.logs.sglang.rows import BatchRows

Counts: TypeAlias = npt.NDArray[np.int64]
Rates: TypeAlias = npt.NDArray[np.float64]
Truths: TypeAlias = npt.NDArray[np.bool_]

_MOST = 1 << 31
_ONE_BY_ONE = ("start-ns", "step", "cache_hit_rate_pct", "gpu token usage", "cpu token usage")
_MUST = {"prefill": ("new_seq", "new_token", "cached_token"), "decode": ("running_req",)}
_COUNTS = ("new_seq", "new_token", "cached_token", "running_req", "queue_req", "pending_token")


class _Part(NamedTuple):
    """The lines of one shape and one rank: their places among all lines of the shape; ``None`` for every one."""

    rows: BatchRows
    places: Counts | None

    @property
    def size(self) -> int:
        return len(self.rows) if self.places is None else len(self.places)

    def take(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of a column of the shape, the values of these lines."""
        return column if self.places is None else column[self.places]

    def first(self) -> LogRecord:
        """Its first line in full."""
        return self.rows.record(0 if self.places is None else int(self.places[0]))


class Sheet:
    """The lines of one rank. ``at`` is their moment, ``prefill`` tells the two kinds apart."""

    __slots__ = ("_columns", "_order", "_parts", "_read", "at", "prefill")

    def __init__(self, parts: Sequence[_Part], columns: dict[tuple[int, str], npt.NDArray[Any]]) -> None:
        self._parts = parts
        self._read = columns
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._order = np.argsort(
            np.concatenate([one.take(one.rows.line_nos()) for one in parts]), kind="stable"
        )
        self.at: Rates = np.concatenate([one.take(one.rows.moments()) for one in parts])[self._order]
        kinds = [np.full(one.size, one.rows.kind == "prefill") for one in parts]
        self.prefill: Truths = np.concatenate(kinds)[self._order]

    def __len__(self) -> int:
        return len(self.at)

    def has(self, key: str) -> bool:
        """Some line prints the key."""
        return any(one.rows.shape.place(key) is not None for one in self._parts)

    def counts(self, key: str) -> Counts:
        """A column of whole numbers."""
        return self._column(key, -1).astype(np.int64, copy=False)

    def rates(self, key: str) -> Rates:
        """A column of shares or rates."""
        return self._column(key, np.nan)

    def shapes(self) -> Iterator[tuple[tuple[str, ...], _Part]]:
        """The labels of each shape, and its lines."""
        for one in self._parts:
            yield one.rows.shape.labels, one

    def _column(self, key: str, absent: float) -> npt.NDArray[Any]:
        found = self._columns.get(key)
        if found is None:
            pieces = [self._piece(one, key, absent) for one in self._parts]
            found = self._columns[key] = np.concatenate(pieces)[self._order]
        return found

    def _piece(self, part: _Part, key: str, absent: float) -> npt.NDArray[Any]:
        column = self._read.get((id(part.rows), key))
        if column is None:
            column = part.rows.column(key)
            if column is None:
                return np.full(part.size, absent)
            self._read[id(part.rows), key] = column
        return part.take(column)


def sheets(rows: Sequence[BatchRows]) -> list[tuple[Rank, Sheet]] | None:
    """A sheet for each rank; ``None`` if some line needs to be looked at by itself."""
    columns: dict[tuple[int, str], npt.NDArray[Any]] = {}
    if not all(_plain(one, columns) for one in rows):
        return None
    made = [(rank, Sheet(parts, columns)) for rank, parts in _by_rank(rows).items()]
    return made if all(np.isfinite(sheet.at).all() for _, sheet in made) else None


def _plain(rows: BatchRows, columns: dict[tuple[int, str], npt.NDArray[Any]]) -> bool:
    """Nothing about these lines is special: shape, counts and their size."""
    has = rows.shape.place
    if any(has(key) is not None for key in _ONE_BY_ONE) or any(has(key) is None for key in _MUST[rows.kind]):
        return False
    if has("input_throughput") is not None and has("pending_token") is None:  # lines that may stand twice
        return False
    for key in _COUNTS:
        column = rows.column(key)
        if column is None:
            continue
        if column.dtype != np.int64 or column.min() < 0 or column.max() > _MOST:
            return False
        columns[id(rows), key] = column
    return True


def _by_rank(rows: Sequence[BatchRows]) -> dict[Rank, list[_Part]]:
    parts: dict[Rank, list[_Part]] = {}
    for one in rows:
        ranks = one.ranks()
        if len(set(map(id, ranks))) == 1:
            parts.setdefault(ranks[0], []).append(_Part(one, None))
            continue
        places: dict[Rank, list[int]] = {}
        for place, rank in enumerate(ranks):
            places.setdefault(rank, []).append(place)
        for rank, taken in places.items():
            parts.setdefault(rank, []).append(_Part(one, np.array(taken, dtype=np.int64)))
    return parts
