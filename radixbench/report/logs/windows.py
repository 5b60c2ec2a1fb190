"""The table over time. Its tokens add up to the log's hit rate, so that anybody can follow it by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.model import LogSummary, Window
from radixbench.report import text
from radixbench.report.logs.labels import events_words, shared_date, without_date
from radixbench.report.logs.model import Column, LogTable
from radixbench.report.logs.numbers import clock_span, rate, usage
from radixbench.report.logs.stretches import Stretches, share, stretched

_TOTAL = "in all"
_LLAMACPP = "llamacpp"
_SERVERS_RATE = "The server's rate is of its own window, as it printed it last: {}."


class _Shown(NamedTuple):
    column: Column
    value: Callable[[Window], str]


def window_table(summary: LogSummary, most: int | None = None) -> LogTable | None:
    """One row for each window, or for several where there are more than ``most``; ``None`` for a log without times."""
    if not summary.windows:
        return None
    stretches = stretched(summary.windows, most)
    date = shared_date([window.label for window in stretches.windows])
    columns = _columns(summary, date)
    return LogTable(
        key="windows",
        title=_title(stretches, date),
        name="window",
        columns=tuple(shown.column for shown in columns),
        rows=tuple(tuple(shown.value(window) for shown in columns) for window in stretches.windows),
        total=_total(summary, columns),
        notes=tuple(_rest(summary)),
    )


def pool_names(windows: Sequence[Window]) -> list[str]:
    """Every pool that any window tells of, in the order they appear."""
    return list(dict.fromkeys(name for window in windows for name in window.pools))


def _title(stretches: Stretches, date: str) -> str:
    length = stretches.windows[0].length_s
    each = f"Windows of {clock_span(length)}"
    if stretches.of > 1:
        each += f" (up to {stretches.of} of {clock_span(length / stretches.of)} each)"
    return f"{each}, {date}" if date else each


def _columns(summary: LogSummary, date: str) -> list[_Shown]:
    windows = summary.windows
    shown = [_Shown(Column("time", "time", "", numeric=False), lambda w: without_date(w.label, date))]
    if summary.prefill.new_tokens is not None:
        shown += [
            _Shown(Column("new", "new", "new"), lambda w: text.count(w.new_tokens)),
            _Shown(Column("cached", "cached", "cached"), lambda w: text.count(w.cached_tokens)),
            _Shown(Column("hit_rate", "hit rate", "hit rate"), lambda w: _rate(w.hit_rate)),
        ]
    if any(w.server_hit_rate is not None for w in windows):
        column = Column("server_hit_rate", "server's rate", "server's rate")
        shown.append(_Shown(column, lambda w: _rate(w.server_hit_rate)))
    if any(w.prefill_batches for w in windows):
        column = _prefill_column(summary.dialect)
        shown.append(_Shown(column, lambda w: text.count(w.prefill_batches)))
    if any(w.decode_batches for w in windows):
        column = Column("decode", "decodes", "decode lines", rank=5)
        shown.append(_Shown(column, lambda w: text.count(w.decode_batches)))
    return [*shown, *_load_columns(windows)]


def _prefill_column(dialect: str) -> Column:
    """llama.cpp has no batches: its lines are about single prompts."""
    if dialect == _LLAMACPP:
        return Column("prefill", "prompts", "prompts", rank=4)
    return Column("prefill", "prefills", "prefill batches", rank=4)


def _load_columns(windows: Sequence[Window]) -> list[_Shown]:
    shown: list[_Shown] = []
    if any(w.output_throughput is not None for w in windows):
        column = Column("output", "out tok/s", "output tokens/s", rank=1)
        shown.append(_Shown(column, lambda w: _number(w.output_throughput)))
    if any(w.running_max is not None for w in windows):
        column = Column("running", "running", "most running", rank=3)
        shown.append(_Shown(column, lambda w: text.count(w.running_max)))
    if any(w.queue_max is not None for w in windows):
        column = Column("queue", "queue", "most waiting", rank=2)
        shown.append(_Shown(column, lambda w: text.count(w.queue_max)))
    shown += _pool_columns(windows)
    if any(w.events for w in windows):
        column = Column("events", "events", "", numeric=False, rank=1)
        shown.append(_Shown(column, lambda w: events_words(w.events)))
    return shown


def _pool_columns(windows: Sequence[Window]) -> list[_Shown]:
    """A column for each pool; where room is short, the fullest one stays longest."""
    names = pool_names(windows)
    fullest = max(names, key=lambda name: max(w.pools.get(name, 0.0) for w in windows), default="")
    columns = [
        Column(f"pool_{name}", f"{name} pool", f"{name} usage", rank=2 if name == fullest else 3)
        for name in names
    ]
    return [_Shown(column, _pool(name)) for column, name in zip(columns, names, strict=True)]


def _pool(name: str) -> Callable[[Window], str]:
    return lambda window: _usage(window.pools.get(name))


def _total(summary: LogSummary, columns: Sequence[_Shown]) -> tuple[str, ...]:
    new, cached = _sums(summary)
    hit = share(cached, new)
    sums = {
        "time": _TOTAL,
        "new": text.count(new),
        "cached": text.count(cached),
        "hit_rate": _rate(hit),
        "prefill": text.count(sum(w.prefill_batches for w in summary.windows)),
        "decode": text.count(sum(w.decode_batches for w in summary.windows)),
    }
    total = tuple(sums.get(shown.column.key, "") for shown in columns)
    return total if any(total[1:]) else ()


def _sums(summary: LogSummary) -> tuple[int, int]:
    return sum(w.new_tokens for w in summary.windows), sum(w.cached_tokens for w in summary.windows)


def _rest(summary: LogSummary) -> list[str]:
    """Whose the server's rate is, and what the log's own sums have beyond the windows'."""
    told = [window.what for window in summary.server_windows]
    rates = any(window.server_hit_rate is not None for window in summary.windows)
    return [*([_SERVERS_RATE.format(text.several(told))] if told and rates else []), *_beyond(summary)]


def _beyond(summary: LogSummary) -> list[str]:
    prefill = summary.prefill
    if prefill.new_tokens is None or prefill.cached_tokens is None:
        return []
    new, cached = _sums(summary)
    if (new, cached) == (prefill.new_tokens, prefill.cached_tokens):
        return []
    total = f"{text.count(prefill.new_tokens)} new and {text.count(prefill.cached_tokens)} cached tokens"
    return [f"The log in all has {total}: lines without a time are in no window."]


def _rate(value: float | None) -> str:
    return text.MISSING if value is None else rate(value)


def _usage(value: float | None) -> str:
    return text.MISSING if value is None else usage(value)


def _number(value: float | None) -> str:
    return text.MISSING if value is None else text.number(value)
