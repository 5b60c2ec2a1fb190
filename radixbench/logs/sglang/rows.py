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
from radixbench.logs.sglang.prefix import Prefix, Prefixes
from radixbench.logs.sglang.shapes import Numbers, Shape
from radixbench.records import StepRecord

Line = tuple[int, Prefix, tuple[str, ...]]
"""Its number, its prefix, its words."""


class BatchRows:
    """Lines of one shape in the order of the log; row ``i`` of everything here is the same line."""

    __slots__ = ("_columns", "_prefixes", "lines", "shape")

    def __init__(self, shape: Shape, prefixes: Prefixes) -> None:
        self.shape = shape
        self.lines: list[Line] = []
        self._prefixes = prefixes
        self._columns: tuple[Sequence[str], ...] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def kind(self) -> str:
        """``prefill`` or ``decode``."""
        return self.shape.kind

    @property
    def ours(self) -> bool:
        """Lines of our own server, which end in exact integers under odd labels."""
        return self.shape.place("start-ns") is not None

    def line_nos(self) -> Numbers:
        """Physical line numbers, from 1."""
        return np.array([line[0] for line in self.lines], dtype=np.int64)

    def column(self, key: str) -> Numbers | None:
        """A key's value (or an odd label's) in each row, ``True`` as 1; ``None`` if this shape doesn't print it."""
        place = self.shape.place(key)
        if place is None:
            return None
        if self._columns is None:
            self._columns = tuple(zip(*[line[2] for line in self.lines], strict=True))
        return self.shape.numbers(place, self._columns[place])

    def moments(self) -> Numbers:
        """``LogRecord.at_s`` of each row; ``nan`` without a time."""
        moments = [line[1].at_s for line in self.lines]
        if None in moments:
            moments = [self._prefixes.moment(line[1]) for line in self.lines]
        return np.array(moments, dtype=np.float64)

    def ranks(self) -> list[Rank]:
        """The rank of each row."""
        return [line[1].rank for line in self.lines]

    def records(self) -> Iterator[LogRecord]:
        """The rows one by one."""
        for line_no, prefix, words in self.lines:
            values, odd = self.shape.read(words, prefix.values)
            extra: dict[str, Any] = {**prefix.extra, **odd}
            exact = self._exact(words) if self.ours else None
            at_s = self._prefixes.moment(prefix)
            name: DialectName = "sglang" if exact is None else "radixbench"
            yield LogRecord(line_no, name, self.kind, values, extra, prefix.rank, at_s, exact)

    def _exact(self, words: tuple[str, ...]) -> StepRecord | None:
        try:
            return step_from(self.kind, dict(zip(self.shape.labels, words, strict=True)))
        except (KeyError, ValueError):
            return None
