"""What lines about single requests add up to: tokens, reuse, and the only latencies a log can hold.

``Finish:`` lines, ``ReqTimeStats`` lines, our own finish records and llama.cpp's timings are books of their own: a server
may print two of them for one request, so they are never added. A request whose cached tokens exceed its prompt was
miscounted by its server after a retraction; it is told, not summed.
"""

from __future__ import annotations

from typing import Any

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.model import Quantiles
from radixbench.metrics.log_summary.readable import count
from radixbench.records import FinishRecord
from radixbench.stats.stream_quantile import StreamQuantile
from radixbench.units import NS_PER_S

_HEALTH = "HEALTH_CHECK"
_LONGEST_S = 1e7
_MS = 1e-3


class RequestBook:
    """Requests of one kind of line. ``known`` counts those whose prompt and cached tokens are both known, ``known_no_hit_tokens`` the
    other prompt tokens of those among them that reused at most one, the first (BOS), which all prompts share.

    ``probes`` were health checks and count as no requests, ``unfinished`` were aborted and have no latency.
    """

    __slots__ = (
        "above_prompt", "cached_tokens", "decode", "e2e", "forward", "known", "known_no_hit_tokens", "known_prompt_tokens", "n", "output_known",
        "output_tokens", "prefill", "probes", "prompt_known", "prompt_tokens", "queue", "ttft", "unfinished",
    )  # fmt: skip

    def __init__(self) -> None:
        self.n = self.probes = self.unfinished = 0
        self.prompt_tokens = self.prompt_known = 0
        self.output_tokens = self.output_known = 0
        self.cached_tokens = self.known_prompt_tokens = self.known = 0
        self.known_no_hit_tokens = 0
        self.above_prompt = 0
        self.ttft = StreamQuantile()
        self.e2e = StreamQuantile()
        self.queue = StreamQuantile()
        self.prefill = StreamQuantile()
        self.decode = StreamQuantile()
        self.forward = StreamQuantile()

    def add(self, prompt: Any, cached: Any, output: Any) -> None:
        """One request's tokens; what was not printed is ``None``."""
        self.n += 1
        self.learn(count(prompt), count(cached), count(output))

    def learn(self, prompt: int | None, cached: int | None, output: int | None) -> None:
        """More of a request that was added without it."""
        if output is not None:
            self.output_tokens += output
            self.output_known += 1
        if prompt is None:
            return
        self.prompt_tokens += prompt
        self.prompt_known += 1
        if cached is None:
            return
        if cached > prompt:
            self.above_prompt += 1
            return
        self.known += 1
        self.known_prompt_tokens += prompt
        self.cached_tokens += cached
        if cached <= 1:
            self.known_no_hit_tokens += prompt - cached

    def merge(self, other: RequestBook) -> None:
        """Take in another server's requests."""
        for name in self.__slots__:
            mine, its = getattr(self, name), getattr(other, name)
            if isinstance(mine, StreamQuantile):
                mine.merge(its)
            else:
                setattr(self, name, mine + its)

    @property
    def hit_rate(self) -> float | None:
        """Cached of the prompt tokens of all requests that say both."""
        return self.cached_tokens / self.known_prompt_tokens if self.known_prompt_tokens else None


class RequestBooks:
    """The books of one rank. ``finished`` is of ``Finish:`` lines, ``timed`` of ``ReqTimeStats`` lines and our own."""

    __slots__ = ("finished", "timed")

    def __init__(self) -> None:
        self.finished = RequestBook()
        self.timed = RequestBook()

    def finish(self, record: LogRecord) -> None:
        """A request that its server reports as answered, with ``meta_info``."""
        values, extra, book = record.values, record.extra, self.finished
        if str(extra.get("rid", "")).startswith(_HEALTH):
            book.probes += 1
            return
        book.add(values.get("prompt_tokens"), values.get("cached_tokens"), values.get("completion_tokens"))
        if "abort" in str(extra.get("finish_reason", "")):
            book.unfinished += 1
            return
        take(book.ttft, extra.get("first_token_latency"))
        take(book.e2e, extra.get("e2e_latency"))
        take(book.queue, extra.get("queue_time"))

    def stats(self, record: LogRecord) -> None:
        """A ``ReqTimeStats`` line; one of our own holds exact times."""
        values, extra, book = record.values, record.extra, self.timed
        if str(extra.get("rid", "")).startswith(_HEALTH):
            book.probes += 1
            return
        book.add(values.get("input_len"), values.get("cached_input_len"), values.get("output_len"))
        if isinstance(record.exact, FinishRecord):
            _take_exact(book, record.exact)
        else:
            take(book.queue, extra.get("queue_duration_ms"), _MS)
            take(book.forward, extra.get("forward_duration_ms"), _MS)


def take(stream: StreamQuantile, printed: Any, unit_s: float = 1.0) -> None:
    """Add a printed duration, if it is one."""
    if printed.__class__ in (int, float) and 0 <= printed <= _LONGEST_S / unit_s:
        stream.add(printed * unit_s)


def quantiles(stream: StreamQuantile) -> Quantiles | None:
    """Median and 99th percentile; ``None`` without a value."""
    p50, p99 = stream.quantile(0.5), stream.quantile(0.99)
    return Quantiles(stream.n, p50, p99) if isinstance(p50, float) and isinstance(p99, float) else None


def _take_exact(book: RequestBook, record: FinishRecord) -> None:
    take(book.e2e, record.e2e_ns, 1 / NS_PER_S)
    take(book.queue, record.queue_ns, 1 / NS_PER_S)
    take(book.forward, record.forward_ns, 1 / NS_PER_S)
    if record.ttft_ns is not None:
        take(book.ttft, record.ttft_ns, 1 / NS_PER_S)
        take(book.prefill, record.ttft_ns - record.queue_ns, 1 / NS_PER_S)
        take(book.decode, record.e2e_ns - record.ttft_ns, 1 / NS_PER_S)
