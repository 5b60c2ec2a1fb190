"""A number with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """``value`` with its two-sided interval at ``level``; ``n`` values stand behind it.

    ``low`` and ``high`` are ``None`` where the n doesn't allow an interval.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    n: int
