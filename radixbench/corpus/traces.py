"""Mooncake's and Bailian's traces as requests, with an account of what was left out and what they look like.

Arrivals are kept as recorded; rows out of order are sorted. Ids are checked over the whole file: one that
stands for blocks of two sizes can't be replayed.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from radixbench.corpus.items import Broken, Found, ItemReader
from radixbench.corpus.source import Source
from radixbench.corpus.trace_blocks import TraceBlocks
from radixbench.corpus.trace_rows import BLOCK_SIZE, RowError, TraceFormat, read_row, told_format
from radixbench.corpus.wording import counted
from radixbench.errors import CorpusError
from radixbench.records import CorpusRecord
from radixbench.scenario.model import CorpusFormat
from radixbench.workloads.replay import TraceRequest

_FAILED: Final = "no output: the request had failed"
_WITHOUT_TEXT: Final = frozenset({"image", "file"})
_BURSTY: Final = 0.5


class Trace(NamedTuple):
    """Requests in the order of their times, how they came about, and the tokens one id stands for."""

    requests: tuple[TraceRequest, ...]
    record: CorpusRecord
    block_size: int


def load_trace(
    path: Path,
    *,
    format: CorpusFormat = "auto",
    block_size: int | None = None,
    limit: int | None = None,
) -> Trace:
    """The first ``limit`` usable requests of a trace; ``block_size`` is the format's own where it isn't given.

    Raises ``CorpusError`` with file, line and remedy.
    """
    if format not in ("auto", "mooncake", "bailian"):
        raise CorpusError(f"{path}: {format} is no trace", remedy="read it as conversations")
    if block_size is not None and block_size < 1:
        raise CorpusError(f"{path}: a block of {block_size} tokens", remedy="a block has at least 1")
    source = Source(path)
    items = ItemReader(source.texts(), str(path))
    account = _Account(str(path), block_size, None if format == "auto" else format)
    for found in items:
        account.take(found)
        if limit is not None and len(account.requests) >= limit:
            account.notes.append(f"read up to the first {limit} usable requests")
            break
    account.notes.extend(note for note in (source.problem, items.cut) if note is not None)
    return account.trace(source.sha256())


class _Account:
    """What has been read of one trace so far."""

    def __init__(self, name: str, block_size: int | None, format_: TraceFormat | None) -> None:
        self._name = name
        self._block_size = block_size
        self._format = format_
        self._read = 0
        self._failed = 0
        self._kinds: Counter[str] = Counter()
        self._blocks = TraceBlocks()
        self.requests: list[TraceRequest] = []
        self.notes: list[str] = []

    def take(self, found: Found) -> None:
        """Read one row. Raises ``CorpusError`` naming its line."""
        if isinstance(found, Broken):
            raise self._wrong(found.line, f"is no JSON: {found.why}", "mend or delete the line")
        if self._format is None:
            self._format = told_format(found.value if isinstance(found.value, dict) else {})
        size = self._size(self._format)
        try:
            row = read_row(found.value, self._format, size)
            request = row.request
            ids = self._blocks.met(request.hash_ids, request.input_len, size)
        except RowError as error:
            raise self._wrong(found.line, str(error), error.remedy) from None
        self._read += 1
        if request.output_len == 0:
            self._failed += 1
            return
        if row.kind is not None:
            self._kinds[row.kind] += 1
        self.requests.append(replace(request, hash_ids=ids))

    def trace(self, sha256: str) -> Trace:
        """Everything read, in the order of its times."""
        if not self.requests or self._format is None:
            raise CorpusError(
                f"{self._name}: no request in it: {self._failed} had failed",
                remedy="give a trace of requests",
            )
        ordered = self._in_order()
        rooted = _rooted(ordered)
        orphans = sum(
            one.parent is None and two.parent is not None for one, two in zip(rooted, ordered, strict=True)
        )
        if orphans:
            self.notes.append(
                f"{counted(orphans, 'request')} with a parent that isn't in the trace: treated as first turns"
            )
        record = CorpusRecord(
            name=self._name,
            format=self._format,
            sha256=sha256,
            items_read=self._read,
            items_used=len(rooted),
            dropped={_FAILED: self._failed} if self._failed else {},
            notes=(*self.notes, *self._looks(rooted)),
        )
        return Trace(rooted, record, self._size(self._format))

    def _size(self, format_: TraceFormat) -> int:
        return BLOCK_SIZE[format_] if self._block_size is None else self._block_size

    def _in_order(self) -> list[TraceRequest]:
        swapped = sum(later.at_s < earlier.at_s for earlier, later in pairwise(self.requests))
        if not swapped:
            return self.requests
        self.notes.append(f"{counted(swapped, 'row')} earlier than the row before: sorted by time")
        return sorted(self.requests, key=lambda request: request.at_s)

    def _looks(self, requests: Sequence[TraceRequest]) -> list[str]:
        looks = [f"spans {requests[-1].at_s - requests[0].at_s:.0f} s", *_bursts(requests)]
        if self._blocks.moved:
            looks.append(
                f"{counted(len(self._blocks.moved), 'id')} behind different ids: only equal ids from the start on are shared"
            )
        mute = sum(count for kind, count in self._kinds.items() if kind in _WITHOUT_TEXT)
        if mute:
            looks.append(
                f"{counted(mute, 'request')} with images or files as input: replayed as if it were text"
            )
        return looks

    def _wrong(self, line: int, what: str, remedy: str) -> CorpusError:
        return CorpusError(f"{self._name}:{line}: {what}", remedy=remedy)


def _rooted(requests: Sequence[TraceRequest]) -> tuple[TraceRequest, ...]:
    """With parents only where they are in the trace."""
    chats = {request.chat for request in requests}
    return tuple(
        request if request.parent is None or request.parent in chats else replace(request, parent=None)
        for request in requests
    )


def _bursts(requests: Sequence[TraceRequest]) -> list[str]:
    """Where many requests share their time, replaying them as recorded sends them all at once."""
    at_once = Counter(request.at_s for request in requests)
    if len(at_once) < 2 or len(at_once) > _BURSTY * len(requests):
        return []
    gap = statistics.median(later - earlier for earlier, later in pairwise(sorted(at_once)))
    told = (
        f"arrivals come in bursts: {len(at_once)} times for {len(requests)} requests, {gap:g} s apart (median),"
        f" up to {max(at_once.values())} at once"
    )
    return [told]
