"""A capture: raw evidence and how it came about, nothing derived.

One capture holds the runs of one arm. Every figure radixbench ever prints can be recomputed from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from radixbench.clock import ClockAnchor
from radixbench.records import (
    Calibration,
    ClientRecord,
    CorpusRecord,
    FinishRecord,
    GpuSample,
    LogTotals,
    Mode,
    RequestRecord,
    ServerCounters,
    StepRecord,
    TelemetryInfo,
)
from radixbench.scenario.model import OffMode, Scenario

SCHEMA: Literal["radixbench.capture/1"] = "radixbench.capture/1"

RunStatus = Literal["completed", "incomplete", "failed"]
CellValue = int | float | str


@dataclass(frozen=True, slots=True)
class PrefixNode:
    """``len`` tokens after ``parent`` (``None`` for the root's children); ``sha256`` of those tokens alone."""

    parent: int | None
    len: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PromptTree:
    """Which token runs the prompts share, without the tokens.

    ``prompts[i]`` is the node at which the prompt of request i (by its ``prompt`` number) ends;
    ``sequences[i]`` the node at which prompt + answer ends, ``None`` without a known answer. The length of the common prefix
    of any two of them is the depth of their lowest common ancestor, in tokens, so sharing at any
    page size follows. ``held`` are nodes whose whole path was in the cache before the first request (primed or warm).
    """

    nodes: tuple[PrefixNode, ...]
    prompts: tuple[int | None, ...]
    sequences: tuple[int | None, ...]
    held: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One question put to a server about its cache: ``held`` is ``None`` where the server doesn't tell."""

    name: str
    held: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class ProtocolRecord:
    """What was done so that the cache was in the declared state, and what proves it.

    ``verified`` is ``None`` when the server doesn't tell; ``evidence`` says in words what was seen, ``checks``
    one by one. ``off_mode`` is how an arm without reuse came about: by a server that was started without its
    cache, by a salt of its own on every request, or by a flush before every request.
    ``priming_requests`` and ``primed_tokens`` are what was sent to fill the cache; ``flush_waited_ns`` is the time
    until the server agreed to flush, ``flush_tiers`` the tiers behind the device it was told to drop.
    ``ledger_repeats`` counts measured prompts whose first page this server had been sent since its last proved
    flush, outside of the run; how many it was ever sent stands in the check ``ledger``. ``omits_zero``: the probes showed
    that this server names cached tokens where there are some, and where there are none says nothing instead of 0.
    """

    declared: Literal["off", "cold", "primed", "warm"]
    verified: bool | None
    warmup_requests: int
    flush_attempts: int
    flush_status: int | None
    flush_body: str | None
    probe_cached_tokens: int | None
    evidence: str
    off_mode: OffMode | None = None
    priming_requests: int = 0
    primed_tokens: int = 0
    flush_waited_ns: int = 0
    flush_tiers: tuple[str, ...] = ()
    ledger_repeats: int = 0
    checks: tuple[Check, ...] = ()
    omits_zero: bool = False


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """The server a run was measured against. ``args`` are its resolved arguments as it states them."""

    engine: str
    version: str | None
    pid: int | None
    base_url: str
    model: str
    args: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One seed of one cell on one arm.

    ``order`` numbers the runs of the whole sweep, both arms together, in the order they ran.
    ``server.identity`` of what decides the output: model, weights and tokenizer hashes, dtype, device,
    random weights or not. ``text`` of requests is kept only when asked for.
    """

    cell: dict[str, CellValue]
    seed: int
    mode: Mode
    order: int
    status: RunStatus
    error: str | None
    clock_anchor: ClockAnchor
    start_ns: int
    end_ns: int
    workload_digest: str
    requested: int
    server: ServerRecord
    protocol: ProtocolRecord
    telemetry: TelemetryInfo
    prompts: PromptTree
    requests: tuple[RequestRecord, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    finishes: tuple[FinishRecord, ...] = ()
    gpu: tuple[GpuSample, ...] = ()
    steps_complete: bool = True
    client: ClientRecord | None = None
    counters: ServerCounters | None = None
    log: LogTotals | None = None
    corpus: CorpusRecord | None = None


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A run that left nothing to keep, and why; a resumed sweep tries it again."""

    cell: dict[str, CellValue]
    seed: int
    mode: Mode
    reason: str


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and software, as far as it may change a number.

    ``packages`` are the versions of those that matter; ``variables`` only those of a short list that change
    speed (thread counts, allocator, visible devices). ``host_id`` tells hosts apart without naming them.
    """

    radixbench: str
    python: str
    platform: str
    cpu: str | None
    cores: int | None
    memory_bytes: int | None
    gpus: tuple[str, ...]
    driver: str | None
    packages: dict[str, str]
    variables: dict[str, str]
    host_id: str | None
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Capture:
    """What one arm of a sweep, or one run, left behind. ``planned_runs`` minus ``len(runs)`` are missing.

    ``until``: seeds were added until the intervals were within this share of their values, ``None`` where their number
    was settled before the first run.
    """

    scenario: Scenario
    environment: Environment
    created_wall_ns: int
    planned_runs: int
    interrupted: bool = False
    runs: tuple[Run, ...] = ()
    calibration: Calibration | None = None
    failures: tuple[CellFailure, ...] = ()
    until: float | None = None
    schema: Literal["radixbench.capture/1"] = SCHEMA
