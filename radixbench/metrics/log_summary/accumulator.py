"""A stream of records in, a summary out, at any moment and again and again.

Memory stays the same however long the log is: sums, a bounded number of windows and stretches, and the first and
last few of each event. What kind of server wrote the log is known only at the end, so each
dialect is summed for itself, and the one that said most decides.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from operator import attrgetter

from radixbench.logs.record import DialectName, LineCounts, LogRecord, Rank
from radixbench.logs.select import ABOUT_THE_SERVER
from radixbench.logs.sglang.rows import BatchRows
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.metrics.log_summary.posting import can_post, post
from radixbench.metrics.log_summary.readable import count
from radixbench.metrics.log_summary.running_rate import RunningRate
from radixbench.metrics.log_summary.server import START_EVENTS
from radixbench.metrics.log_summary.sheet import sheets
from radixbench.metrics.log_summary.starts import Starts
from radixbench.metrics.log_summary.summary import summarise_log

_FEW_LINES = 100
"""So few lines are added faster one by one."""


class LogAccumulator:
    """Takes the records of one log. ``window_s`` ``None``: windows as narrow as a bounded number allows.

    ``from_start`` is false where the records begin in the middle of the log, so that a server's own running rate counts more.
    """

    def __init__(self, *, window_s: float | None = None, from_start: bool = True) -> None:
        if window_s is not None and not 0 < window_s < float("inf"):
            raise ValueError(f"a window is longer than 0 s, not {window_s} s")
        self._kept = Kept.empty(window_s)
        self._from_start = from_start
        self._ledger: Ledger | None = None
        self._dialect: DialectName | None = None
        self._rank: Rank | None = None

    def add(self, record: LogRecord) -> None:
        """One record, in the order of the log."""
        kind = record.kind
        if kind == "decode":
            self._ledger_of(record).decode(record)
        elif kind == "prefill":
            self._ledger_of(record).prefill(record)
        elif kind == "other":
            event = record.event
            if event is not None:
                self._event(record, event)
        elif record.dialect == "vllm":
            self._kept.vllm.add(record)
        elif record.dialect == "llamacpp":
            self._kept.llamacpp.add(record)
            if kind == "full_reprocess":
                self._kept.happenings.add(record, kind)

    def add_rows(self, rows: Sequence[BatchRows]) -> None:
        """Batch lines that come together, several shapes of them: the same as adding their records in order."""
        lines = sum(map(len, rows))
        found = sheets(rows) if lines >= _FEW_LINES else None
        if found is not None and lines < _FEW_LINES * len(found):
            found = None  # too few of each rank for columns to pay
        ledgers = [] if found is None else [self._ledger_for(rank, ours=False) for rank, _ in found]
        if found is not None and all(
            can_post(ledger, sheet) for ledger, (_, sheet) in zip(ledgers, found, strict=True)
        ):
            for ledger, (_, sheet) in zip(ledgers, found, strict=True):
                post(ledger, sheet)
        else:
            for record in heapq.merge(*(one.records() for one in rows), key=attrgetter("line_no")):
                self.add(record)

    def summary(
        self,
        *,
        file: str,
        lines: LineCounts,
        label: Callable[[float], str],
        problems: Sequence[tuple[str, str]] = (),
    ) -> LogSummary:
        """The figures so far. ``label`` prints a moment as the log would; ``problems`` become notes as they are."""
        return summarise_log(self._kept, file, lines, label, problems)

    def _ledger_of(self, record: LogRecord) -> Ledger:
        rank = record.rank
        if self._ledger is not None and rank is self._rank and record.dialect == self._dialect:
            return self._ledger
        ours = record.dialect == "radixbench" or "step" in record.extra  # a cut line of ours lacks its end
        ledger = self._ledger_for(rank, ours=ours)
        self._ledger, self._rank, self._dialect = ledger, rank, record.dialect
        return ledger

    def _ledger_for(self, rank: Rank, *, ours: bool) -> Ledger:
        kept = self._kept
        log = kept.ours if ours else kept.sglang
        ledger = log.ledgers.get(rank)
        if ledger is None:
            ledger = log.ledger(rank)
            ledger.running_rate = RunningRate(from_start=self._from_start)
            if rank.source in kept.starts:
                ledger.running_rate.reset()
                ledger.signs.reuse.empty()
            server = kept.servers.get(rank.source)
            if server is not None and server.chunk_budget is not None:
                ledger.chunks.state(server.chunk_budget, server.page_size or 1)
        return ledger

    def _event(self, record: LogRecord, event: str) -> None:
        """An event of a request, of the cache or of the server."""
        kept = self._kept
        if self._is_fact(record, event):
            self._state(record, event)
            return
        fresh = kept.happenings.add(record, event)
        if event in ("request_finish", "request_stats"):
            log = kept.ours if record.dialect == "radixbench" else kept.sglang
            books = log.requests(record.rank)
            (books.finish if event == "request_finish" else books.stats)(record)
        elif event == "retract":
            self._retract(record)
        elif event == "preempt":
            kept.vllm.preempt_events += 1
        elif event == "context_shift":
            kept.llamacpp.context_shifts += 1
        elif event in ("flush", "reset_prefix_cache"):
            if fresh:
                self._flush(record, event)
        elif event == "ready" or event in START_EVENTS:
            self._start(record, event)
        self._state(record, event)

    def _retract(self, record: LogRecord) -> None:
        """Requests go back to the queue; every copy of the rank may admit them again."""
        self._kept.retractions.add(record)
        rank, requests = record.rank, count(record.values.get("retracted_reqs")) or 0
        for ledger in self._ledgers():
            if ledger.rank.source == rank.source and rank.dp in {None, ledger.rank.dp}:
                ledger.retracted(requests)

    def _is_fact(self, record: LogRecord, event: str) -> bool:
        """What a server said of itself before the part that is read: it holds, but it didn't happen in it."""
        start = event == "ready" or event in START_EVENTS
        return start and not self._from_start and record.at_s is None

    def _flush(self, record: LogRecord, event: str) -> None:
        """Empty the cache: all ranks are cut together, so that phases begin for all of them at once."""
        for ledger in self._ledgers():
            if ledger.rank.source == record.rank.source:
                ledger.running_rate.reset()
                ledger.signs.reuse.empty()
        self._cut(event, record.at_s)

    def _start(self, record: LogRecord, event: str) -> None:
        """A sign that the server starts, starts again, or is ready."""
        source = record.rank.source
        starts = self._kept.starts.setdefault(source, Starts())
        if starts.begins_again(event, record.at_s, self._kept.lines_of(source)):
            for ledger in self._ledgers():
                if ledger.rank.source == source:
                    ledger.restart()
                    ledger.signs.reuse.empty()
            for engine in self._kept.vllm.all():
                if engine.rank.source == source:
                    engine.restart()
            self._cut("restart", record.at_s)
        if event == "ready":
            span = self._kept.span()
            if starts.warming_up:
                for ledger in self._ledgers():
                    if ledger.rank.source == source:
                        ledger.ready()
            starts.ready(record.at_s, None if span is None else span[0])
            self._cut("ready", record.at_s)

    def _state(self, record: LogRecord, event: str) -> None:
        """A server says something of itself; its chunk budget is stated, maybe anew."""
        if event not in ABOUT_THE_SERVER:
            return
        source = record.rank.source
        server = self._kept.server_of(source)
        server.take(record, event)
        budget = server.chunk_budget
        if event in ("server_args", "capacity") and budget is not None:
            for ledger in self._ledgers():
                if ledger.rank.source == source and budget != ledger.chunks.stated:
                    ledger.chunks.state(budget, server.page_size or 1)

    def _ledgers(self) -> list[Ledger]:
        return [ledger for log in (self._kept.sglang, self._kept.ours) for ledger in log.ledgers.values()]

    def _cut(self, name: str, at_s: float | None) -> None:
        for course in self._kept.courses():
            course.cut(name, at_s)
