"""Which state an arm's cache shall be in, and how an arm without reuse comes about.

off     nothing is ever found: the server runs without its cache (``flag``), every request has a salt of its
own (``salt``), or everything is dropped before every request (``flush``)
cold    empty when the measured requests begin
primed  holds exactly the prefixes that the measured prompts share on purpose
warm    holds all that the same workload leaves when it is played
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from radixbench.records import Mode
from radixbench.scenario.model import CacheState, OffMode, Scenario

Declared = Literal["off", "cold", "primed", "warm"]


@dataclass(frozen=True, slots=True)
class State:
    """The state of one arm. ``off_mode`` is ``None`` exactly for the arm with reuse."""

    declared: Declared
    off_mode: OffMode | None = None

    @classmethod
    def of(cls, scenario: Scenario, mode: Mode) -> State:
        """What ``scenario`` declares for an arm."""
        if mode == "off":
            return cls("off", scenario.off_mode)
        state: CacheState = scenario.cache_state
        return cls(state)

    @property
    def salted(self) -> bool:
        """Whether every request goes into a namespace of its own."""
        return self.off_mode == "salt"

    @property
    def flushes_each(self) -> bool:
        """Whether everything is dropped before every request."""
        return self.off_mode == "flush"
