"""How a server is set up, as one frozen value; ``None`` is decided when the model is known.

Names follow SGLang's server arguments. A value no server could run with is refused here, in one line,
before a port is bound or a model loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from radixbench.engine.config import SchedulePolicy
from radixbench.engine.runner import StepCost
from radixbench.errors import UsageError
from radixbench.scenario.model import ModelSpec

RunnerKind = Literal["model", "fake"]

_POSITIVE = (
    "threads",
    "context_len",
    "max_total_tokens",
    "page_size",
    "chunked_prefill_size",
    "max_prefill_tokens",
    "max_running_requests",
    "decode_log_interval",
)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Sizes in tokens.

    ``port`` 0 takes any free one. ``chunked_prefill_size`` ``None`` turns chunking off. ``runner``
    ``fake`` puts scripted tokens and step times (``fake_cost``) behind the real HTTP, scheduler and tree.
    ``audit_endpoint`` offers ``POST /audit``. ``exit_on_stdin_eof`` ends the server when its standard
    input closes, so that it can't outlive whoever started it.
    """

    model: ModelSpec = field(default_factory=ModelSpec)
    host: str = "127.0.0.1"
    port: int = 30000
    api_key: str | None = field(default=None, repr=False)
    served_model_name: str | None = None
    threads: int | None = None
    context_len: int | None = None
    max_total_tokens: int | None = None
    page_size: int = 1
    chunked_prefill_size: int | None = 4096
    max_prefill_tokens: int = 16384
    max_running_requests: int = 256
    schedule_policy: SchedulePolicy = "fcfs"
    schedule_conservativeness: float = 1.0
    radix_cache: bool = True
    decode_log_interval: int = 40
    runner: RunnerKind = "model"
    fake_cost: StepCost = field(default_factory=StepCost)
    audit_endpoint: bool = False
    exit_on_stdin_eof: bool = False

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is {value}", remedy="give 1 or more")
        if not 0 <= self.port <= 65535:
            raise UsageError(f"port is {self.port}", remedy="give a port from 0 (any free one) to 65535")
        if not self.schedule_conservativeness > 0:
            raise UsageError(
                f"schedule_conservativeness is {self.schedule_conservativeness}", remedy="give more than 0"
            )
        if self.api_key == "":
            raise UsageError("api_key is empty", remedy="leave it out to serve everybody")

    @property
    def model_name(self) -> str:
        """The name clients see."""
        return self.served_model_name if self.served_model_name is not None else self.model.name
