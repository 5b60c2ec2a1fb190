"""The lines of SGLang servers, or of ours: a ledger for each rank, and which ranks count.

Tensor, pipeline, expert and context ranks work on the same batches, so of the ranks that share a server and
a data-parallel rank only one may count: the one that printed most, then the one with the lowest numbers. Only a rank that ended
before a restart is no copy of one that began after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.readable import count
from radixbench.metrics.log_summary.requests import RequestBook, RequestBooks


class Retracted(NamedTuple):
    """Retraction events, and how many requests they sent back to the queue."""

    events: int
    requests: int


class Retractions:
    """Requests sent back to the queue, by the rank that said so; those sent as a mere test are also kept for themselves."""

    __slots__ = ("_events", "_requests", "_tests")

    def __init__(self) -> None:
        self._events: Counter[Rank] = Counter()
        self._requests: Counter[Rank] = Counter()
        self._tests: Retractions | None = None

    def add(self, record: LogRecord) -> None:
        """One retraction event; ``Testing retraction.`` is one that no full pool made necessary."""
        self._count(record)
        if record.extra.get("testing") is True:
            self._tests = self._tests or Retractions()
            self._tests._count(record)

    def tested(self, ranks: Iterable[Rank]) -> Retracted:
        """Of ``total``, the part that was a test."""
        return Retracted(0, 0) if self._tests is None else self._tests.total(ranks)

    def _count(self, record: LogRecord) -> None:
        self._events[record.rank] += 1
        self._requests[record.rank] += count(record.values.get("retracted_reqs")) or 0

    def of(self, rank: Rank) -> Retracted:
        """Of one rank's server and cache: every copy of it may print the same event."""
        return self._group(rank.source, rank.dp)

    def total(self, ranks: Iterable[Rank]) -> Retracted:
        """Of these ranks together, with events that name no data-parallel rank among them."""
        counted = {(rank.source, rank.dp) for rank in ranks}
        printed = {(rank.source, rank.dp) for rank in self._events}
        unnamed = {(source, None) for source, _ in counted if (source, None) in printed}
        told = [self._group(*group) for group in counted | unnamed]
        return Retracted(sum(one.events for one in told), sum(one.requests for one in told))

    def _group(self, source: str, dp: int | None) -> Retracted:
        copies = [one for one in self._events if one.source == source and one.dp == dp]
        return Retracted(
            max((self._events[one] for one in copies), default=0),
            max((self._requests[one] for one in copies), default=0),
        )


class BatchLog:
    """All batch and request lines of one dialect."""

    __slots__ = ("_width", "books", "ledgers")

    def __init__(self, width: float | None) -> None:
        self._width = width
        self.ledgers: dict[Rank, Ledger] = {}
        self.books: dict[Rank, RequestBooks] = {}

    def ledger(self, rank: Rank) -> Ledger:
        """The ledger of a rank; a new one for a rank not seen before."""
        found = self.ledgers.get(rank)
        if found is None:
            found = self.ledgers[rank] = Ledger(rank, self._width)
        return found

    def requests(self, rank: Rank) -> RequestBooks:
        """The request books of a rank."""
        found = self.books.get(rank)
        if found is None:
            found = self.books[rank] = RequestBooks()
        return found

    @property
    def lines(self) -> int:
        """Batch lines and request lines that counted."""
        books = sum(one.finished.n + one.timed.n for one in self.books.values())
        return books + sum(one.lines for one in self.ledgers.values())

    def ranks(self) -> list[tuple[Ledger, bool]]:
        """Every rank that printed batches, as a reader would order them, and whether it counts."""
        printing = [one for one in self.ledgers.values() if one.lines]
        leaders = {id(one) for one in leaders_of(printing)}
        return [(one, id(one) in leaders) for one in sorted(printing, key=_by_number)]

    def counted(self) -> list[Ledger]:
        """The ledgers that make the whole."""
        return [ledger for ledger, counts in self.ranks() if counts]

    def request_books(self) -> tuple[RequestBook, RequestBook]:
        """``Finish:`` and ``ReqTimeStats`` books in all; of ranks that print the same requests the fullest."""
        finished: dict[tuple[str, int | None], RequestBook] = {}
        timed: dict[tuple[str, int | None], RequestBook] = {}
        for rank, books in self.books.items():
            for kept, book in ((finished, books.finished), (timed, books.timed)):
                known = kept.setdefault((rank.source, rank.dp), book)
                if book.n > known.n:
                    kept[rank.source, rank.dp] = book
        return _merged(finished.values()), _merged(timed.values())


def leaders_of(ledgers: Iterable[Ledger]) -> list[Ledger]:
    """One ledger for each server and data-parallel rank, of each run whose ranks have names of their own."""
    runs: dict[tuple[str, int | None], list[list[Ledger]]] = {}
    for ledger in sorted(ledgers, key=_by_start):
        known = runs.setdefault((ledger.rank.source, ledger.rank.dp), [])
        if known and not all(_ended_before(one, ledger) for one in known[-1]):
            known[-1].append(ledger)
        else:
            known.append([ledger])
    return [_leader(run) for one in runs.values() for run in one]


def _leader(copies: list[Ledger]) -> Ledger:
    """The fullest, then the one with the lowest numbers."""
    return max(sorted(copies, key=_by_number), key=lambda one: one.lines)


def _ended_before(one: Ledger, other: Ledger) -> bool:
    """The server was started again after the one's last line and before the other's first: they aren't copies."""
    last, first = one.course.last_s, other.course.first_s
    if last is None or first is None:
        return False
    cuts = one.course.stretches.cuts
    return any(cut.name == "restart" and last <= cut.at_s <= first for cut in cuts)


def _by_start(ledger: Ledger) -> float:
    first = ledger.course.first_s
    return float("-inf") if first is None else first


def _by_number(ledger: Ledger) -> tuple[str, int, tuple[tuple[str, int], ...]]:
    rank = ledger.rank
    return rank.source, -1 if rank.dp is None else rank.dp, rank.parts


def _merged(books: Iterable[RequestBook]) -> RequestBook:
    whole = RequestBook()
    for book in books:
        whole.merge(book)
    return whole
