"""From where on curves over seeds lie above 0, with an interval that covers even where their slope is barely known.

Fieller's theorem, for lines and curves alike: the interval holds every place at which the mean of the seeds' curves isn't
surely off 0, by Student's t over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, mean_interval
from radixbench.stats.sample import Absent, Sample

_PLACES = 32
_HALVINGS = 24

_Height = Callable[[float], float]


def above_from(
    heights: Callable[[float], Sequence[float]], end: float, *, level: float = LEVEL
) -> Estimate | Absent:
    """The place between 0 and ``end`` from which on the mean is above 0; ``heights`` are those of the seeds at a place.

    Absent where the mean isn't surely above 0 at the end. One seed gives a value without an interval.
    """
    at_end = _mean(heights(end), level)
    if isinstance(at_end, Absent):
        return at_end
    if at_end.value <= 0.0 or (at_end.low is not None and at_end.low <= 0.0):
        return Absent("the mean isn't surely above 0 at the end")

    def bound(name: str) -> _Height:
        def height(place: float) -> float:
            found = _mean(heights(place), level)
            return math.nan if isinstance(found, Absent) else float(getattr(found, name))

        return height

    value = _last(bound("value"), end)
    if at_end.low is None:
        return Estimate(value, None, None, level, at_end.n)
    return Estimate(value, _last(bound("high"), end), _last(bound("low"), end), level, at_end.n)


def _mean(heights: Sequence[float], level: float) -> Estimate | Absent:
    return mean_interval(Sample(heights), kind="arithmetic", level=level)


def _last(height: _Height, end: float) -> float:
    """The last place at which the height rises above 0 on the way to ``end``, where it is above; 0 where it always is.

    Looked for on places that lie denser towards 0, then between two of them.
    """
    above = end
    for place in (end * (step / _PLACES) ** 2 for step in range(_PLACES - 1, -1, -1)):
        if not height(place) > 0.0:
            break
        above = place
    else:
        return 0.0
    below = place
    for _ in range(_HALVINGS):
        middle = (below + above) / 2.0
        if height(middle) > 0.0:
            above = middle
        else:
            below = middle
    return above
