"""Numbers that may be missing, and never silently so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no number, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of one quantity, in seconds, tokens or tokens per second."""

    values: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.values)
