"""How often intervals hold the truth and verdicts are false, for the noise of runs and for worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from radixbench.compare.change import Change, Factor, Side
from radixbench.compare.family import corrected
from radixbench.compare.verdict import THRESHOLD, conclude
from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, mean_interval, paired_ratio
from radixbench.stats.power import p_value
from radixbench.stats.sample import Sample
from radixbench.stats.student import critical

Floats = NDArray[np.float64]

SETS = 20_000
SPREADS = (0.01, 0.03, 0.05, 0.10)
ROWS = 6


def held(logs: Floats, truth: float) -> float:
    """The share of data sets (one a row) whose t interval holds ``truth``."""
    n = logs.shape[-1]
    half = critical(LEVEL, n - 1) * logs.std(axis=-1, ddof=1) / math.sqrt(n)
    return float(np.mean(np.abs(logs.mean(axis=-1) - truth) <= half))


def p_of(logs: Floats) -> Floats:
    """Two-sided p of each data set, by the t distribution's tail."""
    return np.array([p_value(row.tolist()) for row in logs.reshape(-1, logs.shape[-1])]).reshape(
        logs.shape[:-1]
    )


def is_false(logs: Floats, level: float | Floats, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
    """Whether each data set, none of which has an effect, leads to a verdict at ``level``."""
    n = logs.shape[-1]
    mean, error = logs.mean(axis=-1), logs.std(axis=-1, ddof=1) / math.sqrt(n)
    beyond = np.abs(mean) > np.vectorize(lambda a: critical(1.0 - a, n - 1))(level) * error
    return beyond & (np.abs(np.expm1(mean)) >= threshold)


def family_is_false(logs: Floats, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
    """Whether Holm upholds a verdict in each family of rows: [set, row, pair]. The row with the least p comes first.

    Holm goes on only after a rejection: where the first rejected row is no verdict by the threshold, later ones may be.
    """
    rows = logs.shape[1]
    strengths = np.abs(logs.mean(axis=-1)) / logs.std(axis=-1, ddof=1)
    order = np.argsort(-strengths, axis=1)
    ranked = np.take_along_axis(logs, order[..., None], axis=1)
    levels = (1.0 - LEVEL) / (rows - np.arange(rows))
    rejected = np.logical_and.accumulate(is_false(ranked, levels[None, :], 0.0), axis=1)
    return (rejected & (np.abs(np.expm1(ranked.mean(axis=-1))) >= threshold)).any(axis=1)


def families(n: int, alike: float, sets: int = SETS) -> Floats:
    """Standard normal noise of six rows that share a part of it: [set, row, pair]."""
    rng = np.random.default_rng([n, int(100 * alike)])
    common = rng.standard_normal((sets, 1, n))
    return math.sqrt(alike) * common + math.sqrt(1 - alike) * rng.standard_normal((sets, ROWS, n))


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("spread", SPREADS)
def test_the_ratios_interval_covers(n: int, spread: float) -> None:
    """Of 20,000 seeded data sets 93 to 97 % hold a true factor of 1.3, with log-normal and with normal run noise."""
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, SETS, n)) * spread / math.sqrt(2)
    assert 0.93 <= held(math.log(1.3) + a - b, math.log(1.3)) <= 0.97
    assert 0.93 <= held(np.log(1.3 * (1 + a)) - np.log(1 + b), math.log(1.3)) <= 0.97


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_means_interval_covers(n: int) -> None:
    """One side's interval, arithmetic over normal rates and geometric over log-normal times, does too."""
    noise = np.random.default_rng(n).standard_normal((SETS, n))
    assert 0.93 <= held(0.6 + 0.05 * noise, 0.6) <= 0.97
    assert 0.93 <= held(np.log(0.2) + 0.3 * noise, math.log(0.2)) <= 0.97


@pytest.mark.parametrize("n", [3, 5, 10])
def test_heavy_tails_widen_rather_than_mislead(n: int) -> None:
    """With Student noise of 3 degrees of freedom, and with one wild run in twenty, coverage stays above 93 %."""
    rng = np.random.default_rng(n)
    assert held(0.05 * rng.standard_t(3, (SETS, n)), 0.0) >= 0.93
    wild = np.where(rng.random((SETS, n)) < 0.05, 5.0, 1.0)
    assert held(0.05 * wild * rng.standard_normal((SETS, n)), 0.0) >= 0.93


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("spread", SPREADS)
def test_a_row_is_seldom_false(n: int, spread: float) -> None:
    """Of 20,000 seeded null data sets at most 5.6 % lead to a verdict, with the threshold and without."""
    noise = spread * np.random.default_rng(n).standard_normal((SETS, n))
    assert np.mean(is_false(noise, 1.0 - LEVEL)) <= 0.056
    assert np.mean(is_false(noise, 1.0 - LEVEL, 0.0)) <= 0.056


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_gate_is_seldom_false(n: int, alike: float) -> None:
    """Of 20,000 seeded null comparisons of six gated rows at most 5.6 % have a verdict in any of them."""
    noise = families(n, alike)
    for spread in SPREADS:
        assert np.mean(family_is_false(spread * noise)) <= 0.056
    assert np.mean(family_is_false(noise, 0.0)) <= 0.056


def row(logs: list[float], cell: int) -> Change:
    """A row of these log-ratios, with the verdict that it has by itself."""
    pairs = tuple((seed, math.exp(x), 1.0) for seed, x in enumerate(logs))
    ratio = paired_ratio([(a, b) for _, a, b in pairs])
    assert isinstance(ratio, Estimate)
    factor = Factor(ratio.value, ratio.low, ratio.high, LEVEL)
    verdict = conclude(factor, forbidden=None, obstacle=None, n_pairs=len(pairs), threshold=THRESHOLD)
    side = Side(1.0, None, None, len(pairs), len(pairs))
    return Change(
        cell={"shared_tokens": cell}, metric="output_throughput", unit="tokens/s", better="higher", a=side, b=side,
        factor=factor, difference=None, verdict=verdict.name, detectable=None, bound=None, reason=None, caveats=(),
        pairs=pairs,
    )  # fmt: skip


@pytest.mark.parametrize("n", [3, 5])
def test_the_arrays_judge_as_the_comparison_does(n: int) -> None:
    """Two hundred families through the real verdict and the real gate: the same rows, the same families."""
    noise = 0.1 * families(n, 0.5, 200)
    alone, together = is_false(noise, 1.0 - LEVEL), family_is_false(noise)
    for logs, own, upheld in zip(noise, alone, together, strict=True):
        changes = [row(pairs.tolist(), cell) for cell, pairs in enumerate(logs)]
        assert [change.verdict != "within-noise" for change in changes] == own.tolist()
        assert any(change.verdict != "within-noise" for change in corrected(changes, THRESHOLD)) == upheld


def test_the_arrays_are_the_intervals() -> None:
    """Two hundred data sets through the real intervals and the real p: the same answers."""
    logs = 0.05 * np.random.default_rng(0).standard_normal((200, 5))
    for data, p in zip(logs, p_of(logs), strict=True):
        ratio = paired_ratio([(math.exp(x), 1.0) for x in data])
        mean = mean_interval(Sample(tuple(np.exp(data))), kind="geometric")
        assert isinstance(ratio, Estimate)
        assert isinstance(mean, Estimate)
        assert (ratio.low, ratio.high) == pytest.approx((mean.low, mean.high))
        assert ratio.low is not None
        assert ratio.high is not None
        assert (ratio.low <= 1.0 <= ratio.high) == bool(held(data[None], 0.0)) == (p >= 0.05)
