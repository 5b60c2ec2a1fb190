"""Numbers as people read them: three significant digits, one unit, thousands set apart.

An interval takes the unit and the decimals of its value, so that ``24.1× (22.8–25.5)`` reads as one
figure. Nothing is rounded before it arrives here.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

MISSING = "–"
_DIGITS = 3
_MOST_DECIMALS = 4
_SECOND_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATIO_UNITS = frozenset({"ratio", "fraction", "1", ""})
_BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decimals_for(value: float, digits: int = _DIGITS) -> int:
    """Decimals that leave ``digits`` significant ones; never fewer than none."""
    if value == 0 or not math.isfinite(value):
        return 0
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if rounded == 0:
        return max(places, 0)
    return max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)


def number(value: float, decimals: int | None = None) -> str:
    """``1234.5`` as ``1,235``, ``0.01234`` as ``0.0123``."""
    if not math.isfinite(value):
        return "∞" if value > 0 else MISSING
    places = decimals_for(value) if decimals is None else decimals
    text = f"{value:,.{places}f}"
    if text.startswith("-") and not text.strip("-0."):
        return text[1:]
    return text.replace("-", "−")


def count(value: int | None) -> str:
    """A whole number with thousands set apart."""
    return MISSING if value is None else f"{value:,}".replace("-", "−")


def span_decimals(value: float, low: float | None, high: float | None) -> int:
    """Decimals for a value with its interval: one more where the interval would vanish by rounding."""
    places = decimals_for(value)
    if low is None or high is None:
        return places
    collapsed = number(low, places) == number(high, places) and low != high
    return places + 1 if collapsed and places < _MOST_DECIMALS else places


class Shown(NamedTuple):
    """A figure and its interval as text, in one unit; ``span`` is "" where there is no width to tell."""

    value: str
    span: str

    @property
    def whole(self) -> str:
        """``12.3 ms (12.1–12.5)``."""
        return f"{self.value} ({self.span})" if self.span else self.value


def _span(low: float | None, high: float | None, decimals: int) -> str:
    if low is None or high is None or low == high:
        return ""
    between = " to " if low < 0 else "–"
    return f"{number(low, decimals)}{between}{number(high, decimals)}"


def _scaled(value: float, scale: float, unit: str, low: float | None, high: float | None) -> Shown:
    shown = value / scale
    low = None if low is None else low / scale
    high = None if high is None else high / scale
    decimals = span_decimals(shown, low, high)
    return Shown(f"{number(shown, decimals)}{unit}", _span(low, high, decimals))


def _second_unit(value: float) -> tuple[float, str]:
    size = abs(value)
    if size == 0:
        return 1.0, "s"
    for scale, unit in _SECOND_UNITS:
        if size >= scale * 0.9995:
            return scale, unit
    return _SECOND_UNITS[-1]


def duration(value: float) -> str:
    """Seconds in the unit that suits them: ``12.3 ms``."""
    return _duration(value, None, None).value


def _duration(value: float, low: float | None, high: float | None) -> Shown:
    scale, unit = _second_unit(value)
    return _scaled(value, scale, f" {unit}", low, high)


def percent(value: float) -> str:
    """A fraction as ``3.1 %``: one decimal, more for those below 1 %."""
    return _percent(value, None, None).value


def _percent(value: float, low: float | None, high: float | None) -> Shown:
    low = None if low is None else 100 * low
    high = None if high is None else 100 * high
    decimals = max(1, min(decimals_for(100 * value, 2), _MOST_DECIMALS))
    if value in {0, 1}:
        decimals = 0
    elif abs(100 * value) < 0.5 * 10**-_MOST_DECIMALS:
        decimals = 2
    return Shown(f"{number(100 * value, decimals)} %", _span(low, high, decimals))


def share(value: float) -> str:
    """A fraction that somebody chose, as it was chosen: ``95 %``, ``2.5 %``."""
    return f"{100 * value:.10g} %"


def effect(value: float) -> str:
    """A relative effect: ``3.1 %``, or from 100 % on the factor it comes to, ``2.50×``."""
    return percent(value) if value < 1 else factor(1 + value).value


def factor(value: float, low: float | None = None, high: float | None = None) -> Shown:
    """``24.1×`` and ``22.8–25.5``."""
    return _scaled(value, 1.0, "×", low, high)


def quantity(value: float, unit: str, low: float | None = None, high: float | None = None) -> Shown:
    """A figure in the unit its metric is defined in, and its interval."""
    if unit == "s":
        return _duration(value, low, high)
    if unit in _RATIO_UNITS:
        return _percent(value, low, high)
    return _scaled(value, 1.0, f" {unit}", low, high)


def difference(value: float, unit: str, low: float | None, high: float | None) -> Shown:
    """``+57,344 tokens``; between fractions in percentage points."""
    shown = quantity(value, unit, low, high)
    signed = f"+{shown.value}" if value > 0 else shown.value
    return Shown(signed.replace(" %", " points"), shown.span)


def left(seconds: float) -> str:
    """Time to go, coarsely: ``45 s``, ``2 min 05 s``, ``1 h 02 min``."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def size(value: int | None) -> str:
    """Bytes in binary units."""
    if value is None:
        return MISSING
    for scale, unit in _BYTE_UNITS:
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{value} B"


def moment(wall_ns: int) -> str:
    """Nanoseconds since the Unix epoch as ``2026-10-16 14:01 UTC``."""
    at = _EPOCH + timedelta(microseconds=wall_ns // 1000)
    return at.strftime("%Y-%m-%d %H:%M UTC")


def several(items: list[str] | tuple[str, ...], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {word} {items[-1]}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """``1 seed``, ``3 seeds``."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def ranges(numbers: list[int]) -> str:
    """Whole numbers with runs drawn together: ``0–2, 5``."""
    parts: list[str] = []
    ordered = sorted(set(numbers))
    start = 0
    for i, value in enumerate(ordered):
        if i + 1 < len(ordered) and ordered[i + 1] == value + 1:
            continue
        first = ordered[start]
        parts.append(str(first) if first == value else f"{first}–{value}")
        start = i + 1
    return ", ".join(parts)
