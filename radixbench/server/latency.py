"""Latency histograms as the engine sees them, in buckets, cheap enough for every token.

Kept apart from the exporter's own histograms because those take a lock per observation; the engine
thread alone writes here, and a reader that sees one observation more or less is no worse off.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from radixbench.engine.engine import StepResult
from radixbench.records import FinishRecord
from radixbench.units import Nanoseconds, Seconds, seconds

_LONG = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0, 200.0, 400.0)
_FIRST = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *_LONG)
_GAP = (0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 1.0, 2.0)


class Histogram:
    """Counts of observations, in seconds, by upper bucket bound."""

    def __init__(self, name: str, help_text: str, bounds: Sequence[Seconds]) -> None:
        self.name = name
        self.help_text = help_text
        self.sum: Seconds = 0.0
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)

    def observe(self, value: Seconds) -> None:
        """One observation."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, float]]:
        """Cumulative counts by upper bound, as Prometheus wants them, ``+Inf`` last."""
        total, found = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


class Latencies:
    """TTFT, gaps between tokens, queue time and end-to-end time of every request."""

    def __init__(self) -> None:
        self.ttft = Histogram("time_to_first_token_seconds", "From arrival to the first token.", _FIRST)
        self.e2e = Histogram("e2e_request_latency_seconds", "From arrival to the last token.", _FIRST)
        self.itl = Histogram("inter_token_latency_seconds", "Between two tokens of a request.", _GAP)
        self.queue = Histogram("queue_time_seconds", "From arrival to admission.", (0.0, *_FIRST))
        self.last_prefill_hit_rate: float | None = None
        self._last_token_ns: dict[str, Nanoseconds] = {}

    def all(self) -> tuple[Histogram, ...]:
        """Every histogram."""
        return (self.ttft, self.e2e, self.itl, self.queue)

    def observe(self, result: StepResult, finished: Sequence[FinishRecord]) -> None:
        """One step's tokens and finished requests."""
        record, last = result.record, self._last_token_ns
        now = record.end_ns
        for event in result.tokens:
            before = last.get(event.rid)
            if before is not None and event.output_index:
                self.itl.observe(seconds(now - before))
            last[event.rid] = now
        for finish in finished:
            last.pop(finish.rid, None)
            self.queue.observe(seconds(finish.queue_ns))
            self.e2e.observe(seconds(finish.e2e_ns))
            if finish.ttft_ns is not None:
                self.ttft.observe(seconds(finish.ttft_ns))
        prompt = record.cached_tokens + record.new_tokens
        if record.phase == "prefill" and prompt:
            self.last_prefill_hit_rate = record.cached_tokens / prompt

    def forget(self, rid: str) -> None:
        """A request that was aborted leaves nothing behind."""
        self._last_token_ns.pop(rid, None)
