"""Names for the units that numbers carry, and the factors between them.

Records hold integer nanoseconds of one monotonic clock (``_ns``); from metrics upward times are
seconds; text is made in ``report`` only.
"""

from __future__ import annotations

from typing import TypeAlias

Nanoseconds: TypeAlias = int
Seconds: TypeAlias = float
Tokens: TypeAlias = int
Bytes: TypeAlias = int

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000


def seconds(ns: Nanoseconds) -> Seconds:
    """Nanoseconds as seconds."""
    return ns / NS_PER_S
