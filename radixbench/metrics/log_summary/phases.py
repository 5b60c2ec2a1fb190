"""The log as phases: starting, at work, idle, from its first moment to its last without a hole.

Each rank has its own stretches of work; where ranks work beside each other a phase is the time in which any of them did, and
holds what all of them did in it. Flushes and restarts part work, and idle time too: a phase that such an event
begins names it. Probes of an idle server are no work, their tokens stand in the idle phase around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from radixbench.metrics.log_summary.model import Phase, PhaseKind
from radixbench.metrics.log_summary.stretches import FINE_S, Cut, union
from radixbench.metrics.log_summary.sums import Sums
from radixbench.metrics.log_summary.windows import Lane

_STAMP_S = 1.0
"""Most stamps are of whole seconds, so a second says nothing."""

Span: TypeAlias = tuple[float, float]


class StartUp(NamedTuple):
    """From a server's first word to its being ready."""

    start_s: float
    end_s: float
    source: str = ""


class _Found(NamedTuple):
    """Lines at one moment that are no work of their own: probes, a server's warm-up."""

    at_s: float
    sums: Sums
    probes: bool


@dataclass(slots=True)
class _Row:
    kind: PhaseKind
    start_s: float
    end_s: float
    sums: list[Sums] = field(default_factory=list)
    opened_by: str | None = None


def phase_totals(phases: Iterable[Phase]) -> dict[str, float]:
    """Seconds of each kind of phase, together those of the whole log; a kind without any is left out."""
    totals: dict[str, float] = {}
    for phase in phases:
        totals[phase.kind] = totals.get(phase.kind, 0.0) + phase.end_s - phase.start_s
    return totals


def phases_of(
    lanes: Sequence[Lane], starts: Sequence[StartUp], label: Callable[[float], str], span: Span | None
) -> tuple[Phase, ...]:
    """The phases in order of time; ``span`` is the log's first and last moment."""
    told = {cut for lane in lanes for cut in lane.course.stretches.cuts}
    cuts = sorted(told | {Cut("ready", up.end_s) for up in starts}, key=lambda cut: cut.at_s)
    work, found = _work(lanes, starts, cuts)
    starting = [_Row("start-up", *part) for part in _without(union((one[0], one[1]) for one in starts), work)]
    rows = sorted([*work, *starting], key=lambda row: (row.start_s, row.end_s))
    if span is None or not (work or found):  # nothing tells when the server was at work
        return tuple(_phase(row, label) for row in rows)
    idle_after_s = max(FINE_S if lane.exact else lane.idle_after_s for lane in lanes)
    probed = [one.at_s for one in found if one.probes]
    filled = _Filling(cuts, probed, idle_after_s).rows(rows, span)
    _name(filled, cuts)
    for one in found:
        _holder(filled, one.at_s).sums.append(one.sums)
    return tuple(_phase(row, label) for row in filled)


def _work(
    lanes: Sequence[Lane], starts: Sequence[StartUp], cuts: Sequence[Cut]
) -> tuple[list[_Row], list[_Found]]:
    """Times in which some rank was at work; and the lines apart from them, a server's own warm-up among these."""
    rows: list[_Row] = []
    found: list[_Found] = []
    for lane in lanes:
        own = [one for one in starts if lane.source is None or one.source == lane.source]
        stretches = lane.stretches()
        found += [_Found(one.at_s, lane.sums(one.added), True) for one in lane.course.rests(stretches)]
        for one in stretches:
            sums = lane.sums(one.added)
            if any(up.start_s <= one.start_s and one.end_s <= up.end_s for up in own):
                found.append(_Found(one.start_s, sums, False))
            else:
                rows.append(_Row("busy", one.start_s, one.end_s, [sums]))
    rows.sort(key=lambda row: row.start_s)
    if len(lanes) < 2:
        return rows, found
    idle_after_s = max(lane.idle_after_s for lane in lanes)
    merged: list[_Row] = []
    for row in rows:
        last = merged[-1] if merged else None
        if last is None or row.start_s > last.end_s + idle_after_s or _parted(last, row, cuts):
            merged.append(row)
        else:
            last.end_s = max(last.end_s, row.end_s)
            last.sums += row.sums
    return merged, found


def _parted(one: _Row, later: _Row, cuts: Sequence[Cut]) -> bool:
    """An event lies between the two."""
    return any(one.end_s <= cut.at_s <= later.start_s and one.start_s < cut.at_s for cut in cuts)


def _without(spans: Iterable[Span], work: Sequence[_Row]) -> Iterator[Span]:
    """What of the spans isn't covered by work."""
    busy = union((row.start_s, row.end_s) for row in work)
    for start, end in spans:
        cursor = start
        for from_s, to_s in busy:
            if from_s < end and to_s > cursor:
                if from_s > cursor:
                    yield cursor, from_s
                cursor = to_s
        if cursor < end:
            yield cursor, end


class _Filling:
    """Closes the holes between rows, with idle ones or by making a neighbour longer."""

    def __init__(self, cuts: Sequence[Cut], probed: Sequence[float], idle_after_s: float) -> None:
        self._cuts = cuts
        self._probed = probed
        self._idle_after_s = idle_after_s

    def rows(self, rows: Sequence[_Row], span: Span) -> list[_Row]:
        """All of them from the first to the last moment."""
        filled: list[_Row] = []
        before: _Row | None = None
        cursor = min([span[0], *(row.start_s for row in rows[:1])])
        for row in rows:
            row.start_s = max(row.start_s, cursor)
            row.end_s = max(row.end_s, row.start_s)
            filled += [*self._fill(before, cursor, row.start_s, row), row]
            before, cursor = row, row.end_s
        end = max(span[1], cursor)
        filled += self._fill(before, cursor, end, None)
        return filled or [_Row("idle", cursor, end)]

    def _fill(self, before: _Row | None, start: float, end: float, after: _Row | None) -> Iterator[_Row]:
        """What lies between two rows; an event in it begins a row."""
        if end <= start:
            return
        cuts = [cut for cut in self._cuts if start <= cut.at_s < end]
        if self._is_idle(before, start, end):
            edges = [start, *dict.fromkeys(cut.at_s for cut in cuts if cut.at_s > start), end]
            rows = [_Row("idle", *edge) for edge in pairwise(edges)]
            if before is None and any(cut == ("ready", rows[0].end_s) for cut in cuts):
                rows[0].kind = "start-up"
            yield from rows
            return
        turn = cuts[-1].at_s if cuts and after is not None else start if before is None else end
        if before is not None:
            before.end_s = turn
        if after is not None:
            after.start_s = turn

    def _is_idle(self, before: _Row | None, start: float, end: float) -> bool:
        """Nothing was at work: by the length of the gap, by probes in it, or since no request had come to a server just ready."""
        if end - start > self._idle_after_s or any(start <= at <= end for at in self._probed):
            return True
        return before is not None and before.kind == "start-up" and end - start > _STAMP_S


def _name(rows: Sequence[_Row], cuts: Sequence[Cut]) -> None:
    """Each event opens the last row that begins with it."""
    names = {cut.at_s: cut.name for cut in cuts}
    for row in reversed(rows):
        row.opened_by = names.pop(row.start_s, None)


def _holder(rows: Sequence[_Row], at_s: float) -> _Row:
    """The row that lines apart from work belong to: one that isn't busy, if the moment lies in any."""
    holding = [row for row in rows if row.start_s <= at_s <= row.end_s]
    return next((row for row in holding if row.kind != "busy"), holding[0] if holding else rows[-1])


def _phase(row: _Row, label: Callable[[float], str]) -> Phase:
    new = sum(one.new_tokens for one in row.sums)
    reused = sum(one.reused_tokens for one in row.sums)
    return Phase(
        kind=row.kind,
        start_s=row.start_s,
        end_s=row.end_s,
        label=label(row.start_s),
        prefill_batches=sum(one.prefill_batches for one in row.sums),
        decode_batches=sum(one.decode_batches for one in row.sums),
        new_tokens=new,
        cached_tokens=reused,
        hit_rate=reused / (reused + new) if reused + new else None,
        opened_by=row.opened_by,
    )
