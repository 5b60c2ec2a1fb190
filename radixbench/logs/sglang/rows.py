"""Batch lines in bulk: what one shape read by heart from many lines, as columns of numbers.

Turning every line into a record of its own costs more than reading it, and a summary needs sums. Rows keep the words
of each line and turn a whole column into numbers when it is asked for; ``records`` gives the same lines as
records, one by one, for those who want them so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from radixbench.logs.line import step_from
from radixbench.logs.record import DialectName, LogRecord, Rank
from radixbench.logs.sglang.prefix import Prefix
from radixbench.logs.sglang.shapes import Numbers, Shape
from radixbench.records import StepRecord


class BatchRows:
    """Lines of one shape in the order of the log; row ``i`` of everything here is the same line.

    ``lines`` are physical line numbers, ``prefixes`` have their moment, ``words`` what stood at the shape's places. ``kind``
    is ``prefill`` or ``decode``; ``match`` the shape's, and ``reach`` how far before `` batch`` it begins. ``ours``:
    lines of our own server, which end in exact integers under odd labels.
    """

    __slots__ = ("_columns", "kind", "lines", "match", "ours", "prefixes", "reach", "shape", "words")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.kind = shape.kind
        self.match = shape.match
        self.reach = len(shape.kind)
        self.ours = shape.place("start-ns") is not None
        self.lines: list[int] = []
        self.prefixes: list[Prefix] = []
        self.words: list[tuple[str, ...]] = []
        self._columns: tuple[Sequence[str], ...] | None = None

    def __len__(self) -> int:
        return len(self.words)

    def line_nos(self) -> Numbers:
        """Physical line numbers, from 1."""
        return np.array(self.lines, dtype=np.int64)

    def column(self, key: str) -> Numbers | None:
        """A key's value (or an odd label's) in each row, ``True`` as 1; ``None`` if this shape doesn't print it."""
        place = self.shape.place(key)
        if place is None:
            return None
        if self._columns is None:
            self._columns = tuple(zip(*self.words, strict=True))
        return self.shape.numbers(place, self._columns[place])

    def moments(self) -> Numbers:
        """``LogRecord.at_s`` of each row; ``nan`` without a time."""
        return np.array([prefix.at_s for prefix in self.prefixes], dtype=np.float64)

    def ranks(self) -> list[Rank]:
        """The rank of each row."""
        return [prefix.rank for prefix in self.prefixes]

    def records(self) -> Iterator[LogRecord]:
        """The rows one by one."""
        return map(self.record, range(len(self)))

    def record(self, place: int) -> LogRecord:
        """One row."""
        prefix, words = self.prefixes[place], self.words[place]
        values, odd = self.shape.read(words, prefix.values)
        extra: dict[str, Any] = {**prefix.extra, **odd}
        exact = self._exact(words) if self.ours else None
        name: DialectName = "sglang" if exact is None else "radixbench"
        return LogRecord(self.lines[place], name, self.kind, values, extra, prefix.rank, prefix.at_s, exact)

    def _exact(self, words: tuple[str, ...]) -> StepRecord | None:
        try:
            return step_from(self.kind, dict(zip(self.shape.labels, words, strict=True)))
        except (KeyError, ValueError):
            return None
