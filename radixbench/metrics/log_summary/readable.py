"""What a printed value can be taken for. A damaged line may print anything, and one absurd figure must not spoil a sum."""

from __future__ import annotations

from typing import Any

MOST_COUNT = 1 << 40
_MOST_NUMBER = 1e15


def count(value: Any) -> int | None:
    """A whole number of things, at least 0."""
    return value if value.__class__ is int and 0 <= value <= MOST_COUNT else None


def number(value: Any) -> float | None:
    """A rate, a share, a duration, at least 0; truth values are none."""
    return float(value) if value.__class__ in (int, float) and 0 <= value <= _MOST_NUMBER else None
