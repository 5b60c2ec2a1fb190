"""What the engine has done since it started; a flush changes nothing here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from radixbench.engine.request import Req
from radixbench.records import StepRecord


@dataclass(slots=True)
class Tally:
    """Running totals, in tokens, requests, steps and nanoseconds."""

    steps: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generation_tokens: int = 0
    requests: int = 0
    aborted: int = 0
    retracted: int = 0
    host_ns: int = 0
    step_ns: int = 0

    def admit(self, requests: Iterable[Req], now_ns: int) -> None:
        """Note first admissions; a request that comes back after a retraction counts no second time."""
        for req in requests:
            if req.admitted_ns is None:
                req.admitted_ns = now_ns
                req.first_cached_len = req.cached_len
                self.prompt_tokens += req.prompt_len
                self.cached_tokens += req.cached_len

    def count(self, record: StepRecord, tokens: int) -> None:
        """Add one step."""
        self.steps += 1
        self.generation_tokens += tokens
        self.retracted += record.retracted_req
        self.host_ns += record.host_ns
        self.step_ns += record.end_ns - record.start_ns
