"""From what was kept of a log to its summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from radixbench.logs.record import LineCounts
from radixbench.metrics.log_summary.batch_figures import batch_figures
from radixbench.metrics.log_summary.happenings import Happening
from radixbench.metrics.log_summary.kept import Kept, by_dialect
from radixbench.metrics.log_summary.model import Concurrency, Event, LogSummary, Note
from radixbench.metrics.log_summary.notes.all import all_notes
from radixbench.metrics.log_summary.periodic_figures import periodic_figures
from radixbench.metrics.log_summary.phases import phase_totals, phases_of
from radixbench.metrics.log_summary.quoting import coverage_of, quote_of
from radixbench.metrics.log_summary.reading import Figures, Reading
from radixbench.metrics.log_summary.timing_figures import timing_figures
from radixbench.metrics.log_summary.uncached import uncached_parts
from radixbench.metrics.log_summary.windows import window_table

_WORDS = {
    "retract": "requests sent back to the queue",
    "flush": "cache emptied",
    "reset_prefix_cache": "cache emptied",
    "flush_refused": "cache not emptied: requests are at work",
    "reset_prefix_cache_refused": "cache not emptied: requests are at work",
    "ready": "server ready",
    "server_args": "server starts",
    "preempt": "request preempted",
    "context_shift": "context too long: its middle dropped",
    "full_reprocess": "whole prompt computed again",
}

Label = Callable[[float], str]


def summarise_log(
    kept: Kept, file: str, lines: LineCounts, label: Label, problems: Sequence[tuple[str, str]]
) -> LogSummary:
    """The figures so far; nothing kept is changed by it."""
    reading = read_log(kept, lines, label)
    figures = reading.figures
    span = kept.span()
    coverage = coverage_of(kept, reading.dialect, figures.prefill, figures.group)
    return LogSummary(
        file=file,
        dialect=reading.dialect,
        lines=lines,
        first=None if span is None else label(span[0]),
        last=None if span is None else label(span[1]),
        span_s=None if span is None else span[1] - span[0],
        role=figures.role,
        prefill=figures.prefill,
        decode=figures.decode,
        requests=figures.requests,
        throughput=figures.throughput,
        pressure=figures.pressure,
        server_windows=figures.server_windows,
        server=kept.server.shown,
        ranks=figures.ranks,
        windows=reading.windows,
        phases=reading.phases,
        time_shares=phase_totals(reading.phases),
        concurrency=reading.concurrency,
        events=tuple(_event(one, label) for one in kept.happenings.told()),
        notes=(*(Note(code, text) for code, text in problems), *all_notes(reading)),
        uncached=uncached_parts(
            figures.prefill.new_tokens,
            figures.group,
            coverage,
            off=kept.server.cache_off and not figures.prefill.cached_tokens,
        ),
        quote=reading.quote.rate,
        quote_reason=reading.quote.reason,
    )


def read_log(kept: Kept, lines: LineCounts, label: Label) -> Reading:
    """Decide whose log it is, and work out its figures."""
    counted = by_dialect(kept)
    dialect = max(counted, key=lambda name: (counted[name], lines.by_dialect.get(name, 0)))
    figures = _figures(kept, dialect)
    starts = [start._replace(source=source) for source, one in kept.starts.items() for start in one.start_ups]
    return Reading(
        kept=kept,
        dialect=dialect,
        lines=lines,
        others={name: n for name, n in counted.items() if n and name != dialect},
        figures=figures,
        windows=window_table(
            figures.lanes, kept.happenings, figures.main_pool, label, fixed=kept.window_s is not None
        ),
        phases=phases_of(figures.lanes, starts, label, kept.span()),
        concurrency=_concurrency(figures),
        label=label,
        quote=quote_of(
            figures.prefill, figures.requests, coverage_of(kept, dialect, figures.prefill, figures.group)
        ),
    )


def _figures(kept: Kept, dialect: str) -> Figures:
    if dialect == "vllm":
        return periodic_figures(kept)
    if dialect == "llamacpp":
        return timing_figures(kept)
    return batch_figures(kept, kept.ours if dialect == "radixbench" else kept.sglang)


def _concurrency(figures: Figures) -> tuple[Concurrency, ...]:
    """Over all ranks that count."""
    new: Counter[int] = Counter()
    cached: Counter[int] = Counter()
    for ledger in () if figures.group is None else figures.group.ledgers:
        for below, level in ledger.signs.levels().items():
            new[below] += level.new_tokens
            cached[below] += level.cached_tokens
    return tuple(
        Concurrency(
            below,
            new[below],
            cached[below],
            cached[below] / tokens if (tokens := new[below] + cached[below]) else None,
        )
        for below in sorted(new)
    )


def _event(one: Happening, label: Label) -> Event:
    return Event(one.line_no, one.at_s, "" if one.at_s is None else label(one.at_s), one.name, _words(one))


def _words(one: Happening) -> str:
    """What happened, in a few words."""
    requests = one.facts.get("retracted_reqs")
    if one.name == "retract" and requests is not None:
        return f"{requests} sent back to the queue"
    return _WORDS[one.name]
