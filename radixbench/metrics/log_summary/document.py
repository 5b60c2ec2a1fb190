"""A summary as one JSON object: first the keys of ``radixbench.logs/1``, then the others. No ``nan``, nothing but plain values."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import Any

from radixbench.logs.record import LineCounts
from radixbench.metrics.log_summary.model import LogSummary, PrefillFigures, RequestFigures, Throughput

SCHEMA = "radixbench.logs/1"

_FIRST_KINDS = ("prefill", "decode")
_LAST_KINDS = ("other", "malformed")


def document(summary: LogSummary) -> dict[str, Any]:
    """Absent figures are ``null``; the block that lacks them says why in ``reason``."""
    return {
        "schema": SCHEMA,
        "file": summary.file,
        "dialect": summary.dialect,
        "lines": _lines(summary.lines, batches=summary.dialect in {"sglang", "radixbench"}),
        "prefill": _prefill(summary.prefill),
        "decode": _plain(summary.decode),
        "requests": _requests(summary.requests),
        "throughput": _throughput(summary.throughput),
        "ranks": [_plain(rank) for rank in summary.ranks],
        "notes": [{"code": note.code, "text": note.text} for note in summary.notes],
        "role": summary.role,
        "timespan": {"first": summary.first, "last": summary.last, "span_s": _plain(summary.span_s)},
        "server": _plain(summary.server),
        "server_windows": _plain(summary.server_windows),
        "pressure": _plain(summary.pressure),
        "concurrency": _plain(summary.concurrency),
        "windows": _plain(summary.windows),
        "phases": _plain(summary.phases),
        "time_shares": _plain(summary.time_shares),
        "events": _plain(summary.events),
        "uncached": _plain(summary.uncached),
        "selected": _plain(summary.selected),
        "interrupted": summary.interrupted,
        "quote": {"rate": summary.quote, "reason": summary.quote_reason},
    }


def _lines(lines: LineCounts, *, batches: bool) -> dict[str, Any]:
    """The kinds that every log of such a server may have are there, with 0 if this one has none."""
    always = (*_FIRST_KINDS, *_LAST_KINDS) if batches else _LAST_KINDS
    kinds = dict.fromkeys(always, 0) | {kind: n for kind, n in lines.by_kind.items() if n}
    middle = sorted(kinds.keys() - {*_FIRST_KINDS, *_LAST_KINDS})
    order = (*_FIRST_KINDS, *middle, *_LAST_KINDS)
    return {
        "read": lines.read,
        "by_kind": {kind: kinds[kind] for kind in order if kind in kinds},
        "events": dict(sorted((name, n) for name, n in lines.events.items() if n)),
    }


def _prefill(prefill: PrefillFigures) -> dict[str, Any]:
    first = ("batches", "new_seq", "new_tokens", "cached_tokens", "hit_rate", "hit_rate_bound")
    return _ordered(_plain(prefill), first)


def _requests(requests: RequestFigures) -> dict[str, Any]:
    return _ordered(_plain(requests), ("n", "ttft", "e2e", "reason"))


def _throughput(throughput: Throughput) -> dict[str, Any]:
    return _ordered(_plain(throughput), ("input", "computed", "output"))


def _ordered(values: dict[str, Any], first: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in first} | values


def _plain(value: Any) -> Any:
    """Dataclasses as objects, tuples as arrays, what is no number as ``null``."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
