"""The engine's front door: requests in, one step at a time, tokens out."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.engine.batch import SamplingParams
from radixbench.records import FinishRecord, StepRecord


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A request as it enters the engine. ``namespace`` keeps prefixes apart (SGLang's ``extra_key``)."""

    rid: str
    token_ids: tuple[int, ...]
    sampling: SamplingParams
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """One generated token. ``finish_reason`` is set on a request's last: ``length`` or ``stop``.

    ``cached_tokens`` is what the request's first admission found in the cache.
    """

    rid: str
    token_id: int
    output_index: int
    cached_tokens: int
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step brought: its record, its tokens, and the requests it retired."""

    record: StepRecord
    tokens: tuple[TokenEvent, ...]
    finished: tuple[FinishRecord, ...]


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot; tokens unless said. ``*_total`` count since start and survive a flush."""

    running_req: int
    queue_req: int
    used_slots: int
    evictable_slots: int
    free_slots: int
    pool_slots: int
    new_token_ratio: float
    prompt_tokens_total: int
    cached_tokens_total: int
    generation_tokens_total: int
    requests_total: int
    aborted_total: int
    evicted_tokens_total: int
    retracted_total: int
    host_ns_total: int
    step_ns_total: int
