"""From a file to its summary: the one call that joins the rooms that read a log and those that add it up."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from radixbench.clock import Clock, MonotonicClock
from radixbench.errors import UsageError
from radixbench.logs.reader import LogReader
from radixbench.logs.record import LogRecord
from radixbench.logs.scan import LogScan
from radixbench.logs.select import Selection
from radixbench.logs.timeline import Timeline
from radixbench.metrics.log_summary.accumulator import LogAccumulator
from radixbench.metrics.log_summary.model import LogSummary, Selected
from radixbench.units import NS_PER_MS

_PAUSE_NS = 200 * NS_PER_MS
_EVENTS = Counter({"other": sys.maxsize})

Present = Callable[[], LogSummary]
"""Makes the summary of what was read so far."""


class SelectionRequest(NamedTuple):
    """Which part of a log is meant, in a user's words (``logs.select``)."""

    since: str | None = None
    until: str | None = None
    ranks: Sequence[str] = ()

    @property
    def everything(self) -> bool:
        """The whole log."""
        return self.since is None and self.until is None and not self.ranks


def read_log(
    targets: Sequence[str],
    *,
    stdin: BinaryIO | None = None,
    window_s: float | None = None,
    selection: SelectionRequest | None = None,
    on_record: Callable[[LogRecord], None] | None = None,
    follow: Callable[[Present], bool] | None = None,
    clock: Clock | None = None,
) -> LogSummary:
    """Summarise one log, which may lie in several files, in the order given; ``-`` is standard input.

    ``on_record`` gets each selected record. With ``follow`` reading goes on as the log grows for as long as it returns
    true; it is asked again and again. Raises ``LogError`` for what can't be read or is no log, and
    ``UsageError`` for a selection that means nothing in this log. Ctrl-C ends the reading; the summary says so.
    """
    reading = _Reading(targets, window_s, selection or SelectionRequest(), on_record)
    pause = clock or MonotonicClock()

    def go_on() -> bool:
        assert follow is not None
        pause.sleep_ns(_PAUSE_NS)
        return follow(reading.present)

    for target in targets:
        reader = LogReader(target, stdin=stdin, follow=None if follow is None else go_on)
        reading.readers.append(reader)
        try:
            for lines in reader.blocks():
                reading.block(lines)
                if follow is not None and not follow(reading.present):
                    break
        except KeyboardInterrupt:  # a pipe that doesn't end is left so; what was read still counts
            return replace(reading.end(), interrupted=True)
    return reading.end()


class _Reading:
    """One log on its way from lines to figures."""

    def __init__(
        self,
        targets: Sequence[str],
        window_s: float | None,
        request: SelectionRequest,
        on_record: Callable[[LogRecord], None] | None,
    ) -> None:
        self.readers: list[LogReader] = []
        self._name = " + ".join("standard input" if target == "-" else target for target in targets)
        self._timeline = Timeline()
        self._scan = LogScan(self._timeline)
        self._accumulator = LogAccumulator(window_s=window_s, from_start=request.since is None)
        self._request = request
        self._selection = None if request.everything else Selection.of(self._timeline, **request._asdict())
        self._on_record = on_record
        self._kept: Counter[str] = Counter()
        self._covers = (float("inf"), float("-inf"))

    def block(self, lines: list[str]) -> None:
        """The next lines."""
        if self._on_record is not None or self._selection is not None:
            for record in self._scan.feed(lines):
                self._take(record)
            return
        for item in self._scan.feed_bulk(lines):
            if isinstance(item, LogRecord):
                self._accumulator.add(item)
            else:
                self._accumulator.add_rows(item)

    def present(self) -> LogSummary:
        """The summary of all blocks so far."""
        problems = [problem for reader in self.readers for problem in reader.problems]
        summary = self._accumulator.summary(
            file=self._name, lines=self._scan.counts, label=self._timeline.label, problems=problems
        )
        if self._selection is None:
            return summary
        request = self._request
        selected = Selected(request.since, request.until, tuple(request.ranks), dict(self._kept))
        return replace(summary, selected=selected)

    def end(self) -> LogSummary:
        """The summary of the whole log."""
        for record in self._scan.finish():
            self._take(record)
        if self._selection is not None and self._scan.counts.by_dialect and not self._kept - _EVENTS:
            self._refuse(self._selection)
        return self.present()

    def _take(self, record: LogRecord) -> None:
        if self._selection is not None:
            if record.at_s is not None:
                self._covers = min(self._covers[0], record.at_s), max(self._covers[1], record.at_s)
            if not self._selection.keeps(record):
                return
            if self._selection.keeps_time(record.at_s):
                self._kept[record.kind] += 1
            else:  # what a server is holds for the part, but happened before it
                record = record._replace(at_s=None)
        self._accumulator.add(record)
        if self._on_record is not None:
            self._on_record(record)

    def _refuse(self, selection: Selection) -> None:
        """Nothing was selected of a log that has something."""
        if self._request.ranks and not any(selection.ranks_seen.values()):
            printed = sorted({rank.label for rank in selection.ranks_seen})
            raise UsageError(
                f"--rank {','.join(self._request.ranks)}: {self._name} has no such rank",
                remedy=f"it has {', '.join(printed)}" if printed != ["all"] else "its lines name no ranks",
            )
        first, last = self._covers
        covered = f"{self._timeline.label(first)} to {self._timeline.label(last)}"
        raise UsageError(
            f"{self._name}: no line with figures lies in what was selected",
            remedy="no line has a time"
            if first > last
            else f"the log covers {covered}: choose a part of that",
        )
