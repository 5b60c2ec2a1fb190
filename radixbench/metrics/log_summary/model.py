"""The figures of a log, and what must be known to read them.

An unknown figure is ``None``, never 0, and the block that lacks it says why in ``reason``. Times are
seconds, on the log's own axis where they are moments; token counts are as the server prints them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from radixbench.logs.record import LineCounts

Bound = Literal["lower"]
Role = Literal["unified", "prefill", "decode"]


@dataclass(frozen=True, slots=True)
class Note:
    """One thing a reader must know. ``code`` is stable; ``text`` one or two sentences with figures."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class PrefillFigures:
    """Prefill batches. ``hit_rate`` is cached / (cached + new) over ``cached_tokens`` and ``new_tokens`` as given here.

    ``new_seq`` sums what the lines print; ``continuations`` of them are later chunks of a prompt already
    counted, ``readmissions`` were sent back to the queue before, so that
    ``prompts = new_seq - continuations - readmissions``. ``hit_rate_bound`` is ``lower`` where the true rate can only be higher.
    ``hit_rate_upper`` is then the most that it can be. ``largest_batch_tokens`` is the most new tokens of one batch.
    """

    batches: int | None = None
    new_seq: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    hit_rate: float | None = None
    hit_rate_bound: Bound | None = None
    prompts: int | None = None
    continuations: int | None = None
    readmissions: int | None = None
    largest_batch_tokens: int | None = None
    reason: str | None = None
    hit_rate_upper: float | None = None


@dataclass(frozen=True, slots=True)
class DecodeFigures:
    """Decode batches. ``accept_len`` weights each line by its running requests.

    ``idle_lines`` are left out of the throughput: their rate includes idle time (vLLM's tell of none at all). ``left_out`` splits them
    by reason: ``first of a rank``, ``after an idle gap`` (of the same length as one between phases), ``diluted`` by a shorter rest.
    """

    batches: int | None = None
    running_mean: float | None = None
    running_max: int | None = None
    graph_share: float | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    idle_lines: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of values that lines hold, in seconds; exact up to a hundred thousand values, then within 0.5 %."""

    n: int
    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """From lines about single requests only; batch lines can't tell a latency.

    ``forward`` is prefill and decode together, from leaving the queue to the end. ``hit_rate`` is ``cached_tokens`` of
    ``known_prompt_tokens``, the prompt tokens of the requests that tell both; ``prompt_tokens`` are those of all.
    """

    n: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    hit_rate: float | None = None
    ttft: Quantiles | None = None
    e2e: Quantiles | None = None
    queue: Quantiles | None = None
    prefill: Quantiles | None = None
    decode: Quantiles | None = None
    reason: str | None = None
    forward: Quantiles | None = None
    known_prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """Tokens per second: tokens over the time they took, never an average of printed rates.

    ``input`` counts cached and new prompt tokens, ``computed`` new ones, both over ``busy_s``; ``output`` over the time its
    decode lines cover, those after an idle gap left out. ``basis`` says in words how each came about. ``idle_after_s``: longer gaps
    between lines count as idle; 0 where the lines tell exactly when they worked, ``None`` where gaps decide nothing.
    """

    input: float | None = None
    computed: float | None = None
    output: float | None = None
    busy_s: float | None = None
    idle_after_s: float | None = None
    basis: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Pressure:
    """Queue and pools, over all batch lines. ``pools`` maps each printed pool (``token``, ``swa``, ``mamba`` …) to its highest usage, 0 to 1."""

    queue_mean: float | None = None
    queue_max: int | None = None
    queued_share: float | None = None
    pending_tokens_max: int | None = None
    pools: dict[str, float] = field(default_factory=dict)
    full_share: float | None = None
    retract_events: int = 0
    retracted_requests: int = 0
    pool_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ServerWindow:
    """A hit rate the server itself prints over a window of its own choice: not this log's, and shown apart from it."""

    what: str
    last: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RankFigures:
    """One printed rank. ``counted`` is false where another rank prints the same batches."""

    rank: str
    counted: bool
    prefill: PrefillFigures
    decode: DecodeFigures
    throughput: Throughput
    pressure: Pressure


@dataclass(frozen=True, slots=True)
class Window:
    """One row of the table over time; ``start_s`` on the log's axis, ``label`` as a log would print it.

    ``output_throughput`` is ``output_tokens`` over ``output_s``, the time that the decode lines within cover: what
    neighbouring windows are added up by.
    """

    start_s: float
    length_s: float
    label: str
    prefill_batches: int = 0
    new_tokens: int = 0
    cached_tokens: int = 0
    hit_rate: float | None = None
    decode_batches: int = 0
    output_throughput: float | None = None
    output_tokens: float | None = None
    output_s: float | None = None
    running_max: int | None = None
    queue_max: int | None = None
    usage_max: float | None = None
    pools: dict[str, float] = field(default_factory=dict)
    server_hit_rate: float | None = None
    events: dict[str, int] = field(default_factory=dict)


PhaseKind = Literal["start-up", "busy", "idle"]


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of time of one character; ``opened_by`` names the event that it begins with. Phases leave no hole."""

    kind: PhaseKind
    start_s: float
    end_s: float
    label: str
    prefill_batches: int = 0
    decode_batches: int = 0
    new_tokens: int = 0
    cached_tokens: int = 0
    hit_rate: float | None = None
    opened_by: str | None = None


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Prefill lines by how many requests were at work, theirs included: fewer than ``below``, a power of two, and at least half of it."""

    below: int
    new_tokens: int
    cached_tokens: int
    hit_rate: float | None = None


Cause = Literal["cache-off", "empty-cache", "no-hit", "behind-the-hit", "computed-again", "untold"]


@dataclass(frozen=True, slots=True)
class UncachedPart:
    """Some of the new tokens, and why they had to be computed; ``untold``: the log doesn't say."""

    cause: Cause
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at one moment: a flush, a retraction, a restart."""

    line_no: int
    at_s: float | None
    label: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a log that its figures are of, in the user's words, and the records in it by kind."""

    since: str | None
    until: str | None
    ranks: tuple[str, ...]
    by_kind: dict[str, int]


@dataclass(frozen=True, slots=True)
class LogSummary:
    """Everything ``radixbench logs`` says about one log. ``server`` holds the cache settings that start-up lines state.

    ``time_shares`` are the seconds of each kind of phase. ``uncached`` splits the new tokens by cause. ``quote`` says which of two known hit rates is the better one, ``quote_reason`` why.
    ``lines`` counts the whole log; ``selected`` is set where the figures are of a part. ``interrupted``: reading was stopped.
    """

    file: str
    dialect: str
    lines: LineCounts
    first: str | None
    last: str | None
    span_s: float | None
    role: Role
    prefill: PrefillFigures
    decode: DecodeFigures
    requests: RequestFigures
    throughput: Throughput
    pressure: Pressure
    server_windows: tuple[ServerWindow, ...] = ()
    server: dict[str, Any] = field(default_factory=dict)
    ranks: tuple[RankFigures, ...] = ()
    windows: tuple[Window, ...] = ()
    phases: tuple[Phase, ...] = ()
    time_shares: dict[str, float] = field(default_factory=dict)
    concurrency: tuple[Concurrency, ...] = ()
    events: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()
    selected: Selected | None = None
    interrupted: bool = False
    uncached: tuple[UncachedPart, ...] = ()
    quote: Literal["batches", "requests"] | None = None
    quote_reason: str | None = None
