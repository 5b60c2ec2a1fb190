"""What the lines of one rank betray of their server, beside what they add up to.

Which keys they print (so, which versions may have printed them), which page size their counts agree with, how much of
them is probing, whether lines stand twice, how reuse goes with concurrency.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.chunks import PROBE_TOKENS
from radixbench.metrics.log_summary.oddities import Probes, Twins
from radixbench.metrics.log_summary.pages import PageSigns
from radixbench.metrics.log_summary.reuse import Reuse
from radixbench.metrics.log_summary.sheet import Counts, Sheet

_USED = ("token", "full_token", "swa_token")
_CLOCK_LENGTH = 12


class Level(NamedTuple):
    """Prefill lines that found about equally many requests at work, these included."""

    new_tokens: int
    cached_tokens: int


class Signs:
    """Takes every readable line; a rank's line length tells cheaply whether its keys were seen before."""

    __slots__ = (
        "_before",
        "_lengths",
        "_levels",
        "_new",
        "clock_only",
        "decode_keys",
        "few_shared",
        "largest_batch",
        "pages",
        "prefill_keys",
        "probes",
        "reuse",
        "shapes",
        "twins",
    )  # fmt: skip

    def __init__(self) -> None:
        self.pages = PageSigns()
        self.probes = Probes()
        self.twins = Twins()
        self.reuse = Reuse()
        self.prefill_keys: set[str] = set()
        self.decode_keys: set[str] = set()
        self.largest_batch = 0
        self.few_shared = 0
        self.clock_only = False
        self.shapes: set[tuple[str, ...]] = set()
        self._levels: dict[int, list[int]] = {}
        self._lengths: set[int] = set()
        self._before: Mapping[str, Any] = {}
        self._new = -1

    def prefill(self, record: LogRecord, new: int, cached: int, seqs: int, running: int, idle: bool) -> None:
        """A prefill line and its counts; ``idle``: nothing was running and nothing waits."""
        values, extra = record.values, record.extra
        if len(values) not in self._lengths or extra:
            self._look(values, extra, self.prefill_keys, len(values))
        pages = self.pages
        if pages.new != 1:
            pages.new = gcd(pages.new, new)
        if cached:
            if pages.cached != 1:
                pages.cached = gcd(pages.cached, cached)
            if cached <= seqs:
                self.few_shared += 1
        self.reuse.add(new, cached, seqs)
        self.largest_batch = max(self.largest_batch, new)
        if new != self._new or not self.twins.compare(values, self._before):
            if self.twins.running:
                self.twins.end()
            self._new = new
            self._before = values
        if idle and seqs == 1 and cached <= PROBE_TOKENS:
            self.probes.add(new)
        bits = (running + seqs).bit_length()
        level = self._levels.get(bits)
        if level is None:
            level = self._levels[bits] = [0, 0]
        level[0] += new
        level[1] += cached

    def decode(self, values: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        """A decode line."""
        if -len(values) not in self._lengths or extra:
            self._look(values, extra, self.decode_keys, -len(values))
        if self.pages.used != 1:
            for key in _USED:
                used = values.get(key)
                if used.__class__ is int:
                    self.pages.used = gcd(self.pages.used, used)

    def learn(self, labels: tuple[str, ...], record: LogRecord) -> None:
        """A line of a shape whose other lines come as a sheet; ``shapes`` are those known."""
        self.shapes.add(labels)
        length = len(record.values)
        if record.kind == "prefill":
            self._look(record.values, record.extra, self.prefill_keys, length)
        else:
            self._look(record.values, record.extra, self.decode_keys, -length)

    def use(self, sheet: Sheet) -> None:
        """Decode lines of a sheet: tokens in use."""
        for key in _USED:
            if self.pages.used != 1 and sheet.has(key):
                used = sheet.counts(key)[~sheet.prefill]
                self.pages.used = gcd(self.pages.used, int(np.gcd.reduce(used[used >= 0])))

    def count(self, new: Counts, cached: Counts, seqs: Counts, running: Counts) -> None:
        """Prefill lines of a sheet."""
        pages = self.pages
        if pages.new != 1:
            pages.new = gcd(pages.new, int(np.gcd.reduce(new)))
        if pages.cached != 1:
            pages.cached = gcd(pages.cached, int(np.gcd.reduce(cached)))
        self.few_shared += int(((cached > 0) & (cached <= seqs)).sum())
        self.reuse.count(new, cached, seqs)
        self.largest_batch = max(self.largest_batch, int(new.max()))
        self._new = -1
        bits = np.frexp((running + seqs).astype(np.float64))[1]
        for one in np.unique(bits).tolist():
            level = self._levels.setdefault(one, [0, 0])
            level[0] += int(new[bits == one].sum())
            level[1] += int(cached[bits == one].sum())

    def levels(self) -> dict[int, Level]:
        """By the power of two that a line's requests stay below."""
        return {1 << bits: Level(*tokens) for bits, tokens in sorted(self._levels.items())}

    def _look(self, values: Mapping[str, Any], extra: Mapping[str, Any], keys: set[str], length: int) -> None:
        self._lengths.add(length)
        if "truncated" in values:
            return
        keys.update(values)
        keys.update(extra)
        stamp = values.get("timestamp")
        if isinstance(stamp, str) and len(stamp) <= _CLOCK_LENGTH and stamp[2:3] == ":":
            self.clock_only = True
