"""Shares as percentages that never round a part into the whole or into nothing, and bounds that stay bounds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from radixbench.report import text

_PLACES = 1
_MOST_PLACES = 12
_NEARLY_ALL = 0.99
"""Above it a bound gets a place more: a tenth of a percent is much of what is missed."""


def rate(value: float, *, lower: bool = False, upper: bool = False) -> str:
    """``37.1 %``; ``99.997 %`` and ``0.004 %`` get the decimals they need.

    A ``lower`` bound is rounded down and says so: ``≥ 37.1 %``; an ``upper`` one is rounded up.
    """
    if not math.isfinite(value):
        return text.MISSING
    mark = "≥ " if lower else ""
    if value in {0, 1}:
        return f"{mark}{int(100 * value)} %"
    exact = 100 * Decimal(repr(value))
    rounding = ROUND_FLOOR if lower else ROUND_CEILING if upper else ROUND_HALF_EVEN
    least = _PLACES + ((lower or upper) and value > _NEARLY_ALL)
    for places in range(least, _MOST_PLACES + 1):
        shown = exact.quantize(Decimal(1).scaleb(-places), rounding)
        if shown not in {0, 100}:
            break
    return f"{mark}{shown:,f} %".replace("-", "−")


def usage(value: float) -> str:
    """A pool's usage as its line printed it: ``5 %``, ``99.4 %``."""
    return text.share(value) if math.isfinite(value) else text.MISSING


def per_second(value: float) -> str:
    """``1,234 tokens/s``."""
    return f"{text.number(value)} tokens/s"


def clock_span(seconds: float) -> str:
    """How long a log is: ``812 ms``, ``45 s``, ``2 min 05 s``, ``1 h 02 min``, ``3 d 04 h``."""
    if seconds < 10 and seconds != int(seconds):
        return text.duration(seconds)
    if seconds < 48 * 3600:
        return text.left(seconds).removesuffix(" 00 s").removesuffix(" 00 min")
    days, rest = divmod(round(seconds / 3600), 24)
    return f"{text.count(days)} d {rest:02d} h"
