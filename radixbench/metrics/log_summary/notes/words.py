"""Numbers in sentences, written as the tables beside them write them."""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, log10

_MOST_PLACES = 12


def percent(share: float, *, lower: bool = False) -> str:
    """``37.1 %``; ``99.997 %`` and ``0.004 %`` get the decimals they need, ``0 %`` and ``100 %`` none. ``lower``: rounded down."""
    if share in {0, 1}:
        return f"{int(100 * share)} %"
    exact = 100 * Decimal(repr(float(share)))
    for places in range(1, _MOST_PLACES + 1):
        shown = exact.quantize(Decimal(1).scaleb(-places), ROUND_FLOOR if lower else ROUND_HALF_EVEN)
        if shown not in {0, 100}:
            break
    return f"{shown:,f} %"


def figure(value: float) -> str:
    """Three significant digits, all those before the point: ``2.05``, ``13.3``, ``1,234``."""
    if value == 0:
        return "0"
    places = 2 - floor(log10(abs(value)))
    places = 2 - floor(log10(abs(round(value, places))))
    return f"{value:,.{max(places, 0)}f}"


def several(n: int, thing: str, things: str | None = None) -> str:
    """``1 line``, ``2,000 lines``."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def times(n: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def be(n: int) -> str:
    """``is`` or ``are``."""
    return "is" if n == 1 else "are"
