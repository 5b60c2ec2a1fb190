"""The tables beside the one over time: ranks, phases, and what happened when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from radixbench.logs.record import Rank
from radixbench.metrics.log_summary.model import (
    Concurrency,
    Event,
    LogSummary,
    Phase,
    PrefillFigures,
    RankFigures,
)
from radixbench.report import text
from radixbench.report.logs.labels import event_word, events_words, shared_date, without_date
from radixbench.report.logs.model import Column, LogTable
from radixbench.report.logs.numbers import clock_span, rate, usage
from radixbench.report.logs.sections import time_spent

_LAST_EVENTS = 2
_NO_RANK = "no rank"

_RANK_COLUMNS = (
    Column("rank", "rank", "", numeric=False),
    Column("new", "new", "new"),
    Column("cached", "cached", "cached"),
    Column("hit_rate", "hit rate", "hit rate"),
    Column("prefill", "prefills", "prefill batches", rank=3),
    Column("decode", "decodes", "decode lines", rank=4),
    Column("output", "out tok/s", "output tokens/s", rank=1),
    Column("queue", "queue", "most waiting", rank=2),
    Column("pool", "fullest pool", "fullest pool", numeric=False, rank=2),
    Column("retracted", "retracted", "retracted requests", rank=3),
    Column("counted", "counted", "counted", numeric=False),
)
_PHASE_COLUMNS = (
    Column("start", "from", "from", numeric=False),
    Column("kind", "phase", "", numeric=False),
    Column("length", "length", "length"),
    Column("new", "new", "new", rank=1),
    Column("cached", "cached", "cached", rank=1),
    Column("hit_rate", "hit rate", "hit rate"),
    Column("prefill", "prefills", "prefill batches", rank=2),
    Column("decode", "decodes", "decode lines", rank=3),
    Column("opened_by", "begun by", "begun by", numeric=False),
)
_CONCURRENCY_COLUMNS = (
    Column("requests", "requests", "requests"),
    Column("new", "new", "new"),
    Column("cached", "cached", "cached"),
    Column("hit_rate", "hit rate", "hit rate"),
)
_EVENT_COLUMNS = (
    Column("time", "time", "", numeric=False),
    Column("line", "line", "line", rank=1),
    Column("event", "event", "", numeric=False),
    Column("text", "what the log says", "", numeric=False),
)


def rank_table(summary: LogSummary) -> LogTable | None:
    """A row for each rank, where there is more than one."""
    if len(summary.ranks) < 2:
        return None
    counted = sum(rank.counted for rank in summary.ranks)
    notes = (
        ()
        if counted == len(summary.ranks)
        else ("Not counted: another rank prints the same batches, so this one is left out of all sums.",)
    )
    return _told(
        LogTable(
            key="ranks",
            title="Ranks",
            name="rank",
            columns=_RANK_COLUMNS,
            rows=tuple(_rank_row(rank) for rank in summary.ranks),
            total=_rank_total(summary),
            notes=notes,
        )
    )


def _rank_row(rank: RankFigures) -> tuple[str, ...]:
    throughput, pressure = rank.throughput, rank.pressure
    fullest = max(pressure.pools, key=lambda name: pressure.pools[name], default=None)
    return (
        _NO_RANK if rank.rank == Rank().label else rank.rank,
        *_tokens(rank.prefill),
        text.count(rank.prefill.batches),
        text.count(rank.decode.batches),
        text.MISSING if throughput.output is None else text.number(throughput.output),
        text.count(pressure.queue_max),
        text.MISSING if fullest is None else f"{fullest} {usage(pressure.pools[fullest])}",
        text.count(pressure.retracted_requests or None),
        "" if rank.counted else "no",
    )


def _rank_total(summary: LogSummary) -> tuple[str, ...]:
    return (
        "in all",
        *_tokens(summary.prefill),
        text.count(summary.prefill.batches),
        text.count(summary.decode.batches),
        text.MISSING if summary.throughput.output is None else text.number(summary.throughput.output),
        text.count(summary.pressure.queue_max),
        "",
        text.count(summary.pressure.retracted_requests or None),
        "",
    )


def _tokens(figures: PrefillFigures) -> tuple[str, str, str]:
    return (
        text.count(figures.new_tokens),
        text.count(figures.cached_tokens),
        text.MISSING if figures.hit_rate is None else rate(figures.hit_rate),
    )


def phase_table(summary: LogSummary, most: int | None = None) -> LogTable | None:
    """A row for each phase, where there is more than one; the longest ``most`` of them in time order, and where the time went."""
    phases = summary.phases
    if len(phases) < 2:
        return None
    spent = time_spent(summary)
    told = ", ".join(f"{fact.title} {fact.value}" for fact in spent.facts) if spent else ""
    shown = _longest(phases, most)
    date = shared_date([phase.label for phase in shown])
    left_out = len(phases) - len(shown)
    return _told(
        LogTable(
            key="phases",
            title=f"Phases, {date}" if date else "Phases",
            name="phase",
            columns=_PHASE_COLUMNS,
            rows=tuple(_phase_row(phase, date) for phase in shown),
            notes=(
                *((f"In all: {told}.",) if told else ()),
                *((f"{text.plural(left_out, 'shorter phase')} not shown here.",) if left_out else ()),
            ),
        )
    )


def _told(table: LogTable) -> LogTable:
    """The table without the columns in which no row has anything."""
    kept = [
        i for i in range(len(table.columns)) if any(row[i] not in {"", text.MISSING} for row in table.rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
        total=tuple(table.total[i] for i in kept) if table.total else (),
    )


def _longest(phases: Sequence[Phase], most: int | None) -> list[Phase]:
    if most is None or len(phases) <= most:
        return list(phases)
    kept = sorted(phases, key=lambda phase: phase.start_s - phase.end_s)[:most]
    return sorted(kept, key=lambda phase: phase.start_s)


def _phase_row(phase: Phase, date: str) -> tuple[str, ...]:
    active = phase.prefill_batches or phase.decode_batches
    counts = (
        text.count(phase.new_tokens),
        text.count(phase.cached_tokens),
        text.MISSING if phase.hit_rate is None else rate(phase.hit_rate),
        text.count(phase.prefill_batches),
        text.count(phase.decode_batches),
    )
    return (
        without_date(phase.label, date),
        phase.kind,
        clock_span(phase.end_s - phase.start_s),
        *(counts if active else ("",) * len(counts)),
        event_word(phase.opened_by) if phase.opened_by else "",
    )


def concurrency_table(levels: Sequence[Concurrency]) -> LogTable | None:
    """The hit rate by how much was at work, where that changed: reuse that falls with load points to eviction."""
    if len(levels) < 2:
        return None
    return LogTable(
        key="concurrency",
        title="Hit rate by requests at work",
        name="at work",
        columns=_CONCURRENCY_COLUMNS,
        rows=tuple(
            (
                _at_work(level.below),
                text.count(level.new_tokens),
                text.count(level.cached_tokens),
                text.MISSING if level.hit_rate is None else rate(level.hit_rate),
            )
            for level in levels
        ),
        notes=("At work: the requests that a prefill line prints as running, and those it admits.",),
    )


def _at_work(below: int) -> str:
    low, high = (below + 1) // 2, below - 1
    return text.count(low) if low >= high else f"{text.count(low)}–{text.count(high)}"


def event_table(
    events: Sequence[Event], counts: Mapping[str, int], *, brief: bool = False
) -> LogTable | None:
    """What happened, in order; in ``brief`` the first and the last two of each kind.

    ``counts`` are of all that the log holds, which may be more than ``events``.
    """
    if not events:
        return None
    shown = _ends(events) if brief else list(events)
    date = shared_date([event.label for event in shown])
    kept = Counter(event.name for event in events)
    in_all = {name: max(n, counts.get(name, n)) for name, n in kept.items()}
    complete = len(shown) == sum(in_all.values())
    return LogTable(
        key="events",
        title=f"Events, {date}" if date else "Events",
        name="event",
        columns=_EVENT_COLUMNS,
        rows=tuple(
            (without_date(event.label, date), text.count(event.line_no), event_word(event.name), event.text)
            for event in shown
        ),
        notes=() if complete else (f"In all: {events_words(in_all)}; the first and last are shown.",),
    )


def _ends(events: Sequence[Event]) -> list[Event]:
    places: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        places.setdefault(event.name, []).append(place)
    kept = {place for found in places.values() for place in (*found[:1], *found[-_LAST_EVENTS:])}
    return [events[place] for place in sorted(kept)]
