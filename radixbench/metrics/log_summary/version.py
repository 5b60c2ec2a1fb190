"""Which SGLang versions print lines of this form: an interval, narrowed by every key seen.

Versions are tuples of three numbers; post releases count as their release.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple, TypeAlias

from radixbench.logs.record import LogRecord

Version: TypeAlias = tuple[int, int, int]

OLDEST: Version = (0, 0, 0)
NEWEST: Version = (99, 0, 0)

ROUNDS_FROM: Version = (0, 4, 8)
ROUNDS_UNTIL: Version = (0, 5, 19)

_PREFILL: dict[str, tuple[Version, Version]] = {
    "cache_hit_rate_pct": (OLDEST, (0, 4, 3)),
    "unbootstrapped_req": ((0, 4, 6), (0, 5, 2)),
    "transferring_req": ((0, 4, 6), (0, 5, 2)),
    "prealloc_req": ((0, 5, 3), (0, 5, 11)),
    "bootstrap_req": ((0, 5, 12), NEWEST),
    "optimistic_req": ((0, 5, 16), NEWEST),
    "input_throughput": ((0, 4, 8), NEWEST),
    "swa_token_usage": ((0, 4, 10), NEWEST),
    "mamba_usage": ((0, 5, 4), NEWEST),
    "cuda_graph": ((0, 5, 7), NEWEST),
    "pending_token": ((0, 5, 11), NEWEST),
    "fwd_occupancy_pct": ((0, 5, 11), NEWEST),
    "#replay-token": ((0, 5, 21), NEWEST),
    "fwd+idle occupancy": ((0, 5, 21), NEWEST),
}
_DECODE: dict[str, tuple[Version, Version]] = {
    "accept_len": ((0, 4, 1), NEWEST),
    "largest_len": ((0, 4, 4), (0, 4, 4)),
    "preallocated_usage": ((0, 4, 6), NEWEST),
    "cuda_graph": ((0, 4, 6), NEWEST),
    "retracted_req": ((0, 4, 8), NEWEST),
    "prealloc_req": ((0, 5, 3), NEWEST),
    "accept_rate": ((0, 5, 4), NEWEST),
    "fwd_occupancy_pct": ((0, 5, 11), NEWEST),
    "#host-receive-req": ((0, 5, 21), NEWEST),
    "fwd+idle occupancy": ((0, 5, 21), NEWEST),
}
_EVENTS: dict[str, tuple[Version, Version]] = {
    "tree_cache": ((0, 5, 13), NEWEST),
    "tree_core": ((0, 5, 18), NEWEST),
    "tree_cache_attached": ((0, 5, 22), NEWEST),
    "kv_canary": ((0, 5, 13), NEWEST),
}
_NO_RATE: tuple[Version, Version] = ((0, 4, 4), NEWEST)
_NO_THROUGHPUT: tuple[Version, Version] = (OLDEST, (0, 5, 8))
_NO_PENDING: tuple[Version, Version] = (OLDEST, (0, 5, 10))
_NUMBERS = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def event_form(record: LogRecord, name: str) -> str:
    """The event, and its form where that tells versions apart: the tree's line lost ``streaming_wrapped`` in 0.5.22."""
    if name != "tree_cache" or "truncated" in record.values:
        return name
    extra = record.extra
    later = "hicache_attached" in extra and "streaming_wrapped" not in extra
    return "tree_cache_attached" if later else name


class Span(NamedTuple):
    """From ``low`` to ``high``, both included."""

    low: Version
    high: Version

    def may_be_in(self, first: Version, last: Version) -> bool:
        """Some version of the span lies between the two."""
        return self.low <= last and self.high >= first

    def narrowed(self, low: Version, high: Version) -> Span:
        """What is left of the span; forks that mix forms keep it as it is."""
        narrow = Span(max(self.low, low), min(self.high, high))
        return narrow if narrow.low <= narrow.high else self


def read_version(text: str) -> Version | None:
    """``0.5.18`` or ``v0.4.6.post5`` as three numbers."""
    match = _NUMBERS.match(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def span_of(prefill: Collection[str], decode: Collection[str], events: Collection[str]) -> Span:
    """The versions whose lines have these keys, and lack those that all later ones have."""
    span = Span(OLDEST, NEWEST)
    for keys, table in ((prefill, _PREFILL), (decode, _DECODE), (events, _EVENTS)):
        for key, (low, high) in table.items():
            if key in keys:
                span = span.narrowed(low, high)
    if prefill:
        if "cache_hit_rate_pct" not in prefill:
            span = span.narrowed(*_NO_RATE)
        if "input_throughput" not in prefill:
            span = span.narrowed(*_NO_THROUGHPUT)
        if "pending_token" not in prefill:
            span = span.narrowed(*_NO_PENDING)
    return span
