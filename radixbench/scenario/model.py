"""What shall be done, as one frozen value. Files and flags become this and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from radixbench.records import Mode

WorkloadKind = Literal["shared-prefix", "multi-turn"]
CacheState = Literal["cold"]
DeviceName = Literal["auto", "cpu", "cuda"]
DtypeName = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model, where and in which precision. ``auto`` is resolved by the server and recorded."""

    name: str = "tiny"
    device: DeviceName = "auto"
    dtype: DtypeName = "auto"
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Server settings; ``None`` leaves the server's default. Tokens unless said."""

    threads: int | None = None
    max_total_tokens: int | None = None
    chunked_prefill_size: int | None = None
    page_size: int = 1
    schedule_policy: Literal["fcfs", "lpm"] = "fcfs"


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """The traffic: ``groups`` prefixes with ``prompts_per_group`` questions each, as token ids.

    ``shared`` and ``turns`` are the axes of the sweep; every combination is a cell. ``turns`` of
    ``None`` means the workload has no turns.
    ``question_len`` and ``output_len`` of ``None`` are resolved per device and model.
    """

    kind: WorkloadKind = "shared-prefix"
    shared: tuple[int, ...] = (0, 1024, 4096)
    turns: tuple[int, ...] | None = None
    groups: int = 4
    prompts_per_group: int = 16
    question_len: int | None = None
    output_len: int | None = None


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """A closed loop: ``max_concurrency`` requests in flight at most."""

    max_concurrency: int = 8


@dataclass(frozen=True, slots=True)
class TelemetrySpec:
    """How often clocks and load are read."""

    interval_ms: int = 200


@dataclass(frozen=True, slots=True)
class Scenario:
    """One experiment: why it exists, what runs, and how often."""

    name: str
    why: str = ""
    expect: str = ""
    model: ModelSpec = ModelSpec()
    engine: EngineSpec = EngineSpec()
    workload: WorkloadSpec = WorkloadSpec()
    load: LoadSpec = LoadSpec()
    telemetry: TelemetrySpec = TelemetrySpec()
    cache_state: CacheState = "cold"
    modes: tuple[Mode, ...] = ("on", "off")
    seeds: int = 3
