"""How often the verdict rule speaks: an interval that excludes 1 *and* an effect of at least the threshold.

Over n normal log-ratios the mean and the sample standard deviation are independent, so that given the deviation the
chance is one normal tail, and the whole is that tail averaged over the chi distribution of the deviation. Everything
is in units of the standard error: ``shift`` is the true mean log-ratio, ``bar`` the log of the threshold.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.special import gammainc, gammaincinv, gammaln, ndtr, ndtri

from radixbench.stats.student import critical

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)
_TAIL = 1e-13
_FAR = 9.0
_SURE = 1.0 - 1e-15
_CLOSE = 1e-9


@functools.lru_cache(maxsize=4096)
def joint_chance(shift: float, bar: float, df: int, alpha: float) -> float:
    """The chance of a sample mean of at least ``bar`` whose t statistic exceeds the two-sided critical value at ``alpha``.

    The sample deviation lets ``bar`` decide below ``bar / critical`` and the t test above. Absolute error below 1e-6.
    """
    edge = critical(1.0 - alpha, df)
    turn = bar / edge
    below = float(gammainc(df / 2.0, df * turn * turn / 2.0)) if turn > 0.0 else 0.0
    plain = below * float(ndtr(shift - bar))
    start = max(turn, _deviation(_TAIL, df))
    end = min(_deviation(1.0 - _TAIL, df), (shift + _FAR) / edge)
    if end <= start:
        return plain
    half = (end - start) / 2.0
    at = start + half * (_NODES + 1.0)
    log_density = (
        (df - 1.0) * np.log(at) - df * at * at / 2.0 + df / 2.0 * math.log(df / 2.0) - gammaln(df / 2.0)
    )
    tested = half * float(_WEIGHTS @ (2.0 * np.exp(log_density) * ndtr(shift - edge * at)))
    return min(1.0, plain + tested)


@functools.lru_cache(maxsize=4096)
def found_shift(bar: float, df: int, alpha: float, power: float) -> float:
    """The smallest true shift that the rule finds with chance ``power``, both in standard errors.

    False position (Illinois) between shifts that are found too rarely and often enough, on the normal quantiles of the
    chance, on which it is nearly a line.
    """
    goal = float(ndtri(power))

    def beyond(shift: float) -> float:
        return float(ndtri(min(max(joint_chance(shift, bar, df, alpha), 1e-300), _SURE))) - goal

    low, high = max(0.0, bar + goal), max(0.0, bar + goal) + 1.0
    while (above := beyond(high)) < 0.0:
        low, high = high, 2.0 * high
    below, was_short = min(beyond(low), 0.0), None
    while high - low > _CLOSE * high:
        middle = (low * above - high * below) / (above - below)
        found = beyond(middle)
        if abs(found) < _CLOSE:
            return middle
        if found < 0.0:
            low, below, above = middle, found, above / 2.0 if was_short is True else above
        else:
            high, above, below = middle, found, below / 2.0 if was_short is False else below
        was_short = found < 0.0
    return high


@functools.cache
def _deviation(share: float, df: int) -> float:
    """The sample deviation, as a multiple of the true one, that a ``share`` of samples stay below."""
    return math.sqrt(2.0 * float(gammaincinv(df / 2.0, share)) / df)
