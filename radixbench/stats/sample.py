"""Numbers that may be missing, and never silently so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no number, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of one quantity, in seconds, tokens or tokens per second: a tuple, or an array where there are millions."""

    values: Sequence[float]

    def __len__(self) -> int:
        return len(self.values)
