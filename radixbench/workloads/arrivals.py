"""When conversations arrive: offsets in seconds from the start of the load, fixed before it begins.

The first arrives at 0, and ``count`` arrivals fill exactly ``count / rate`` seconds: the gaps, the one after
the last arrival included, are scaled to that sum. For exponential gaps this is what a Poisson process looks
like once the number of its arrivals is known; the rate asked for is the rate offered, whatever the seed.

Only raw PCG64 words and the standard library's functions are used, never numpy's distributions: a seed
means the same arrivals in every numpy. Gamma variates are made by Marsaglia and Tsang's method ("A simple method
for generating gamma variables", 2000) with Marsaglia's polar method for the normal ones.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from radixbench.errors import UsageError
from radixbench.units import Seconds

MIN_BURSTINESS = 0.01
"""Below it nearly all gaps are too small for a float, and all arrivals come at once."""

_BLOCK = 4096


def constant(count: int, rate: float) -> tuple[Seconds, ...]:
    """``count`` arrivals, evenly spaced at ``rate`` per second; each offset is exact, nothing adds up."""
    _refuse(rate=rate)
    return tuple(place / rate for place in range(count))


def poisson(count: int, rate: float, *, seed: int) -> tuple[Seconds, ...]:
    """``count`` arrivals of a Poisson process with ``rate`` per second: gaps vary as much as their mean."""
    _refuse(rate=rate)
    draws = _uniforms("poisson", seed)
    return _filled([-math.log(next(draws)) for _ in range(count)], rate)


def gamma(count: int, rate: float, *, burstiness: float, seed: int) -> tuple[Seconds, ...]:
    """``count`` arrivals with gamma-distributed gaps of shape ``burstiness``, as vLLM's ``--burstiness`` has them.

    The gaps' coefficient of variation is 1 / sqrt(``burstiness``): at 1 these are the arrivals of ``poisson``, less is
    burstier, more is evener.
    """
    _refuse(rate=rate)
    if not (math.isfinite(burstiness) and burstiness >= MIN_BURSTINESS):
        raise UsageError(
            f"a burstiness of {burstiness:g} makes no arrivals", remedy=f"give {MIN_BURSTINESS:g} or more"
        )
    if burstiness == 1:
        return poisson(count, rate, seed=seed)
    draws = _uniforms(f"gamma/{float(burstiness)!r}", seed)
    return _filled([_gamma(burstiness, draws) / burstiness for _ in range(count)], rate)


def recorded(timestamps_s: Sequence[Seconds], *, speed: float = 1.0) -> tuple[Seconds, ...]:
    """A trace's own timestamps, ``speed`` times as fast and with the earliest at 0, in the trace's order."""
    _refuse(speed=speed)
    if not all(math.isfinite(moment) for moment in timestamps_s):
        raise UsageError("a trace has timestamps that are no numbers", remedy="look at its first columns")
    first = min(timestamps_s, default=0.0)
    return tuple((moment - first) / speed for moment in timestamps_s)


def _refuse(**factors: float) -> None:
    for name, value in factors.items():
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"a {name} of {value:g} makes no arrivals", remedy="give a number above 0")


def _filled(gaps: list[float], rate: float) -> tuple[Seconds, ...]:
    """Offsets with these gaps, in proportion: the gap after the last arrival ends at ``len(gaps) / rate``."""
    if not gaps:
        return ()
    total = math.fsum(gaps)
    scale = len(gaps) / (rate * total) if total else 0.0
    return tuple(offset * scale for offset in accumulate(gaps[:-1], initial=0.0))


def _gamma(shape: float, draws: Iterator[float]) -> float:
    """One gamma variate of mean ``shape``; below shape 1 it is made of one above and a power of a uniform."""
    if shape < 1:
        return _gamma(shape + 1, draws) * math.exp(math.log(next(draws)) / shape)
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        normal = _normal(draws)
        v = (1 + c * normal) ** 3
        if v > 0 and math.log(next(draws)) < normal * normal / 2 + d * (1 - v + math.log(v)):
            return d * v


def _normal(draws: Iterator[float]) -> float:
    while True:
        x, y = 2 * next(draws) - 1, 2 * next(draws) - 1
        square = x * x + y * y
        if 0 < square < 1:
            return x * math.sqrt(-2 * math.log(square) / square)


def _uniforms(purpose: str, seed: int) -> Iterator[float]:
    """Numbers between 0 and 1, never either, fixed by ``purpose`` and ``seed``."""
    if seed < 0:
        raise UsageError(f"a seed can't be negative, as {seed} is")
    entropy = np.frombuffer(hashlib.sha256(f"radixbench/arrivals/{purpose}/{seed}".encode()).digest(), "<u4")
    words = np.random.PCG64(np.random.SeedSequence(entropy.tolist()))
    while True:
        for word in words.random_raw(_BLOCK).tolist():
            yield ((word >> 12) + 0.5) / (1 << 52)
