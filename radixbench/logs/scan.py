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
        take = self._sglang.take
        line_no = self.counts.read
        self.counts.read += len(lines)
        kinds: Counter[str] = Counter()
        passed_over = taken = 0
        for line in lines:
            line_no += 1
            if self._open:
                kind, records = self._read_open(line_no, line, words)
            else:
                for word, _ in words:
                    if word in line:
                        break
                else:
                    passed_over += 1
                    continue
                kind = take(line_no, line)
                if kind is not None:
                    kinds[kind] += 1
                    taken += 1
                    continue
                kind, records = self._read(line_no, line, words)
            kinds[kind or "other"] += 1
            if records:
                if taken:
                    yield self._drained()
                    taken = 0
                yield from self._counted(records)
        if taken:
            yield self._drained()
        kinds["other"] += passed_over
        self.counts.by_kind.update(kinds)

    def finish(self) -> Iterator[LogRecord]:
        """What was still waiting for a next line when the log ended."""
        for dialect in self._dialects:
            if dialect.open:
                yield from self._counted(dialect.close())
        self._open = False

    def _words_in(self, lines: list[str]) -> _Words:
        """The words to look for, line by line. A log under load is mostly batch lines, which need no search."""
        rest = "\n".join([line for line in lines if "ill batch" not in line and "Decode batch" not in line])
        found = [(word, dialect) for dialect in self._dialects for word in dialect.markers if word in rest]
        return [(BATCH, self._sglang), *found]

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

    def _drained(self) -> tuple[BatchRows, ...]:
        drained = self._sglang.drain()
        for rows in drained:
            self.counts.by_dialect["radixbench" if rows.ours else "sglang"] += len(rows)
        return drained

    def _counted(self, records: tuple[LogRecord, ...]) -> tuple[LogRecord, ...]:
        for record in records:
            self.counts.by_dialect[record.dialect] += 1
            event = record.values.get("event")
            if event is not None:
                self.counts.events[event] += 1
        return records
