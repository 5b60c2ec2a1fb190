"""The lines of SGLang servers, or of ours: a ledger for each rank, and which ranks count.

Tensor, pipeline, expert and context ranks work on the same batches, so of the ranks that share a server and
a data-parallel rank only one may count: the one that printed most, then the one with the lowest numbers.
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
    """Requests sent back to the queue, by the rank that said so."""

    __slots__ = ("_events", "_requests")

    def __init__(self) -> None:
        self._events: Counter[Rank] = Counter()
        self._requests: Counter[Rank] = Counter()

    def add(self, record: LogRecord) -> None:
        """One retraction event."""
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
    """One ledger for each server and data-parallel rank."""
    leaders: dict[tuple[str, int | None], Ledger] = {}
    for ledger in sorted(ledgers, key=_by_number):
        key = (ledger.rank.source, ledger.rank.dp)
        known = leaders.get(key)
        if known is None or ledger.lines > known.lines:
            leaders[key] = ledger
    return list(leaders.values())


def _by_number(ledger: Ledger) -> tuple[str, int, tuple[tuple[str, int], ...]]:
    rank = ledger.rank
    return rank.source, -1 if rank.dp is None else rank.dp, rank.parts


def _merged(books: Iterable[RequestBook]) -> RequestBook:
    whole = RequestBook()
    for book in books:
        whole.merge(book)
    return whole
