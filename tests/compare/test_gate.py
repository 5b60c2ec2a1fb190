"""What makes a gate fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.compare.comparison import compare
from radixbench.compare.family import corrected, is_blind
from radixbench.compare.gate import check_gate, conclusion, gate, gated, withdrawn
from radixbench.errors import UsageError
from radixbench.scenario.model import GoodputSpec
from tests.builders import make_capture, make_sweep

NOISE = (1.0, 1.03, 0.98)


def test_a_regression_fails_the_gate() -> None:
    """A twice as slow: worse in both headline metrics, which are the default gate."""
    found = gate(compare(*make_sweep(on=2.0, off=1.0)), {"worse"})
    assert [change.metric for change in found] == ["ttft_p50", "output_throughput"]


def test_other_rows_inform() -> None:
    """Only gated metrics count; an improvement doesn't fail a gate on worse."""
    comparison = compare(*make_sweep(on=2.0, off=1.0))
    assert [c.metric for c in gate(comparison, {"worse"}, ("duration",))] == ["duration"]
    assert gate(comparison, {"worse"}, ("itl_p50",)) == ()
    assert gate(compare(*make_sweep()), {"worse"}) == ()


def test_undecided_and_incomparable_can_fail() -> None:
    """A gate may insist on an answer."""
    assert len(gate(compare(*make_sweep(seeds=2)), {"worse", "undecided"})) == 2
    empty = compare(make_capture([]), make_capture([]))
    assert len(gate(empty, {"incomparable"})) == 2


def test_a_gate_on_targets_that_nobody_set_is_refused() -> None:
    """Without targets there is no goodput to judge, and a gate on it would pass whatever happened."""
    bare = make_sweep()
    with pytest.raises(UsageError, match="--gate goodput: neither capture has targets"):
        check_gate(("ttft_p50", "goodput"), bare)
    targets = replace(bare[0], scenario=replace(bare[0].scenario, goodput=GoodputSpec(ttft=500.0)))
    assert check_gate(("goodput", "goodput", "ttft_p50"), (targets, bare[1])) == ("goodput", "ttft_p50")


def test_a_verdict_that_holm_doesnt_uphold_is_within_noise() -> None:
    """p of one row is 0.03: alone it fails the gate, among six rows it doesn't."""
    on, off = make_sweep(on=lambda s: 1.1 * NOISE[s], off=1.0, shared=(0, 16, 32))
    alone = compare(
        *(replace(arm, runs=tuple(r for r in arm.runs if r.cell["shared_tokens"] == 0)) for arm in (on, off))
    )
    assert [c.metric for c in gate(alone, {"worse"}, ("ttft_p50",))] == ["ttft_p50"]
    together = [c for c in compare(on, off).changes if c.metric in {"ttft_p50", "e2e_p50", "duration"}]
    assert {c.verdict for c in together} == {"worse"}
    withdrawn = corrected(together)
    assert {c.verdict for c in withdrawn} == {"within-noise"}
    assert {c.reason for c in withdrawn} == {"doesn't hold when all gated rows are judged together"}


def test_unknown_names_are_refused() -> None:
    """A gate that never fails because of a typing error is worse than none."""
    comparison = compare(*make_sweep())
    with pytest.raises(UsageError, match="no verdict is called worst; choose from better"):
        gate(comparison, {"worst"})
    with pytest.raises(UsageError, match="no metric is called 'ttft'"):
        gate(comparison, {"worse"}, ("ttft",))
    with pytest.raises(UsageError, match="hit_rate is no quality"):
        gate(comparison, {"worse"}, ("hit_rate",))


def test_rows_that_only_fall_alone_are_named() -> None:
    """A verdict that the gate takes back is told, so that page and exit code can be squared."""
    comparison = compare(*make_sweep(on=lambda s: 1.1 * NOISE[s], off=1.0, shared=(0, 16, 32)))
    alone = [row for row in comparison.changes if row.metric == "ttft_p50" and row.verdict == "worse"]
    assert alone
    assert gate(comparison, {"worse"}) == ()
    taken_back = withdrawn(comparison, {"worse"})
    assert all(row in taken_back for row in alone)
    assert withdrawn(compare(*make_sweep(on=2.0, off=1.0)), {"worse"}) == ()


def test_a_gate_says_passed_only_of_what_it_could_judge() -> None:
    """Too few pairs: nothing worse was shown, which isn't the same."""
    assert conclusion(compare(*make_sweep()), {"worse"}) == "passed on ttft_p50, output_throughput"
    assert conclusion(compare(*make_sweep(on=2.0, off=1.0)), {"worse"}) == (
        "failed on ttft_p50, output_throughput"
    )
    two = compare(*make_sweep(seeds=2))
    assert conclusion(two, {"worse"}) == (
        "nothing worse was shown on ttft_p50, output_throughput; 2 of 2 gated rows undecided"
    )
    assert conclusion(two, {"worse", "undecided"}).startswith("failed on")
    empty = compare(make_capture([]), make_capture([]))
    assert conclusion(empty, {"worse"}, ("ttft_p50",)) == (
        "nothing worse was shown on ttft_p50; 1 of 1 gated rows incomparable"
    )
    unlike = compare(*make_sweep())
    assert "1 of 1 gated rows without a verdict" in conclusion(unlike, {"worse"}, ("prefill_throughput",))


def test_a_gate_says_what_it_could_not_have_seen() -> None:
    """Within noise: the largest loss that these seeds' spread hides; of no interest where neither loss nor doubt is asked for."""
    noisy = compare(*make_sweep(on=lambda s: (0.5, 1.0, 2.0)[s], off=1.0))
    said = conclusion(noisy, {"worse"}, ("ttft_p50",))
    assert said == "nothing worse was shown on ttft_p50; a loss of less than 9.61× may have been missed"
    steady = compare(*make_sweep(on=lambda s: (1.0, 1.02, 0.98)[s], off=1.0))
    assert conclusion(steady, {"worse"}, ("ttft_p50",)).startswith(
        "passed on ttft_p50; a loss of less than 6.7 %"
    )
    said = conclusion(noisy, {"undecided"}, ("ttft_p50",))
    assert said == "nothing undecided was shown on ttft_p50; a change of less than 9.61× may have been missed"
    assert conclusion(noisy, {"incomparable"}, ("ttft_p50",)) == "passed on ttft_p50"


def test_a_threshold_of_ones_own_is_no_noise() -> None:
    """Who lets 30 % pass isn't told that the runs were too noisy to see it."""
    steady = compare(*make_sweep(on=lambda s: 1.2 * (1.0, 1.02, 0.98)[s], off=1.0), threshold=0.3)
    assert [is_blind(row) for row in gated(steady)] == [False, False]
    assert conclusion(steady, {"worse"}, ("ttft_p50",)).startswith("passed on ttft_p50")
    noisy = compare(*make_sweep(on=lambda s: (0.5, 1.0, 2.0)[s], off=1.0), threshold=0.3)
    assert is_blind(gated(noisy, ("ttft_p50",))[0])
