"""Physical lines to records: each line goes to the dialect whose words it holds, and is counted once.

Most lines of a log are of no interest or batch lines of a known shape, so what decides the speed is how cheaply
the ones are passed over and the others kept: a block of lines is searched once for every word that any dialect
knows, and its lines only for those found; batch lines are kept in bulk.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from radixbench.logs.llamacpp.dialect import LlamaCpp
from radixbench.logs.record import Dialect, LineCounts, LogRecord, Parsed
from radixbench.logs.sglang.dialect import BATCH, Sglang
from radixbench.logs.sglang.rows import BatchRows
from radixbench.logs.timeline import Timeline
from radixbench.logs.vllm.dialect import Vllm

_Words = list[tuple[str, Dialect]]
_NOTHING = Parsed(None)
_ACCESS, _NEAR, _ANSWERED = "INFO:  ", 48, " OK"
"""An access line of uvicorn has this level near its begin, and this end."""


class LogScan:
    """The records of one log. ``counts`` is true for all lines fed so far once a feed was read to its end."""

    def __init__(self, timeline: Timeline) -> None:
        self._sglang = Sglang(timeline)
        self._dialects: tuple[Dialect, ...] = (self._sglang, Vllm(timeline), LlamaCpp(timeline))
        self._open = False
        self.counts = LineCounts()

    def feed(self, lines: list[str]) -> Iterator[LogRecord]:
        """The records that these lines complete, in the order of completion."""
        for item in self.feed_bulk(lines):
            if isinstance(item, LogRecord):
                yield item
            else:
                yield from heapq.merge(*(rows.records() for rows in item), key=attrgetter("line_no"))

    def feed_bulk(self, lines: list[str]) -> Iterator[LogRecord | tuple[BatchRows, ...]]:
        """The same in order, but batch lines between two other records come together, a shape at a time."""
        words = self._words_in(lines)
        before = self.counts.read
        kinds: Counter[str] = Counter()
        place = taken = 0
        while place < len(lines):
            if not self._open and BATCH in lines[place]:
                run = self._sglang.take(lines, place, before)
                if run:
                    place += run
                    taken += run
                    continue
            place += 1
            kind, records = self._line(before + place, lines[place - 1], words)
            if kind is not None:
                kinds[kind] += 1
            if records:
                if taken:
                    yield self._drained(kinds)
                    taken = 0
                yield from self._counted(records)
        if taken:
            yield self._drained(kinds)
        kinds["other"] += len(lines) - sum(kinds.values())
        self.counts.read += len(lines)
        self.counts.by_kind.update(kinds)

    def finish(self) -> Iterator[LogRecord]:
        """What was still waiting for a next line when the log ended."""
        for dialect in self._dialects:
            if dialect.open:
                yield from self._counted(dialect.close())
        self._open = False

    def _words_in(self, lines: list[str]) -> _Words:
        """The words to look for, line by line.

        A log under load is mostly batch lines and access lines of the HTTP server, which hold none but ``BATCH``.
        """
        rest = "\n".join(
            [
                line
                for line in lines
                if "ill batch" not in line
                and "Decode batch" not in line
                and not (line.endswith(_ANSWERED) and line.find(_ACCESS, 0, _NEAR) >= 0)
            ]
        )
        return [(BATCH, self._sglang), *self._words_of(rest)]

    def _words_of(self, text: str) -> _Words:
        return [(word, dialect) for dialect in self._dialects for word in dialect.markers if word in text]

    def _line(self, line_no: int, line: str, words: _Words) -> Parsed:
        """One line for itself; most hold none of the words."""
        if self._open:
            return self._read_open(line_no, line, words)
        for word, _ in words:
            if word in line:
                return self._read(line_no, line, words)
        return _NOTHING

    def _read_open(self, line_no: int, line: str, words: _Words) -> Parsed:
        """A line that may continue the statement before it; if not, it stands for itself."""
        given_up: tuple[LogRecord, ...] = ()
        for dialect in self._dialects:
            if dialect.open:
                kind, records = dialect.extend(line_no, line)
                if kind is not None:
                    self._open = any(one.open for one in self._dialects)
                    return Parsed(kind, given_up + records)
                given_up += records
        kind, records = self._read(line_no, line, words)
        return Parsed(kind, given_up + records)

    def _read(self, line_no: int, line: str, words: _Words) -> Parsed:
        """A line that holds a word goes to whoever knows it, until one accepts it."""
        if BATCH in line:  # such lines were not searched for the others' words
            words = self._words_of(line)
        tried: Dialect | None = None
        parsed = Parsed(None)
        for word, dialect in words:
            if dialect is not tried and word in line:
                tried = dialect
                parsed = dialect.parse(line_no, line)
                if parsed.kind is not None:
                    break
        self._open = any(one.open for one in self._dialects)
        return parsed

    def _drained(self, kinds: Counter[str]) -> tuple[BatchRows, ...]:
        drained = self._sglang.drain()
        for rows in drained:
            kinds[rows.kind] += len(rows)
            self.counts.by_dialect["radixbench" if rows.ours else "sglang"] += len(rows)
        return drained

    def _counted(self, records: tuple[LogRecord, ...]) -> tuple[LogRecord, ...]:
        for record in records:
            self.counts.by_dialect[record.dialect] += 1
            event = record.values.get("event")
            if event is not None:
                self.counts.events[event] += 1
        return records
