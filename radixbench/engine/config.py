"""How the engine is set up, fixed once it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from radixbench.errors import UsageError

SchedulePolicy = Literal["fcfs", "lpm"]


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Sizes in tokens. Names and defaults follow SGLang's server arguments (0.5.22).

    ``context_len`` bounds prompt + output of one request. ``chunked_prefill_size`` bounds the tokens one
    prefill step computes; ``None`` turns chunking off. ``lpm_queue_limit``: with more requests waiting,
    ``lpm`` orders as ``fcfs``, since matching each would cost more than it gains.
    ``clip_max_new_tokens`` bounds what admission reserves for one request's output.
    """

    max_total_tokens: int
    context_len: int
    page_size: int = 1
    radix_cache: bool = True
    schedule_policy: SchedulePolicy = "fcfs"
    lpm_queue_limit: int = 128
    chunked_prefill_size: int | None = 4096
    max_prefill_tokens: int = 16384
    max_running_requests: int = 256
    schedule_conservativeness: float = 1.0
    clip_max_new_tokens: int = 4096

    def __post_init__(self) -> None:
        for name in ("page_size", "context_len", "max_prefill_tokens", "max_running_requests"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}", remedy="it must be at least 1")
        for name in ("max_total_tokens", "chunked_prefill_size"):
            size = getattr(self, name)
            if size is not None and size < self.page_size:
                raise UsageError(
                    f"{name} is {size}, less than one page of {self.page_size}",
                    remedy=f"raise {name} or lower page_size",
                )
