"""Numbers in sentences."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share of 1 with one decimal; two where one would hide how near it is to 0 or 1."""
    value = 100 * share
    if 0 < value < 0.1 or 99.9 < value < 100:
        return f"{value:.2f} %"
    return f"{value:.1f} %"


def several(n: int, thing: str, things: str | None = None) -> str:
    """``1 line``, ``2,000 lines``."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def times(n: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def be(n: int) -> str:
    """``is`` or ``are``."""
    return "is" if n == 1 else "are"
