"""The latest window of a log that is still growing."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import LogSummary, Window
from radixbench.report import text
from radixbench.report.logs.labels import events_words
from radixbench.report.logs.model import Fact, Section
from radixbench.report.logs.numbers import clock_span, per_second, rate, usage


def now_facts(summary: LogSummary) -> Section | None:
    """What the last window tells; ``None`` before there is one."""
    if not summary.windows:
        return None
    window = summary.windows[-1]
    facts = tuple(_facts(window))
    return Section("now", f"Now: {clock_span(window.length_s)} from {window.label}", facts) if facts else None


def _facts(window: Window) -> Iterator[Fact]:
    if window.hit_rate is not None:
        yield Fact("hit_rate", "hit rate in the window", rate(window.hit_rate))
    if window.server_hit_rate is not None:
        yield Fact("server_hit_rate", "server's own rate", rate(window.server_hit_rate))
    if window.output_throughput is not None:
        yield Fact("output", "output", per_second(window.output_throughput))
    if window.running_max is not None:
        yield Fact("running", "running", text.count(window.running_max))
    if window.queue_max is not None:
        yield Fact("queue", "waiting", text.count(window.queue_max))
    for name, value in window.pools.items():
        yield Fact(f"pool_{name}", f"{name} usage", usage(value))
    if window.events:
        yield Fact("events", "events", events_words(window.events))
