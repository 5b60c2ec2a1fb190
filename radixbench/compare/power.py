"""What a row's pairs could have shown, whatever they did show, and what more seeds of the same spread would."""

from __future__ import annotations

import math
from collections.abc import Sequence

from radixbench.compare.change import Power
from radixbench.compare.verdict import MIN_PAIRS
from radixbench.stats.interval import log_ratios, spread
from radixbench.stats.power import ALPHA, chance, detectable_effect
from radixbench.stats.sample import Absent

EFFECTS = (0.03, 0.05, 0.10, 0.20)
"""True relative effects whose chance of a verdict is told."""

_MORE = (MIN_PAIRS, 5, 10, 20)
_TOLD = 2


def power(
    pairs: Sequence[tuple[int, float, float]], *, threshold: float, alpha: float = ALPHA
) -> Power | None:
    """The power of (seed, A's figure, B's figure) by the rule that makes a verdict; ``None`` without a spread.

    ``alpha`` is the level at which the row is judged: below 0.05 where it is one of several.
    """
    logs = log_ratios([(a, b) for _, a, b in pairs])
    if isinstance(logs, Absent) or len(logs) < 2:
        return None
    sd, n = spread(logs), len(logs)
    if not math.isfinite(sd):
        return None
    enough = n >= MIN_PAIRS
    more = [count for count in _MORE if count > n][:_TOLD]
    effects = {count: _detectable(_like(sd, count), threshold, alpha) for count in more}
    return Power(
        n_pairs=n,
        spread=sd,
        detectable=_detectable(logs, threshold, alpha) if enough else None,
        chance={e: chance(e, sd=sd, n=n, threshold=threshold, alpha=alpha) for e in EFFECTS if enough},
        with_pairs={count: effect for count, effect in effects.items() if effect is not None},
    )


def _detectable(logs: Sequence[float], threshold: float, alpha: float) -> float | None:
    effect = detectable_effect(logs, threshold=threshold, alpha=alpha)
    return None if isinstance(effect, Absent) else effect


def _like(sd: float, n: int) -> tuple[float, ...]:
    """``n`` log-ratios whose standard deviation is ``sd``."""
    off = sd * math.sqrt((n - 1) / 2.0)
    return (off, -off, *[0.0] * (n - 2))
