"""Verdicts end to end: from synthetic captures with known truths to rows and reasons."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.capture.model import Capture
from radixbench.compare.change import Change, Comparison
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.compare.gate import gate_document
from radixbench.metrics.registry import METRICS
from radixbench.scenario.model import GoodputSpec
from radixbench.stats.sequential import STOPPED_LEVEL
from radixbench.stats.student import critical
from tests.builders import arm_run, failed_request, make_capture, make_request, make_run, make_sweep

NOISE = (1.0, 1.02, 0.985, 1.01, 0.99)


def row(comparison: Comparison, metric: str = "ttft_p50", shared: int = 64) -> Change:
    """The row of a metric in a cell."""
    return next(c for c in comparison.changes if c.metric == metric and c.cell == {"shared_tokens": shared})


def noisy(base: float, offset: int = 0) -> object:
    """TTFTs of about ``base``, each seed its own."""
    return lambda seed: base * NOISE[(seed + offset) % len(NOISE)]


def test_a_clear_win() -> None:
    """On is ten times faster with 2 % of noise: better, and the factor is exactly the ratio of the sides."""
    comparison = compare(*make_sweep(on=noisy(0.1), off=noisy(1.0, 2)))
    found = row(comparison)
    assert comparison.eligible
    assert found.verdict == "better"
    assert found.factor is not None
    assert found.a.value is not None
    assert found.b.value is not None
    assert found.factor.value == found.b.value / found.a.value
    assert found.factor.low is not None
    assert found.factor.high is not None
    assert 9 < found.factor.low < 10 < found.factor.high < 11
    assert (found.a.n_runs, found.a.n_values, len(found.pairs)) == (3, 24, 3)
    assert row(comparison, "output_throughput").verdict == "better"


def test_every_metric_of_every_cell_has_a_row() -> None:
    """Cells in the order they ran, metrics in the registry's; goodput has none where no target was given."""
    comparison = compare(*make_sweep(shared=(0, 64)))
    names = [(c.cell["shared_tokens"], c.metric) for c in comparison.changes]
    assert names == [(shared, metric) for shared in (0, 64) for metric in METRICS if "goodput" not in metric]


def test_noise_is_within_noise_and_says_what_would_have_shown() -> None:
    """The same speed with 2 % of noise: no difference, and how large one would have been seen."""
    found = row(compare(*make_sweep(on=noisy(1.0), off=noisy(1.0, 1))))
    assert found.verdict == "within-noise"
    assert found.detectable is not None
    assert 0.03 <= found.detectable < 0.3


def test_a_sure_but_tiny_effect_is_within_noise() -> None:
    """1 % every time is significant and below the threshold; the threshold is an argument."""
    arms = make_sweep(on=noisy(1.0), off=noisy(1.01))
    assert row(compare(*arms)).verdict == "within-noise"
    assert row(compare(*arms)).detectable == pytest.approx(0.03)
    assert row(compare(*arms, threshold=0.005)).verdict == "better"


def test_a_large_but_unsure_effect_is_within_noise() -> None:
    """Half the runs twice as slow, half twice as fast: a factor without an interval to match."""
    found = row(compare(*make_sweep(on=1.0, off=lambda seed: (0.5, 2.5, 2.0)[seed])))
    assert found.verdict == "within-noise"
    assert found.factor is not None
    assert found.factor.value > 1.03


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_are_undecided(seeds: int) -> None:
    """One or two pairs never make a verdict, however large the effect."""
    comparison = compare(*make_sweep(seeds=seeds))
    found = row(comparison)
    assert found.verdict == "undecided"
    assert found.reason == f"{seeds} of at least 3 pairs"
    assert found.factor is not None
    assert found.factor.value == pytest.approx(10.0)
    assert (found.factor.low is None) == (seeds == 1)
    assert "too-few-runs" in found.caveats


def later(capture: Capture) -> Capture:
    """The same figures as runs of their own, which came later."""
    return replace(capture, runs=tuple(replace(run, order=run.order + 100) for run in capture.runs))


def test_the_same_figures_again() -> None:
    """Identical data is never better or worse, without any spread as with much."""
    for capture in make_sweep(on=noisy(0.1), off=0.3, seeds=5):
        comparison = compare(capture, later(capture))
        assert comparison.eligible
        for change in comparison.changes:
            assert change.verdict in {None, "within-noise"}, change
            if change.factor is not None:
                assert (change.factor.value, change.factor.low, change.factor.high) == (1.0, 1.0, 1.0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(0.01, 2), st.floats(0.01, 2)), min_size=3, max_size=5))
def test_swapped_sides_have_reciprocal_factors(times: list[tuple[float, float]]) -> None:
    """B against A says the same as A against B, upside down."""
    arms = make_sweep(on=lambda s: times[s][0], off=lambda s: times[s][1], seeds=len(times))
    there, back = compare(*arms), compare(arms[1], arms[0])
    for one, other in zip(there.changes, back.changes, strict=True):
        if one.factor is None or other.factor is None:
            assert one.factor is other.factor
            continue
        assert other.factor.value == pytest.approx(1 / one.factor.value)
        assert one.factor.low is not None
        assert other.factor.high == pytest.approx(1 / one.factor.low)
        assert one.factor.low <= one.factor.value <= (one.factor.high or math.inf)


def test_explaining_figures_have_a_difference_and_no_verdict() -> None:
    """Hit rates and cached tokens explain: no factor, no verdict, but how far they are apart."""
    comparison = compare(*make_sweep())
    for metric in ("hit_rate", "cached_tokens"):
        found = row(comparison, metric)
        assert found.factor is None
        assert found.verdict is None
        assert found.reason
    found = row(comparison, "cached_tokens")
    assert found.difference is not None
    assert (found.difference.value, found.difference.low, found.difference.high) == (448.0, 448.0, 448.0)


def test_unequal_seeds_pair_what_they_share() -> None:
    """Five seeds against four of them: four pairs, both sides over these four alone."""
    on, off = make_sweep(on=lambda s: 0.1 if s < 4 else 99.0, seeds=5)
    comparison = compare(on, replace(off, runs=off.runs[:4]))
    found = row(comparison)
    assert [seed for seed, _, _ in found.pairs] == [0, 1, 2, 3]
    assert found.a.value == pytest.approx(0.1)
    assert (found.a.n_runs, found.b.n_runs) == (4, 4)
    assert any(one.field == "cells and seeds" and one.allowed for one in comparison.differences)


def test_a_cell_of_one_arm_is_undecided() -> None:
    """What only A measured is shown, without a factor, and the reason names the gap."""
    on, off = make_sweep(shared=(0, 64))
    comparison = compare(on, replace(off, runs=tuple(r for r in off.runs if r.cell["shared_tokens"] == 0)))
    found = row(comparison)
    assert (found.verdict, found.reason) == ("undecided", "B has no run of this cell")
    assert found.a.value == pytest.approx(0.1)
    assert found.b.value is None
    assert found.factor is None
    assert row(comparison, shared=0).verdict == "better"


def broken(capture: Capture, failures: int) -> Capture:
    """The capture with so many requests of its first run failed."""
    first = capture.runs[0]
    requests = tuple(failed_request(r.prompt) if i < failures else r for i, r in enumerate(first.requests))
    return replace(capture, runs=(replace(first, requests=requests, status="incomplete"), *capture.runs[1:]))


def test_an_incomplete_run_has_no_verdict() -> None:
    """One of eight requests failed in one run: figures, but no verdict."""
    on, off = make_sweep()
    comparison = compare(broken(on, 1), off)
    found = row(comparison)
    assert found.verdict == "undecided"
    assert found.reason == "A, seed 0: 7 of 8 requests answered, fewer than 99 %"
    assert found.factor is not None
    assert "incomplete" in found.caveats


def test_no_answer_at_all_is_undecided_with_the_causes() -> None:
    """A run without a completed request leaves the row without a figure of that seed."""
    on, off = make_sweep()
    found = row(compare(broken(on, 8), off))
    assert found.verdict == "undecided"
    assert found.reason == "none of 8 requests counts: 8 failed or cancelled (A seed 0)"


def test_a_capture_in_which_everything_failed() -> None:
    """0 completed requests: every row undecided, no side a 0, nothing raised."""
    on, off = make_sweep()
    dead = [replace(run, requests=tuple(failed_request(i) for i in range(8))) for run in on.runs]
    comparison = compare(replace(on, runs=tuple(dead)), off)
    for change in comparison.changes:
        assert change.verdict in {"undecided", None}
        assert change.a.value is None
        assert change.factor is None
    assert comparison.a.completed == 0


def test_captures_without_runs() -> None:
    """Nothing to compare is incomparable, with one row per metric to say so."""
    comparison = compare(make_capture([], planned_runs=3), make_capture([], planned_runs=3))
    assert not comparison.eligible
    assert {c.verdict for c in comparison.changes} == {"incomparable", None}
    assert len(comparison.changes) == sum(not metric.on_request for metric in METRICS.values())
    assert comparison.a.mode == "none"


def test_a_zero_latency_makes_no_factor() -> None:
    """A measured 0 is shown as 0, with its interval; there is no ratio, and the row says where it is 0."""
    on, off = (
        make_capture(
            [make_run([make_request(ttft_s=ttft)], seed=seed, mode=mode, order=2 * seed) for seed in range(3)]
        )
        for mode, ttft in (("on", 0.0), ("off", 0.01))
    )
    found = row(compare(on, off), "ttft_p50", shared=0)
    assert (found.verdict, found.factor) == ("undecided", None)
    assert found.reason == "it is 0, which leaves no factor (A seed 0, A seed 1, A seed 2)"
    assert (found.a.value, found.a.low, found.a.high, found.a.n_runs) == (0.0, 0.0, 0.0, 3)
    assert found.b.value == pytest.approx(0.01)


def test_a_figure_that_is_sometimes_zero_keeps_its_mean() -> None:
    """Goodput of 0 in one of three runs: the arithmetic mean of all three, and neither a factor nor a verdict."""
    arms = []
    for mode, slow in (("on", 1), ("off", None)):
        runs = [
            make_run(
                [make_request(ttft_s=1.0 if seed == slow else 0.1)], seed=seed, mode=mode, order=2 * seed
            )
            for seed in range(3)
        ]
        arms.append(make_capture(runs))
    found = row(compare(*arms, goodput=GoodputSpec(ttft=500.0)), "goodput", shared=0)
    per_run = [a for _, a, _ in found.pairs]
    assert per_run[1] == 0.0
    assert found.a.value == pytest.approx(sum(per_run) / 3)
    assert found.a.low == 0.0, "no rate below 0"
    assert (found.verdict, found.factor, found.power) == ("undecided", None, None)
    assert found.reason == "it is 0, which leaves no factor (A seed 1)"
    document = to_document(compare(*arms, goodput=GoodputSpec(ttft=500.0)))
    (told,) = [one for one in document["rows"] if one["metric"] == "goodput"]
    assert told["a"]["value"] == pytest.approx(sum(per_run) / 3)
    assert told["factor"] is None


def test_added_seeds_are_judged_at_a_stricter_level() -> None:
    """A capture whose seeds were added until its intervals were narrow: Student's t at 97.5 %, told as what it comes to."""
    noise = (0.02, -0.02, 0.01, -0.01, 0.0)
    plain = make_sweep(seeds=5, on=lambda seed: 0.1 * (1 + noise[seed]), off=0.1)
    grown = tuple(replace(capture, until=0.05) for capture in plain)
    settled, stopped = (row(compare(*pair), "ttft_p50") for pair in (plain, grown))
    assert settled.factor is not None
    assert stopped.factor is not None
    widths = [math.log(one.factor.high / one.factor.low) for one in (settled, stopped)]
    assert widths[1] / widths[0] == pytest.approx(critical(STOPPED_LEVEL, 4) / critical(0.95, 4))
    assert (settled.factor.level, stopped.factor.level) == (0.95, 0.95)
    assert stopped.power is not None
    assert settled.power is not None
    assert stopped.power.detectable > settled.power.detectable
    assert "seeds-added" in stopped.caveats
    assert "seeds-added" not in settled.caveats
    assert compare(*grown).a.until == 0.05
    mixed = row(compare(grown[0], plain[1]), "ttft_p50")
    assert mixed.factor == stopped.factor, "one side is enough"


def test_a_verdict_between_the_two_levels_is_only_that_of_settled_seeds() -> None:
    """The p of a row is told against 0.05: between 2.5 and 5 % it is better with settled seeds and noise with added ones."""
    noise = (1.0, -1.0, 0.5, -0.5, 0.0)
    plain = make_sweep(seeds=5, on=lambda seed: 0.1 / math.exp(0.05 + 0.0473 * noise[seed]), off=0.1)
    grown = tuple(replace(capture, until=0.05) for capture in plain)
    found = []
    for pair in (plain, grown):
        comparison = compare(*pair)
        (judged,) = gate_document(comparison, ("ttft_p50",))["rows"]
        found.append((judged["verdict"], judged["p"]))
    assert found[1][1] == pytest.approx(found[0][1] * 2)
    assert [one[0] for one in found] == ["better", "within-noise"]
    assert found[0][1] == pytest.approx(0.04, abs=0.002)


def test_tokens_of_one_read_have_no_gaps() -> None:
    """Tokens that were read at one go show no gaps: the row says that there is none instead of 0."""
    on, off = (
        make_capture(
            [make_run([make_request(gap_s=gap)], seed=seed, mode=mode, order=2 * seed) for seed in range(3)]
        )
        for mode, gap in (("on", 0.0), ("off", 0.01))
    )
    found = row(compare(on, off), "itl_p50", shared=0)
    assert (found.verdict, found.factor) == ("undecided", None)
    assert found.reason is not None
    assert "no answer came in 2 or more events" in found.reason


def test_misreadable_rates_carry_their_warning() -> None:
    """Computed prefill throughput falls when the cache works: on against off it has a factor but no verdict."""
    found = row(compare(*make_sweep()), "prefill_throughput")
    assert found.reason == "counts computed tokens only: a cache that saves prefill lowers it"
    assert found.factor is not None
    assert found.verdict is None


def test_prefill_throughput_is_a_quality_between_like_arms() -> None:
    """Two builds that both cache are judged by how fast they compute."""
    on, _ = make_sweep()
    found = row(compare(on, later(on)), "prefill_throughput")
    assert found.verdict == "within-noise"


def test_a_rate_has_no_interval_beyond_what_a_rate_can_be() -> None:
    """Widely spread hit rates don't reach below 0 or above 1."""
    on = make_capture(
        [
            arm_run(
                seed=seed, mode="on", order=2 * seed, ttft_s=0.1, shared=64, requests=2 + 14 * seed, hits=hits
            )
            for seed, hits in enumerate((False, True, True))
        ]
    )
    side = row(compare(on, on), "hit_rate").a
    assert (side.low, side.high) == (0.0, 1.0)


def test_sides_introduce_themselves() -> None:
    """Path, mode, model and counts."""
    comparison = compare(*make_sweep(), a_path="on.json", b_path="off.json")
    assert (comparison.a.path, comparison.a.mode, comparison.a.model) == ("on.json", "on", "tiny")
    assert (comparison.b.runs, comparison.b.requests, comparison.b.completed) == (3, 24, 24)


def test_a_capture_compared_with_itself_shows_nothing() -> None:
    """Two copies of one file differ by nothing, which is no sign that two builds do."""
    on, _ = make_sweep()
    found = row(compare(on, on))
    assert (found.verdict, found.reason) == (
        "undecided",
        "both sides are the same runs, which say nothing of each other",
    )
    assert row(compare(on, later(on))).verdict == "within-noise"


def test_what_all_runs_lack_is_told_once() -> None:
    """Servers that never tell: one reason, with the letters of the sides and not every seed of them."""
    on, off = make_sweep()
    mute = [
        replace(
            one,
            runs=tuple(replace(run, requests=tuple(failed_request(i) for i in range(8))) for run in one.runs),
        )
        for one in (on, off)
    ]
    reason = "none of 8 requests counts: 8 failed or cancelled"
    assert row(compare(*mute)).reason == f"{reason} (A, B)"
    assert row(compare(on, mute[1])).reason == f"{reason} (B)"
