"""Events of a log: what happened when, how often in each window, and what of it parts the log.

A log may hold a million retractions, so of each name only the first and the last few are kept whole; all of them
are counted. An event that several ranks of one server print at once counts as one where it parts time; a rank that prints it
again tells of another.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.version import event_form
from radixbench.metrics.log_summary.widths import MOST_KEPT, NARROWEST, joined, wider

_KEPT = 25
_SAME_S = 5.0

TOLD = frozenset(
    {
        "flush", "flush_refused", "retract", "ready", "server_args", "reset_prefix_cache", "reset_prefix_cache_refused",
        "preempt", "context_shift", "full_reprocess",
    }
)  # fmt: skip
"""Events that a reader of a timeline wants to see; the others are counted only."""


class Happening(NamedTuple):
    """One event as it was logged."""

    line_no: int
    at_s: float | None
    name: str
    source: str
    facts: dict[str, Any]


class _Round(NamedTuple):
    """The ranks of one server that printed one and the same event, and the first of their lines."""

    line_no: int
    at_s: float | None
    ranks: set[Rank]

    def holds(self, record: LogRecord) -> bool:
        """Whether the line is of a further rank, and close enough to the first."""
        if record.rank in self.ranks:
            return False
        if self.at_s is None or record.at_s is None:
            return self.at_s is record.at_s and record.line_no - self.line_no <= _KEPT
        return abs(record.at_s - self.at_s) <= _SAME_S


class Happenings:
    """All events of one log, in order. ``distinct`` counts what several ranks print at once as one; ``forms`` tell versions apart."""

    __slots__ = (
        "_first",
        "_fixed",
        "_last",
        "_rounds",
        "_windows",
        "counts",
        "distinct",
        "first_s",
        "forms",
        "last_s",
        "width",
    )

    def __init__(self, width: float | None) -> None:
        self.width = NARROWEST if width is None else width
        self.counts: Counter[str] = Counter()
        self.distinct: Counter[str] = Counter()
        self.forms: set[str] = set()
        self.first_s: float | None = None
        self.last_s: float | None = None
        self._fixed = width is not None
        self._first: dict[str, list[Happening]] = {}
        self._last: dict[str, deque[Happening]] = {}
        self._rounds: dict[tuple[str, str], _Round] = {}
        self._windows: dict[int, Counter[str]] = {}

    def add(self, record: LogRecord, name: str) -> bool:
        """Note an event; ``False`` if it only repeats one that another rank printed within five seconds."""
        self.counts[name] += 1
        self.forms.add(event_form(record, name))
        if record.at_s is not None:
            self.first_s = record.at_s if self.first_s is None else min(self.first_s, record.at_s)
            self.last_s = record.at_s if self.last_s is None else max(self.last_s, record.at_s)
        if name not in TOLD:
            return True
        happening = Happening(
            record.line_no, record.at_s, name, record.rank.source, {**record.values, **record.extra}
        )
        first = self._first.setdefault(name, [])
        if len(first) < _KEPT:
            first.append(happening)
        else:
            self._last.setdefault(name, deque(maxlen=_KEPT)).append(happening)
        if record.at_s is not None:
            self._count(name, record.at_s)
        fresh = self._is_fresh(record, name)
        self.distinct[name] += fresh
        return fresh

    def told(self) -> list[Happening]:
        """The events kept, by line."""
        kept = [one for some in (*self._first.values(), *self._last.values()) for one in some]
        return sorted(kept, key=lambda one: one.line_no)

    def windows(self, width: float) -> dict[int, Counter[str]]:
        """Events by window; ``width`` is a multiple of the present one."""
        copies = {place: Counter(counts) for place, counts in self._windows.items()}
        return joined(copies, round(width / self.width), _add)

    def widen(self) -> None:
        """Join neighbouring windows."""
        factor = round(wider(self.width) / self.width)
        self._windows = joined(self._windows, factor, _add)
        self.width = wider(self.width)

    def _is_fresh(self, record: LogRecord, name: str) -> bool:
        """The first line of an event; further ranks join it."""
        key = (record.rank.source, name)
        known = self._rounds.get(key)
        if known is not None and known.holds(record):
            known.ranks.add(record.rank)
            return False
        self._rounds[key] = _Round(record.line_no, record.at_s, {record.rank})
        return True

    def _count(self, name: str, at_s: float) -> None:
        place = int(at_s // self.width)
        self._windows.setdefault(place, Counter())[name] += 1
        while not self._fixed and len(self._windows) > MOST_KEPT:
            self.widen()


def _add(one: Counter[str], other: Counter[str]) -> None:
    one.update(other)
