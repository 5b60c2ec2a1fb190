"""Everything the mock does, fixed before it starts: a behaviour that isn't written here doesn't happen.

The groups are what a client notices: when bytes come (``Pace``), how they are cut up (``Shape``), what answers
say of themselves (``Reporting``), what goes wrong (``Faults``), what is cached (``CacheSettings``) and what is said of
the cache that isn't so (``Lies``). The defaults are a quick, honest server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from radixbench.errors import UsageError
from radixbench.mock.which import ALL, NEVER, Which

Dialect = Literal["sglang", "vllm", "llamacpp"]
Reasoning = Literal["none", "reasoning_content", "reasoning"]
Letters = Literal["plain", "multibyte", "blank"]
LineEnd = Literal["lf", "crlf", "cr"]
UsageMode = Literal["asked", "always", "never", "last", "continuous"]
CachedMode = Literal["always", "nonzero", "never"]
CutKind = Literal["reset", "close"]
FlushMode = Literal["honest", "lies", "unsuccessful", "absent"]
MetricsMode = Literal["on", "absent", "frozen"]
Finds = Literal["all", "repeats", "extensions"]


@dataclass(frozen=True, slots=True)
class Pace:
    """When tokens are due, in seconds since the request came in complete.

    The first event with tokens after ``ttft_s`` plus ``ttft_per_token_s`` for each prompt token that isn't cached; each
    further one ``gap_s`` later, however many tokens it has. ``jitter`` of 0.2 scales every wait by a seeded factor from 0.8 to 1.2.
    """

    ttft_s: float = 0.0
    ttft_per_token_s: float = 0.0
    gap_s: float = 0.0
    jitter: float = 0.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How a stream is cut into events and writes.

    An event has ``tokens_per_frame`` tokens. ``frames_per_write`` events leave in one write, when the last of them is due. ``split_bytes`` cuts every write of the
    response (head and chunk sizes too) into pieces of that many bytes, ``split_gap_s`` apart. Events that
    start within the first ``reasoning_tokens`` of a chat's answer come on the channel ``reasoning``. ``comment_every`` puts a comment after each
    n-th event, ``ping_interval_s`` one whenever that much time has passed since the request came in.
    ``early_head`` sends the response's head at once, else it comes with the first event. ``role_chunk``
    opens a chat's stream at once.
    """

    tokens_per_frame: int = 1
    frames_per_write: int = 1
    split_bytes: int | None = None
    split_gap_s: float = 0.0
    line_end: LineEnd = "lf"
    role_chunk: bool = True
    reasoning: Reasoning = "none"
    reasoning_tokens: int = 0
    letters: Letters = "plain"
    comment_every: int | None = None
    ping_interval_s: float | None = None
    empty_choices: bool = False
    finish_apart: bool = False
    early_head: bool = True


@dataclass(frozen=True, slots=True)
class Reporting:
    """What answers say of their token counts.

    ``usage``: ``asked`` sends it in an event of its own when ``stream_options.include_usage`` asks, ``always`` unasked,
    ``last`` with the event that ends the answer, ``continuous`` with every event, ``never`` not at all. ``cached``:
    whether ``prompt_tokens_details.cached_tokens`` is there, ``nonzero`` leaves out a 0. ``overcount``
    is added to the cached tokens of the answers that are ``overcounted``.
    """

    usage: UsageMode = "asked"
    usage_missing: Which = NEVER
    cached: CachedMode = "always"
    cached_missing: Which = NEVER
    overcount: int = 0
    overcounted: Which = ALL


@dataclass(frozen=True, slots=True)
class Failure:
    """An HTTP status that some requests get instead of an answer."""

    status: int
    which: Which


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, and in which requests.

    A cut ends the connection after ``cut_after_bytes`` bytes of the response, head included, plus ``cut_step`` for each
    request before: with 0 and 1 request ``n`` is cut after ``n - 1`` bytes. A stall comes after
    ``stall_after_frames`` events with tokens and lasts ``stall_s``, or for ever. ``error_after_frames`` sends an error
    event instead of the rest.
    """

    failures: tuple[Failure, ...] = ()
    retry_after_s: float | None = None
    cut_after_bytes: int | None = None
    cut_step: int = 0
    cut_kind: CutKind = "reset"
    cut: Which = ALL
    stall_after_frames: int | None = None
    stall_s: float = math.inf
    stalled: Which = ALL
    error_after_frames: int | None = None
    erring: Which = ALL
    empty: Which = NEVER
    no_done: Which = NEVER
    answer_model: str | None = None
    renamed: Which = ALL


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """The cache that is modelled: prefixes in whole pages, the oldest dropped beyond ``capacity_tokens``.

    ``outer_tier`` keeps a second, unbounded copy that a plain flush spares. ``prewarmed_tokens`` of any prompt count
    as cached until the first flush that works, as if they had been sent before. Without ``honours_salt``
    requests share prefixes whatever their ``cache_salt`` or ``extra_key``. ``finds`` of ``repeats`` finds a prompt that was
    sent before whole and never one that goes on; ``extensions`` everything but such a repeat, as hybrid models whose
    state is kept at other places.
    """

    enabled: bool = True
    page_size: int = 1
    capacity_tokens: int = 1 << 20
    honours_salt: bool = True
    outer_tier: bool = False
    prewarmed_tokens: int = 0
    finds: Finds = "all"


@dataclass(frozen=True, slots=True)
class Lies:
    """What the control endpoints say that isn't so.

    ``flush``: ``lies`` says it is done and does nothing, ``unsuccessful`` answers 200 with ``success: false``, ``absent`` is
    404. The first ``flush_refusals`` flushes get 400. ``metrics_cached_factor`` scales the counter of cached
    tokens; ``frozen`` metrics never move.
    """

    flush: FlushMode = "honest"
    flush_refusals: int = 0
    metrics: MetricsMode = "on"
    metrics_cached_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class MockSettings:
    """One mock. Raises ``UsageError`` for a value that can't be.

    Answers have ``max_tokens`` tokens (16 if the request doesn't say); with ``answer_tokens`` they end there by
    themselves, unless the request says ``ignore_eos``. ``keep_requests`` bounds the log kept in memory;
    ``write_log`` is complete.
    """

    host: str = "127.0.0.1"
    port: int = 0
    dialect: Dialect = "sglang"
    model: str = "mock"
    seed: int = 0
    vocab_size: int = 8192
    context_len: int = 131_072
    answer_tokens: int | None = None
    keep_requests: int = 20_000
    write_log: Path | None = None
    pace: Pace = field(default_factory=Pace)
    shape: Shape = field(default_factory=Shape)
    reporting: Reporting = field(default_factory=Reporting)
    faults: Faults = field(default_factory=Faults)
    cache: CacheSettings = field(default_factory=CacheSettings)
    lies: Lies = field(default_factory=Lies)

    def __post_init__(self) -> None:
        for name, value, low in self._bounded():
            if value is not None and not (value >= low and (value < math.inf or name == "stall")):
                raise UsageError(f"--{name} is {value:g}", remedy=f"give a number from {low:g}")
        if not 0.0 <= self.pace.jitter < 1.0:
            raise UsageError(f"--jitter is {self.pace.jitter:g}", remedy="give a share from 0 to below 1")
        if self.cache.capacity_tokens < self.cache.page_size:
            raise UsageError(
                f"--cache-tokens is {self.cache.capacity_tokens}, less than a page of {self.cache.page_size}",
                remedy="raise --cache-tokens or lower --page-size",
            )
        for failure in self.faults.failures:
            if not 400 <= failure.status <= 599:
                raise UsageError(f"--fail names status {failure.status}", remedy="give one from 400 to 599")

    def _bounded(self) -> tuple[tuple[str, float | None, float], ...]:
        pace, shape, faults, cache = self.pace, self.shape, self.faults, self.cache
        return (
            ("ttft", pace.ttft_s, 0),
            ("ttft-per-token", pace.ttft_per_token_s, 0),
            ("gap", pace.gap_s, 0),
            ("tokens-per-frame", shape.tokens_per_frame, 1),
            ("frames-per-write", shape.frames_per_write, 1),
            ("split-bytes", shape.split_bytes, 1),
            ("split-gap", shape.split_gap_s, 0),
            ("reasoning-tokens", shape.reasoning_tokens, 0),
            ("comment-every", shape.comment_every, 1),
            ("ping-interval", shape.ping_interval_s, 0.001),
            ("cut-after-bytes", faults.cut_after_bytes, 0),
            ("cut-step", faults.cut_step, 0),
            ("retry-after", faults.retry_after_s, 0),
            ("stall-after", faults.stall_after_frames, 0),
            ("stall", faults.stall_s, 0),
            ("error-after", faults.error_after_frames, 0),
            ("page-size", cache.page_size, 1),
            ("prewarmed", cache.prewarmed_tokens, 0),
            ("flush-refusals", self.lies.flush_refusals, 0),
            ("metrics-cached-factor", self.lies.metrics_cached_factor, 0),
            ("overcount", self.reporting.overcount, 0),
            ("vocab-size", self.vocab_size, 16),
            ("context-length", self.context_len, 2),
            ("answer-tokens", self.answer_tokens, 1),
            ("keep-requests", self.keep_requests, 1),
        )
