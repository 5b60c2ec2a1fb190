"""SGLang's lines, 0.1 to 0.5.23 and its forks, and our own, which begin with the same words.

A batch line whose shape is known is read by heart and kept in bulk; any other is read piece by piece
(``statement``), and what isn't a batch line is an event or nothing (``events``). A statement that breaks
off waits for the next physical line, which may hold its rest: a wrapped terminal, two processes
writing at once, a container runtime that cuts long lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from radixbench.logs.line import parse_line
from radixbench.logs.record import DialectName, LogRecord, Parsed
from radixbench.logs.sglang.events import EVENT_MARKERS, parse_event
from radixbench.logs.sglang.prefix import Prefix, Prefixes
from radixbench.logs.sglang.rows import BatchRows
from radixbench.logs.sglang.shapes import Shape, Shapes
from radixbench.logs.sglang.statement import (
    LAST_LETTER,
    OLDEST_DECODE,
    Statement,
    joined,
    read_oldest,
    read_statement,
    spans,
    starts,
)
from radixbench.logs.timeline import Timeline
from radixbench.logs.wrapper.unwrap import Unwrapped, unwrap

BATCH = " batch"
"""Every scheduler line since 0.1.14 holds this."""

_MOST_PARTS = 512
"""A line that a container runtime cut, 16 kB each, is put together up to this many parts."""

_ENVELOPES = frozenset("{<")
"""How a line begins that is wrapped as a whole, so that something stands behind the server's words too."""


class _Cut(NamedTuple):
    """A statement that broke off: what of it is known, and its text so far."""

    record: LogRecord
    body: str
    prefix: Prefix


class _Parts(NamedTuple):
    """A long line that was cut by the runtime, so far."""

    line_no: int
    first: Unwrapped
    texts: list[str]


class Sglang:
    """The dialect of SGLang, and ours."""

    name: DialectName = "sglang"
    markers = (BATCH, OLDEST_DECODE, *EVENT_MARKERS)

    def __init__(self, timeline: Timeline) -> None:
        self._prefixes = Prefixes(timeline)
        self._shapes = Shapes()
        self._rows: dict[Shape, BatchRows] = {}
        self._latest: dict[str, BatchRows] = {}
        self._cut: _Cut | None = None
        self._parts: _Parts | None = None

    @property
    def open(self) -> bool:
        """The line before broke off."""
        return self._cut is not None or self._parts is not None

    def parse(self, line_no: int, text: str) -> Parsed:
        """A batch line, an event, or nothing of ours."""
        inner = unwrap(text)
        if inner.partial:
            self._parts = _Parts(line_no, inner, [inner.text])
            return Parsed("other")
        return self._parse_inner(line_no, inner)

    def take(self, lines: Sequence[str], place: int, before: int) -> int:
        """Keep batch lines of known shapes for ``drain``, from ``place`` on until another line comes; how many.

        ``before`` lines of the log stand before the first of ``lines``.
        """
        latest, known = self._latest, self._prefixes.known
        for at in range(place, len(lines)):
            text = lines[at]
            end = text.find(BATCH)
            rows = latest.get(text[end - 1]) if end > 0 else None
            if rows is None:
                return at - place
            start = end - rows.reach
            found = rows.match(text, start)
            if found is None:
                if not self._take_otherwise(before + at + 1, text, rows):
                    return at - place
                continue
            head = text[:start]
            prefix = known.get(head) or self._prefixes.read(head)
            if not prefix.clear:
                return at - place
            if prefix.at_s is None:
                prefix = self._prefixes.settled(prefix)
            rows.lines.append(before + at + 1)
            rows.prefixes.append(prefix)
            rows.words.append(found.groups())
        return len(lines) - place

    def _take_otherwise(self, line_no: int, text: str, latest: BatchRows) -> bool:
        """Keep a line of another known shape than the latest of its kind, or one wrapped as a whole."""
        inner = unwrap(text) if text[:1] in _ENVELOPES else Unwrapped(text)
        start = inner.text.find(BATCH) - latest.reach
        shape = self._shapes.fitting(inner.text, start, latest.kind) if start >= 0 else None
        if shape is None or inner.partial:
            return False
        found = shape.match(inner.text, start)
        prefix = self._prefix(inner.text[:start], inner)
        if found is None or not prefix.clear:
            return False
        rows = self._rows_of(shape)
        rows.lines.append(line_no)
        rows.prefixes.append(self._prefixes.settled(prefix))
        rows.words.append(found.groups())
        return True

    def drain(self) -> tuple[BatchRows, ...]:
        """The lines taken since the last call, a shape at a time."""
        rows = tuple(one for one in self._rows.values() if one.words)
        self._rows.clear()
        for latest in tuple(self._latest.values()):
            self._rows_of(latest.shape)
        return rows

    def extend(self, line_no: int, text: str) -> Parsed:  # noqa: ARG002 the protocol's form; a statement has its first line's number
        """The rest of what broke off, if this is it."""
        inner = unwrap(text)
        if self._parts is not None:
            return self._next_part(inner)
        cut, self._cut = self._cut, None
        assert cut is not None
        whole = joined(cut.body, inner.text)
        if whole is None:
            return Parsed(None, (cut.record,))
        body, statement = whole
        record = self._batch(cut.record.line_no, statement, cut.prefix, body)
        if statement.truncated:
            self._cut = cut._replace(record=record, body=body)
            return Parsed(record.kind)
        return Parsed(record.kind, (record,))

    def close(self) -> tuple[LogRecord, ...]:
        """What broke off at the end of the log."""
        cut, self._cut = self._cut, None
        parts, self._parts = self._parts, None
        records = () if cut is None else (cut.record,)
        return records if parts is None else (*records, *self._put_together(parts).records)

    def _next_part(self, inner: Unwrapped) -> Parsed:
        parts, self._parts = self._parts, None
        assert parts is not None
        if inner.source != parts.first.source:
            return Parsed(None, self._put_together(parts).records)
        parts.texts.append(inner.text)
        if inner.partial and len(parts.texts) < _MOST_PARTS:
            self._parts = parts
            return Parsed("other")
        return Parsed("other", self._put_together(parts).records)

    def _put_together(self, parts: _Parts) -> Parsed:
        return self._parse_inner(parts.line_no, parts.first._replace(text="".join(parts.texts)))

    def _parse_inner(self, line_no: int, inner: Unwrapped) -> Parsed:
        text = inner.text
        begins = starts(text)
        if begins and self._prefix(text[: begins[0]], inner).clear:
            return self._statements(line_no, inner, begins)
        return self._oldest(line_no, inner) or self._event(line_no, inner)

    def _statements(self, line_no: int, inner: Unwrapped, begins: list[int]) -> Parsed:
        """One batch statement or, where processes wrote at once, several; the last one that breaks off may go on."""
        records: list[LogRecord] = []
        kind = None
        before = 0
        for begin, end in spans(inner.text, begins):
            body = inner.text[begin:end]
            statement = read_statement(body)
            if statement is not None:
                prefix = self._prefix(inner.text[before:begin], inner)
                record = self._batch(line_no, statement, prefix, body)
                kind = record.kind
                self._learn(statement, body)
                if statement.truncated and self._cut is None:
                    self._cut = _Cut(record, body, prefix)
                else:
                    records.append(record)
            before = end
        return Parsed(kind or "malformed", tuple(records))

    def _learn(self, statement: Statement, body: str) -> None:
        if self._shapes.fitting(body, 0, statement.kind) is None:
            shape = statement.shape()
            if shape is not None:
                self._shapes.learn(shape)
                self._rows_of(shape)

    def _oldest(self, line_no: int, inner: Unwrapped) -> Parsed | None:
        found = read_oldest(inner.text)
        if found is None:
            return None
        begin, statement = found
        prefix = self._prefix(inner.text[:begin], inner)
        return Parsed(statement.kind, (self._batch(line_no, statement, prefix, inner.text[begin:]),))

    def _event(self, line_no: int, inner: Unwrapped) -> Parsed:
        facts = parse_event(inner.text)
        if facts is None:
            return Parsed(None)
        prefix = self._prefix(inner.text[: facts.start], inner)
        values, extra = {**prefix.values, **facts.values}, {**prefix.extra, **facts.extra}
        return Parsed(
            "other", (self._record(line_no, "other", values, extra, prefix, inner.text[facts.start :]),)
        )

    def _batch(self, line_no: int, statement: Statement, prefix: Prefix, text: str) -> LogRecord:
        values = {**prefix.values, **statement.pairs.values}
        if statement.truncated:
            values["truncated"] = True
        return self._record(
            line_no, statement.kind, values, {**prefix.extra, **statement.pairs.extra}, prefix, text
        )

    def _record(
        self,
        line_no: int,
        kind: str,
        values: Mapping[str, Any],
        extra: Mapping[str, Any],
        prefix: Prefix,
        text: str,
    ) -> LogRecord:
        exact = parse_line(text) if "start-ns" in extra or "e2e-ns" in extra else None
        name: DialectName = "sglang" if exact is None else "radixbench"
        return LogRecord(
            line_no, name, kind, values, extra, prefix.rank, self._prefixes.moment(prefix), exact
        )

    def _prefix(self, text: str, inner: Unwrapped) -> Prefix:
        wrapped = inner.source or inner.timestamp
        return self._prefixes.read(text, inner if wrapped else None)

    def _rows_of(self, shape: Shape) -> BatchRows:
        """Where lines of a shape are kept; it is the one looked at first from now on."""
        rows = self._rows.get(shape)
        if rows is None:
            rows = self._rows[shape] = BatchRows(shape)
        self._latest[LAST_LETTER[shape.kind]] = rows
        return rows
