"""Which records of a log a user wants to see: between two moments, of some ranks.

What describes the server (its arguments, its pools) is always kept: it holds for every record after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from radixbench.errors import UsageError
from radixbench.logs.record import LogRecord, Rank
from radixbench.logs.timeline import Timeline
from radixbench.logs.times.moment import read_moment

ABOUT_THE_SERVER = frozenset(
    (
        "version",
        "server_args",
        "engine_config",
        "weights_loaded",
        "kv_pool_size",
        "swa_pool_size",
        "capacity",
        "tree_cache",
        "tree_core",
        "slots",
        "prompt_cache",
        "ready",
    )
)
"""Events that say what a server is, not what it did."""

_PART = re.compile(r"(dp|tp|pp|ep|cp|attn_cp|moe_dp|gpu|gpu_id|rank)(\d{1,6})", re.ASCII | re.IGNORECASE)
_REMEDY = "give it as the log prints it: `DP0`, `DP1 TP3`, a server's name; several as `DP0,DP1`"


class RankWords(NamedTuple):
    """Ranks in a user's words, ``DP1 TP3`` or a source's name: all that is said must be printed.

    ``label`` is the whole text; a rank that is printed just so is meant, whatever its parts are.
    """

    label: str
    parts: frozenset[tuple[str, int]]
    source: str

    def match(self, rank: Rank) -> bool:
        """Whether ``rank`` is one of those meant."""
        if self.label == rank.label:
            return True
        printed = {*rank.parts, *([] if rank.dp is None else [("DP", rank.dp)])}
        return self.of_server(rank.source) and self.parts <= printed

    def of_server(self, source: str) -> bool:
        """Whether the ranks of a server called ``source`` may be meant."""
        return not self.source or f" {self.source} " in f" {source} ".replace(",", "")


def read_rank(text: str) -> RankWords:
    """The words after ``--rank``; raises ``UsageError`` if they can't name a rank."""
    words = text.split()
    numbers: dict[str, int] = {}
    names: list[str] = []
    for word in words:
        part = _PART.fullmatch(word)
        if part is None:
            names.append(word)
            continue
        name, number = part[1].upper(), int(part[2])
        if numbers.setdefault(name, number) != number:
            raise UsageError(f"--rank {text}: no line has two {name} ranks", remedy=_REMEDY)
    if not words or text.strip().lstrip("-").isdecimal():
        raise UsageError(f"--rank {text!r}: names no rank", remedy=_REMEDY)
    return RankWords(" ".join(words), frozenset(numbers.items()), " ".join(names))


class Selection:
    """Decides record by record, both bounds included.

    A record without a time is kept only if there is no bound; of several rank words one must match. ``ranks_seen``
    holds every rank asked about, and whether it is kept.
    """

    def __init__(
        self, since_s: float | None = None, until_s: float | None = None, ranks: Sequence[RankWords] = ()
    ) -> None:
        self.since_s = since_s
        self.until_s = until_s
        self._ranks = tuple(ranks)
        self._place: Callable[[], None] | None = None
        self.ranks_seen: dict[Rank, bool] = {}

    @classmethod
    def of(
        cls,
        timeline: Timeline,
        *,
        since: str | None = None,
        until: str | None = None,
        ranks: Sequence[str] = (),
    ) -> Selection:
        """In a user's words; raises ``UsageError`` for what means nothing in any log.

        Where a moment lies on ``timeline``, the log's own, is settled with the first record that has a time;
        one that this log's times can't tell is refused then.
        """
        for words, flag in ((since, "--since"), (until, "--until")):
            if words is not None:
                read_moment(words, flag)
        selection = cls(ranks=[read_rank(words) for words in ranks])
        if since is not None or until is not None:
            selection._place = lambda: selection._settle(timeline, since, until)
        return selection

    def keeps(self, record: LogRecord) -> bool:
        """The record belongs to the selection."""
        if record.event in ABOUT_THE_SERVER:
            return not self._ranks or any(words.of_server(record.rank.source) for words in self._ranks)
        return self.keeps_rank(record.rank) and self.keeps_time(record.at_s)

    def keeps_rank(self, rank: Rank) -> bool:
        """Lines of this rank belong to the selection."""
        kept = self.ranks_seen.get(rank)
        if kept is None:
            kept = not self._ranks or any(words.match(rank) for words in self._ranks)
            self.ranks_seen[rank] = kept
        return kept

    def keeps_time(self, at_s: float | None) -> bool:
        """Lines of this moment belong to the selection; settles the bounds if need be."""
        if at_s is not None and self._place is not None:
            self._place()
        if self._place is None and self.since_s is None and self.until_s is None:
            return True
        return (
            at_s is not None
            and (self.since_s is None or at_s >= self.since_s)
            and (self.until_s is None or at_s <= self.until_s)
        )

    def _settle(self, timeline: Timeline, since: str | None, until: str | None) -> None:
        self.since_s = None if since is None else timeline.moment(since)
        self.until_s = None if until is None else timeline.moment(until, end=True)
        self._place = None
        if self.since_s is not None and self.until_s is not None and self.since_s > self.until_s:
            raise UsageError(f"--since {since}: is after --until {until}", remedy="turn them round")
