"""What travels between rooms: raw facts, each stamped on the host's monotonic clock.

The scheduler makes ``StepRecord`` and ``FinishRecord``, the client ``RequestRecord``, telemetry
``GpuSample``. What is logged, parsed, captured and summarised is one type. Nothing here is
derived: rates, percentiles and hit rates are computed in ``metrics`` from these, again and again.

An unknown value is ``None``, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["prefill", "decode"]
Mode = Literal["on", "off"]
_LEAST_ERROR = 400
_PERHAPS_COMPUTED = frozenset({408, 499, 500, 502, 504})

RequestStatus = Literal["completed", "failed", "cancelled"]
TokenSource = Literal["usage", "token_ids", "chunks"]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What one scheduler step did. Token counts are exact (never rounded to pages).

    ``new_seq``, ``new_tokens`` and ``cached_tokens`` are of a prefill step (a continued chunk counts as
    one sequence and reports no cached tokens); a decode step has ``new_seq`` 0 and one new token for
    each of ``running_req``. For a prefill step ``running_req`` counts the requests that decode
    meanwhile. ``queue_req`` is the waiting queue after admission; ``pending_tokens`` what the waiting
    requests and the rest of a chunked one still have to compute.
    ``used_slots`` counts slots of running requests (cached but unlocked tree entries don't count,
    as in SGLang's ``token usage``), ``held_tokens`` the tokens of the running batch.
    ``host_ns`` is the time tree and scheduler took in this step, ``end_ns - start_ns`` the whole step.
    ``evicted_tokens`` were dropped from the tree, ``retracted_req`` sent back to the queue in this step.
    """

    phase: Phase
    step: int
    start_ns: int
    end_ns: int
    host_ns: int
    new_seq: int
    new_tokens: int
    cached_tokens: int
    running_req: int
    queue_req: int
    pending_tokens: int
    held_tokens: int
    used_slots: int
    pool_slots: int
    evicted_tokens: int = 0
    retracted_req: int = 0
    graph: bool = False


@dataclass(frozen=True, slots=True)
class FinishRecord:
    """What the server knows of one finished request: SGLang's ``ReqTimeStats``, then exact times.

    ``attempts`` is 1 plus the retractions. ``cached_input_len`` is counted at first admission only.
    ``entry_ns`` is the arrival; ``ttft_ns`` and ``e2e_ns`` run from it. ``ttft_ns`` is ``None`` for a
    request that never produced a token.
    """

    rid: str
    input_len: int
    cached_input_len: int
    output_len: int
    attempts: int
    queue_ns: int
    forward_ns: int
    entry_ns: int
    ttft_ns: int | None
    e2e_ns: int
    finish_reason: str = "length"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """What the client saw of one request.

    ``prompt`` is the request's place in the run's workload, ``conversation`` and ``turn`` where it
    belongs, ``group`` the prefix it shares. ``due_ns`` is when it should have been sent (equal to
    ``send_ns`` in a closed loop). ``chunk_ns[i]`` is the arrival of the i-th event that carried
    generated tokens and ``chunk_tokens[i]`` how many it carried; ``end_ns`` is the end of the
    response. Counts are the server's word (``usage``); ``output_source`` says where ``output_tokens``
    came from. ``error`` is set exactly when ``status`` isn't ``completed``. ``model`` is the name the answer
    itself carried. ``content_chars`` and ``reasoning_chars`` are the characters of either channel, and
    ``blank_chars`` how many of both are whitespace; ``json_like`` says that the content begins as a JSON object or
    array does. All four are ``None`` where no text was looked at.
    """

    rid: str
    prompt: int
    conversation: int
    turn: int
    group: int
    requested_tokens: int
    sent_prompt_tokens: int
    due_ns: int
    send_ns: int
    end_ns: int
    status: RequestStatus
    chunk_ns: tuple[int, ...] = ()
    chunk_tokens: tuple[int, ...] = ()
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    output_source: TokenSource | None = None
    cached_tokens: int | None = None
    output_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    http_status: int | None = None
    error: str | None = None
    text: str | None = None
    model: str | None = None
    content_chars: int | None = None
    reasoning_chars: int | None = None
    blank_chars: int | None = None
    json_like: bool | None = None

    @property
    def first_token_ns(self) -> int | None:
        """Arrival of the first event that carried a generated token."""
        return self.chunk_ns[0] if self.chunk_ns else None

    @property
    def turned_away(self) -> bool:
        """Refused over HTTP before anything of it was computed, so that it left nothing in a cache.

        A status that tells of a time limit, a fault in mid-work or a gateway's trouble with the server behind it leaves
        that open.
        """
        if self.status == "completed" or self.chunk_ns or self.http_status is None:
            return False
        return self.http_status >= _LEAST_ERROR and self.http_status not in _PERHAPS_COMPUTED


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One telemetry reading of one device; a reading the device doesn't offer is ``None``.

    Clocks in MHz, power in mW, temperature in °C, utilisation and load in percent, memory in bytes.
    ``event_reasons`` is NVML's bit mask as read, unknown bits kept. ``cpu_clock_mhz`` (mean over
    cores) and ``cpu_load_pct`` are what a machine without a GPU can tell. ``*_ns`` but ``at_ns`` are the driver's counters
    of the time for which it held the clocks back, one a reason, and ``energy_mj`` that of energy: all as read, counting
    from some time in the past, so that only their differences mean anything.
    """

    at_ns: int
    device: int = 0
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    event_reasons: int | None = None
    power_mw: int | None = None
    temperature_c: int | None = None
    utilization_pct: int | None = None
    memory_used_bytes: int | None = None
    cpu_clock_mhz: float | None = None
    cpu_load_pct: float | None = None
    power_cap_ns: int | None = None
    sync_boost_ns: int | None = None
    sw_thermal_ns: int | None = None
    hw_thermal_ns: int | None = None
    power_brake_ns: int | None = None
    energy_mj: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What stays the same for one device during a run; ``power_limit_mw`` is the one in force when the run began.

    ``clock_source`` names which clock ``sm_clock_mhz`` is (``sm`` or ``graphics``); ``power_kind`` whether
    power is a 1-s mean or instantaneous; ``unsupported`` lists the readings the device refuses.
    """

    index: int
    name: str
    uuid: str | None = None
    max_sm_clock_mhz: int | None = None
    max_memory_clock_mhz: int | None = None
    power_limit_mw: int | None = None
    memory_total_bytes: int | None = None
    driver: str | None = None
    clock_source: Literal["sm", "graphics"] | None = None
    power_kind: Literal["average", "instant"] | None = None
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TelemetryInfo:
    """How a run's samples came about: which probe, how often, at what cost, what was missed.

    ``ended_early`` is why there are no more samples from some moment of the run on; ``None`` where they go to its end.
    ``unread`` is why no GPU was read at all; ``None`` where one was.
    """

    probe: str
    interval_ns: int
    ticks: int
    missed_ticks: int
    failed_reads: int
    read_ns_mean: int | None
    devices: tuple[DeviceInfo, ...] = ()
    note: str | None = None
    ended_early: str | None = None
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """What the client cost while it measured: whether it, and not the server, set the numbers.

    ``cpu_ns`` is CPU time of the client's process during the measured window. ``reads`` are reads of
    streamed answers, ``chunks`` events that carried tokens, ``coalesced_chunks`` those that came in the same
    read as the one before on the same stream. ``ticks`` of a timer every ``tick_interval_ns`` watched the
    event loop: ``stalls`` of them came more than ``stall_threshold_ns`` late, ``stall_max_ns`` the worst.
    Lateness is not kept here: it is ``send_ns - due_ns`` of every request.
    """

    cpu_ns: int
    reads: int
    chunks: int
    coalesced_chunks: int
    ticks: int
    tick_interval_ns: int
    stalls: int
    stall_threshold_ns: int
    stall_max_ns: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the client measured of a mock server that knows its own write times, before the run.

    ``ttft_error_*`` is the client's stamp of the first token minus the mock's stamp of writing it, ``lag_*`` the
    same for every chunk, ``late_*`` how late the mock itself wrote against its schedule: a mock that was late
    discredits the calibration, not the client. All in nanoseconds.
    """

    streams: int
    chunks: int
    seconds: float
    cpu_ns_per_chunk: int
    chunks_per_s: float
    ttft_error_p50_ns: int
    ttft_error_p99_ns: int
    lag_p50_ns: int
    lag_p99_ns: int
    late_p50_ns: int
    late_p99_ns: int
    coalesced_share: float


@dataclass(frozen=True, slots=True)
class ServerCounters:
    """A server's own counters over a window: after minus before. ``None`` is a counter it doesn't have.

    ``source`` is the endpoint they were read from. ``cached_tokens`` and ``prompt_tokens`` are as the server
    counts them (``cached_by_tier`` splits the former where it does); ``preemptions`` are vLLM's word for
    SGLang's retractions. ``reset`` says that a counter fell in between: the server was restarted.
    """

    source: str
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    requests: int | None = None
    preemptions: int | None = None
    evicted_tokens: int | None = None
    cached_by_tier: dict[str, int] = field(default_factory=dict)
    reset: bool = False


@dataclass(frozen=True, slots=True)
class LogTotals:
    """What a server's log lines say of a run's window, summed over its prefill lines.

    ``prefill_lines`` of 0 means the log says nothing of cached tokens, which are then ``None``.
    ``peak_token_usage`` and ``peak_state_usage`` (hybrid models' state pool) are ratios, ``window_hit_rate``
    the last rolling rate a server printed (vLLM), which isn't this run's.
    """

    dialect: str | None
    prefill_lines: int
    decode_lines: int
    new_tokens: int | None = None
    cached_tokens: int | None = None
    retractions: int = 0
    peak_token_usage: float | None = None
    peak_state_usage: float | None = None
    window_hit_rate: float | None = None
    chunk_continuations_as_hits: bool = False


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """Where recorded traffic came from, and what was left out of it.

    ``format`` as read (``sharegpt``, ``openai``, ``mooncake``, ...), ``sha256`` of the file's bytes (``None`` for a hub
    data set), ``dropped`` counts items by the reason in words, ``notes`` say what else a reader must know.
    """

    name: str
    format: str
    sha256: str | None
    items_read: int
    items_used: int
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
