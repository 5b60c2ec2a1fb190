"""The gated rows judged together."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from radixbench.compare.change import Change, Factor
from radixbench.compare.comparison import compare
from radixbench.compare.family import corrected, is_withdrawn, judge_together, outcome
from radixbench.compare.verdict import conclude
from radixbench.stats.interval import paired_ratio
from radixbench.stats.power import ALPHA
from tests.builders import make_sweep
from tests.report.rows import change

NOISE = (1.0, 1.03, 0.98)


def with_ratios(ratios: np.ndarray, metric: str = "ttft_p50", shared: int = 0) -> Change:
    """A row judged by itself, of which each pair has such a ratio."""
    pairs = [(float(ratio), 1.0) for ratio in ratios]
    estimate = paired_ratio(pairs)
    factor = Factor(estimate.value, estimate.low, estimate.high, 0.95)
    verdict = conclude(factor, forbidden=None, obstacle=None, n_pairs=len(pairs), threshold=0.03)
    return change(
        metric,
        shared=shared,
        value=factor.value,
        low=factor.low,
        high=factor.high,
        verdict=verdict.name,
        pairs=tuple((seed, a, b) for seed, (a, b) in enumerate(pairs)),
    )


@pytest.mark.parametrize(("sd", "n"), [(0.03, 3), (0.10, 5)])
def test_noise_says_better_or_worse_of_few_comparisons(sd: float, n: int) -> None:
    """Six rows without any effect, 1500 times: at most one comparison in twenty has a verdict, row by row many more."""
    rng = np.random.default_rng(7)
    told = alone = 0
    rounds = 1500
    for _ in range(rounds):
        rows = [
            with_ratios(np.exp(rng.normal(0.0, sd, n)), metric, shared)
            for metric in ("ttft_p50", "output_throughput")
            for shared in (0, 1024, 4096)
        ]
        told += outcome(corrected(rows)) != "within-noise"
        alone += outcome(rows) != "within-noise"
    assert told / rounds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / rounds)
    assert alone / rounds > 0.08


def test_rows_keep_what_they_had_by_themselves() -> None:
    """Both verdicts are there, with the p before and after the correction and the level of the row."""
    on, off = make_sweep(on=lambda s: 1.1 * NOISE[s], off=1.0, shared=(0, 16, 32))
    rows = [row for row in compare(on, off).changes if row.metric in {"ttft_p50", "output_throughput"}]
    judged = judge_together(rows)
    assert {one.own.verdict for one in judged} == {"worse"}
    assert all(is_withdrawn(one.change) for one in judged)
    assert [one.own for one in judged] == rows
    for one in judged:
        assert one.p is not None
        assert one.p <= ALPHA < one.p_holm
        assert one.alpha == pytest.approx(ALPHA / 6)


def test_a_row_among_many_shows_less_than_alone() -> None:
    """The effect that would have been seen is told at the level the row is judged at."""
    on, off = make_sweep(on=lambda s: NOISE[s], off=1.0, shared=(0, 16, 32))
    rows = [row for row in compare(on, off).changes if row.metric == "ttft_p50"]
    for own, together in zip(rows, corrected(rows), strict=True):
        assert own.detectable < together.detectable == together.power.detectable
    (alone,) = corrected(rows[:1])
    assert alone.detectable == rows[0].detectable


def test_rows_that_are_sure_leave_their_share_to_the_others() -> None:
    """Beside a row that changed beyond doubt, the second is judged by itself."""
    sure = with_ratios(np.array([2.0, 2.001, 1.999]))
    near = with_ratios(np.exp(0.1 + np.array([0.03, 0.0, -0.03])), shared=1024)
    (_, second) = judge_together([sure, near])
    assert second.alpha == pytest.approx(ALPHA / 1)
    assert second.change.verdict == "better"


@pytest.mark.parametrize(
    ("verdicts", "what"),
    [
        (("better", "worse"), "mixed"),
        (("better", "undecided"), "better"),
        (("worse", "within-noise"), "worse"),
        (("within-noise", "within-noise"), "within-noise"),
        (("within-noise", "undecided"), "undecided"),
        (("undecided", "incomparable"), "incomparable"),
        ((), "undecided"),
    ],
)
def test_what_rows_come_to(verdicts: tuple[str, ...], what: str) -> None:
    """One word for all gated rows, the same in the headline and in the document."""
    assert outcome([replace(change(), verdict=verdict) for verdict in verdicts]) == what
