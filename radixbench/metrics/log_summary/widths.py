"""How wide a window is: as asked, or as narrow as a bounded number of windows allows.

Windows begin at multiples of their width on the log's axis, so those of all ranks lie over each other, and each
stored width divides the next: windows can be joined but never have to be split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

MOST_KEPT = 720
MOST_SHOWN = 60

_LADDER = (1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21600.0, 43200.0, 86400.0)
_ROUND = (
    1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1200.0, 1800.0,
    3600.0, 7200.0, 10800.0, 14400.0, 21600.0, 43200.0, 86400.0, 172800.0, 604800.0,
)  # fmt: skip

NARROWEST = _LADDER[0]

Kept = TypeVar("Kept")


def wider(width: float) -> float:
    """The next width that ``width`` divides."""
    return next((one for one in _LADDER if one > width), 2 * width)


def joined(rows: dict[int, Kept], factor: int, take: Callable[[Kept, Kept], None]) -> dict[int, Kept]:
    """Rows by place, ``factor`` neighbours made one with ``take(first, next)``, which changes the first."""
    wide: dict[int, Kept] = {}
    for place in sorted(rows):
        found = wide.setdefault(place // factor, rows[place])
        if found is not rows[place]:
            take(found, rows[place])
    return wide


def shown_width(width: float, places: Iterable[int]) -> float:
    """The narrowest round multiple of ``width`` with at most sixty windows that hold something."""
    taken = set(places)
    return width * next(
        factor for factor in _factors(width) if len({place // factor for place in taken}) <= MOST_SHOWN
    )


def _factors(width: float) -> Iterator[int]:
    """What makes a round width of this one, and powers of two for ever."""
    yield from (int(one // width) for one in _ROUND if one >= width and one % width == 0)
    factor = 2
    while True:
        yield factor
        factor *= 2
