"""What pairs could have shown, told of every judged row."""

from __future__ import annotations

import math

import pytest

from radixbench.compare.comparison import compare
from radixbench.compare.power import EFFECTS, power
from radixbench.stats.interval import log_ratios
from radixbench.stats.power import chance, detectable_effect
from tests.builders import make_sweep
from tests.compare.test_comparison import noisy, row

PAIRS = tuple((seed, 1.0 + 0.02 * (seed % 3), 1.0) for seed in range(3))


def test_every_judged_row_has_its_power_found_or_not() -> None:
    """Better, worse and within noise alike; the document's detectable is that of the power."""
    for arms in (make_sweep(on=noisy(0.1), off=noisy(1.0, 2)), make_sweep(on=noisy(1.0), off=noisy(1.0, 1))):
        for change in compare(*arms).changes:
            judged = change.verdict in {"better", "worse", "within-noise"}
            assert (change.power is not None) == judged
            if change.power is not None:
                assert change.power.n_pairs == 3
                expected = change.power.detectable if change.verdict == "within-noise" else None
                assert change.detectable == expected


def test_power_is_that_of_the_rule_that_makes_verdicts() -> None:
    """Interval and threshold together, at the spread of these pairs, and at five and ten of them."""
    found = power(PAIRS, threshold=0.03)
    assert found is not None
    logs = log_ratios([(a, b) for _, a, b in PAIRS])
    assert found.detectable == detectable_effect(logs, threshold=0.03)
    assert found.chance == {e: chance(e, sd=found.spread, n=3, threshold=0.03) for e in EFFECTS}
    assert list(found.with_pairs) == [5, 10]
    assert found.detectable > found.with_pairs[5] > found.with_pairs[10]


def test_more_pairs_are_told_of_the_same_spread() -> None:
    """The remedy is exact: as many pairs with just this spread would say the same."""
    found = power(PAIRS, threshold=0.03)
    assert found is not None
    off = found.spread * math.sqrt(4 / 2)
    five = tuple((seed, math.exp(x), 1.0) for seed, x in enumerate((off, -off, 0.0, 0.0, 0.0)))
    again = power(five, threshold=0.03)
    assert again is not None
    assert again.spread == pytest.approx(found.spread)
    assert again.detectable == pytest.approx(found.with_pairs[5])


def test_two_seeds_can_show_nothing_but_tell_how_many_would() -> None:
    """Too few for a verdict: neither an effect nor a chance, and what three and five seeds would detect."""
    found = row(compare(*make_sweep(on=noisy(1.0), off=noisy(1.0, 1), seeds=2)))
    assert found.power is not None
    assert (found.power.n_pairs, found.power.detectable, found.power.chance) == (2, None, {})
    assert list(found.power.with_pairs) == [3, 5]
    assert row(compare(*make_sweep(seeds=1))).power is None


def test_pairs_without_spread_show_the_threshold() -> None:
    """Zero variance: the smallest effect that counts is the threshold, at any number of seeds."""
    found = power(((0, 1.0, 1.0), (1, 2.0, 2.0), (2, 3.0, 3.0)), threshold=0.03)
    assert found is not None
    assert (found.spread, found.detectable) == (0.0, 0.03)
    assert found.with_pairs == {5: 0.03, 10: 0.03}
    assert found.chance[0.05] == 1.0


def test_figures_without_a_ratio_have_no_power() -> None:
    """A value of 0 has no logarithm."""
    assert power(((0, 0.0, 1.0), (1, 1.0, 1.0), (2, 1.0, 1.0)), threshold=0.03) is None
