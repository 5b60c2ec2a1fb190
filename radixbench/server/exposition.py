"""``/metrics`` in Prometheus' text format, under SGLang's names.

Everything is read when it is scraped, from the engine's latest statistics; nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from radixbench.engine.engine import EngineStats
from radixbench.server.latency import Latencies

_PREFIX = "sglang:"


class Exposition(Collector):
    """One server's metrics, in a registry of its own."""

    def __init__(
        self, stats: Callable[[], EngineStats], latencies: Latencies, *, model_name: str, page_size: int
    ) -> None:
        self._stats = stats
        self._latencies = latencies
        self._labels = {"model_name": model_name}
        self._page_size = page_size
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """The present values, ready to send."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Every metric family, from one snapshot of the engine's statistics."""
        stats = self._stats()
        yield from self._counters(stats)
        yield from self._gauges(stats)
        yield from self._histograms()

    def _counters(self, stats: EngineStats) -> Iterator[Metric]:
        counters = (
            (
                "prompt_tokens",
                "Prompt tokens of admitted requests, cached ones included.",
                stats.prompt_tokens_total,
            ),
            ("generation_tokens", "Generated tokens.", stats.generation_tokens_total),
            ("num_requests", "Requests taken in.", stats.requests_total),
            ("num_aborted_requests", "Requests aborted.", stats.aborted_total),
            ("evicted_tokens", "Tokens dropped from the tree for want of room.", stats.evicted_tokens_total),
            (
                "num_retracted_requests",
                "Requests sent back to the queue for want of room.",
                stats.retracted_total,
            ),
        )
        for name, text, value in counters:
            family = CounterMetricFamily(_PREFIX + name, text, labels=tuple(self._labels))
            family.add_metric(tuple(self._labels.values()), value)
            yield family
        cached = CounterMetricFamily(
            f"{_PREFIX}cached_tokens",
            "Prompt tokens found in the cache.",
            labels=(*self._labels, "cache_source"),
        )
        cached.add_metric((*self._labels.values(), "device"), stats.cached_tokens_total)
        yield cached

    def _gauges(self, stats: EngineStats) -> Iterator[Metric]:
        hit_rate = self._latencies.last_prefill_hit_rate
        gauges: tuple[tuple[str, str, float | None], ...] = (
            ("num_running_reqs", "Requests running.", stats.running_req),
            ("num_queue_reqs", "Requests waiting.", stats.queue_req),
            ("num_used_tokens", "Slots of running requests.", stats.used_slots),
            ("token_usage", "Slots of running requests over all slots.", stats.used_slots / stats.pool_slots),
            ("cache_hit_rate", "Cached over all prompt tokens of the last prefill batch.", hit_rate),
            ("new_token_ratio", "Share of the promised output admission reserves.", stats.new_token_ratio),
            ("max_total_num_tokens", "Slots of the pool.", stats.pool_slots),
            ("kv_available_tokens", "Free slots.", stats.free_slots),
            ("kv_evictable_tokens", "Slots of cached tokens nobody uses.", stats.evictable_slots),
            ("page_size", "Tokens per page.", self._page_size),
        )
        for name, text, value in gauges:
            family = GaugeMetricFamily(_PREFIX + name, text, labels=tuple(self._labels))
            if value is not None:
                family.add_metric(tuple(self._labels.values()), value)
            yield family

    def _histograms(self) -> Iterator[Metric]:
        for histogram in self._latencies.all():
            family = HistogramMetricFamily(
                _PREFIX + histogram.name, histogram.help_text, labels=tuple(self._labels)
            )
            family.add_metric(tuple(self._labels.values()), histogram.buckets(), histogram.sum)
            yield family
