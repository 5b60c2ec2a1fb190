"""Experiments with a known truth, many at once: the noise of runs, and verdicts, gates and stops on whole arrays.

The arrays decide as ``compare`` and ``sweep --until`` do; ``check`` holds them against those on some hundred data sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from side_by_side import say

from radixbench.compare.change import Change, Factor, Side
from radixbench.compare.family import corrected
from radixbench.compare.verdict import THRESHOLD, conclude
from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, paired_ratio
from radixbench.stats.power import ALPHA
from radixbench.stats.sequential import MIN_SEEDS, STOPPED_LEVEL, narrow_enough
from radixbench.stats.student import critical

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]

PAIRS = (3, 5, 10)
ROWS = 6
MOST_SEEDS = 50
CHECKED = 300


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's t with 3 degrees of freedom, of variance 1."""
    return rng.standard_t(3, shape) / math.sqrt(3.0)


def wild(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Normal, but one run in twenty is five times as far off; of variance 1."""
    return np.where(rng.random(shape) < 0.05, 5.0, 1.0) * rng.standard_normal(shape) / math.sqrt(2.2)


def late(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One-sided: most runs near the fastest, some far slower (exponential), of variance 1."""
    return rng.standard_exponential(shape) - 1.0


NOISE: dict[str, Noise] = {
    "log-normal": normal,
    "heavy (t3)": heavy,
    "wild (1 in 20)": wild,
    "one-sided": late,
}


def paired(noise: Noise, rng: np.random.Generator, shape: tuple[int, ...], spread: float) -> Floats:
    """Log-ratios of two arms whose runs have this noise."""
    return spread / math.sqrt(2.0) * (noise(rng, shape) - noise(rng, shape))


def alike(
    noise: Noise, rng: np.random.Generator, shape: tuple[int, int, int], spread: float, share: float
) -> Floats:
    """Log-ratios ``[set, row, pair]`` of rows that have a share of their variance in common."""
    sets, _, pairs = shape
    common = paired(noise, rng, (sets, 1, pairs), spread)
    return math.sqrt(share) * common + math.sqrt(1.0 - share) * paired(noise, rng, shape, spread)


def half_widths(logs: Floats, alpha: float | Floats = ALPHA) -> Floats:
    """Of the t interval of each data set (last axis)."""
    n = logs.shape[-1]
    t = np.vectorize(lambda a: critical(1.0 - a, n - 1))(alpha)
    widths: Floats = t * logs.std(axis=-1, ddof=1) / math.sqrt(n)
    return widths


def counts(mean: Floats, threshold: float) -> Truths:
    return np.abs(np.expm1(mean)) >= threshold


def row_verdicts(logs: Floats, threshold: float = THRESHOLD) -> Truths:
    """Whether each data set leads to a verdict by itself."""
    mean = logs.mean(axis=-1)
    return (np.abs(mean) > half_widths(logs)) & counts(mean, threshold)


def gate_verdicts(logs: Floats, threshold: float = THRESHOLD) -> Truths:
    """Whether Holm upholds a verdict in any row of each family ``[set, row, pair]``."""
    rows = logs.shape[1]
    strength = np.abs(logs.mean(axis=-1)) / logs.std(axis=-1, ddof=1)
    ranked = np.take_along_axis(logs, np.argsort(-strength, axis=1)[..., None], axis=1)
    mean = ranked.mean(axis=-1)
    rejected = np.abs(mean) > half_widths(ranked, ALPHA / (rows - np.arange(rows)))
    return (np.logical_and.accumulate(rejected, axis=1) & counts(mean, threshold)).any(axis=1)


def stops(logs: Floats, target: float) -> tuple[NDArray[np.int_], Floats, Floats]:
    """Seeds at the stop, and there each row's mean and drawn half-width: ``logs`` is ``[sweep, row, seed]``."""
    n = np.arange(1, logs.shape[-1] + 1)
    mean = logs.cumsum(axis=-1) / n
    variance = np.maximum((logs**2).cumsum(axis=-1) - n * mean**2, 0.0) / np.maximum(n - 1, 1)
    half = np.array([0.0] + [critical(STOPPED_LEVEL, df) for df in n[:-1].tolist()]) * np.sqrt(variance / n)
    narrow = (np.expm1(half) <= target).all(axis=1)
    narrow[:, : MIN_SEEDS - 1] = False
    narrow[:, -1] = True
    end = narrow.argmax(axis=-1)
    at = end[:, None, None]
    return end + 1, np.take_along_axis(mean, at, -1)[..., 0], np.take_along_axis(half, at, -1)[..., 0]


def stopped_gates(end: NDArray[np.int_], mean: Floats, half: Floats) -> Truths:
    """Whether Holm upholds a verdict in any row of a stopped sweep: ``[sweep, row]``, as ``stops`` gives them."""
    rows, alpha = mean.shape[1], 1.0 - STOPPED_LEVEL
    order = np.argsort(-np.abs(mean) / half, axis=1)
    mean, half = np.take_along_axis(mean, order, 1), np.take_along_axis(half, order, 1)
    stricter = np.array(
        [
            [critical(1.0 - alpha / (rows - i), n - 1) / critical(STOPPED_LEVEL, n - 1) for i in range(rows)]
            for n in range(2, MOST_SEEDS + 1)
        ]
    )
    rejected = np.logical_and.accumulate(np.abs(mean) > half * stricter[end - 2], axis=1)
    return (rejected & counts(mean, THRESHOLD)).any(axis=1)


def change(logs: Floats, cell: int, drawn: float = LEVEL) -> Change:
    """A row of these log-ratios as a comparison has it; ``drawn`` is the level of Student's t."""
    pairs = tuple((seed, math.exp(x), 1.0) for seed, x in enumerate(logs.tolist()))
    ratio = paired_ratio([(a, b) for _, a, b in pairs], level=drawn)
    if not isinstance(ratio, Estimate):
        raise TypeError(ratio.reason)
    factor = Factor(ratio.value, ratio.low, ratio.high, LEVEL)
    verdict = conclude(factor, forbidden=None, obstacle=None, n_pairs=len(pairs), threshold=THRESHOLD)
    side = Side(1.0, None, None, len(pairs), len(pairs))
    return Change(
        cell={"shared_tokens": cell}, metric="output_throughput", unit="tokens/s", better="higher", a=side, b=side,
        factor=factor, difference=None, verdict=verdict.name, detectable=None, bound=None, reason=None, caveats=(),
        pairs=pairs, alpha=1.0 - drawn,
    )  # fmt: skip


def check() -> int:
    """The arrays against the real code; the number of answers compared. Ends the script where one differs."""
    compared = 0
    for n in PAIRS:
        families = alike(normal, np.random.default_rng(n), (CHECKED, ROWS, n), 0.1, 0.5)
        for logs, own, upheld in zip(families, row_verdicts(families), gate_verdicts(families), strict=True):
            rows = [change(row, cell) for cell, row in enumerate(logs)]
            alone = [row.verdict != "within-noise" for row in rows]
            together = any(row.verdict != "within-noise" for row in corrected(rows, THRESHOLD))
            if alone != own.tolist() or together != upheld:
                raise SystemExit(f"the arrays judge otherwise than the comparison: {logs.tolist()}")
            compared += len(rows) + 1
    compared += check_stops()
    say(f"{compared:,} answers of the arrays are those of the comparison and of the stopping rule")
    return compared


def check_stops() -> int:
    """The same of sweeps that add seeds: when they stop, and what is said of them then."""
    compared = 0
    sweeps = paired(normal, np.random.default_rng(0), (CHECKED, 1, MOST_SEEDS), 0.1)
    for sweep, end in zip(np.exp(sweeps[:, 0]), stops(sweeps, 0.05)[0], strict=True):
        pairs = [(float(x), 1.0) for x in sweep]
        enough = [n for n in range(1, MOST_SEEDS + 1) if narrow_enough(pairs[:n], 0.05)]
        if min(enough, default=MOST_SEEDS) != end:
            raise SystemExit(f"the arrays stop after {end} seeds, the rule doesn't: {sweep.tolist()}")
        compared += 1
    families = alike(normal, np.random.default_rng(1), (CHECKED, 2, MOST_SEEDS), 0.1, 0.5)
    ends, mean, half = stops(families, 0.1)
    for logs, end, upheld in zip(families, ends, stopped_gates(ends, mean, half), strict=True):
        rows = [change(row[:end], cell, STOPPED_LEVEL) for cell, row in enumerate(logs)]
        if any(row.verdict != "within-noise" for row in corrected(rows, THRESHOLD)) != upheld:
            raise SystemExit(
                f"the arrays judge stopped sweeps otherwise than the comparison: {logs.tolist()}"
            )
        compared += 1
    return compared
