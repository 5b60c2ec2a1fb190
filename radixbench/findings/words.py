"""Numbers in sentences, written alike in all findings."""

from __future__ import annotations

_SHOWN = 5


def several(n: int, thing: str, things: str | None = None) -> str:
    """``1 request``, ``2,000 requests``."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def percent(share: float) -> str:
    """``97 %``; below 10 % with one decimal, and what isn't all never reads ``100 %``."""
    if share in {0.0, 1.0}:
        return f"{100 * share:.0f} %"
    shown = f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
    return "99.9 %" if shown == "100 %" and share < 1 else shown


def duration(seconds: float) -> str:
    """``4.0 s``, ``60.0 ms``, ``250 µs``."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    if seconds >= 0.001:
        return f"{1e3 * seconds:.1f} ms"
    return f"{1e6 * seconds:.0f} µs"


def listed(numbers: list[int]) -> str:
    """The first few of them, and how many more there are."""
    shown = ", ".join(str(number) for number in numbers[:_SHOWN])
    return shown if len(numbers) <= _SHOWN else f"{shown} and {len(numbers) - _SHOWN} more"
