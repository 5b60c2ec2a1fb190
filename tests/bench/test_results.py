"""What runs say so far: estimates from the pairs that a comparison would count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.bench.results import Results
from radixbench.capture.model import Capture, Run
from radixbench.compare.comparison import compare
from radixbench.metrics.registry import METRICS
from tests.builders import failed_request, make_capture, make_sweep

CELL = {"shared_tokens": 64}
NOISE = (1.0, 1.1, 0.95, 1.03, 0.99, 1.08)


def swept(seeds: int = 6) -> dict[str, Capture]:
    """Both arms of a small sweep with some noise in one of them."""
    on, off = make_sweep(seeds=seeds, on=lambda seed: 0.1 * NOISE[seed], off=1.0)
    return {"on": on, "off": off}


def test_the_running_estimate_is_that_of_the_comparison() -> None:
    """Factor and interval of every gated figure are what ``compare`` will say of the same runs."""
    captures = swept()
    rows = {row.metric: row for row in compare(captures["on"], captures["off"]).changes}
    running = Results(captures).running(CELL)
    assert [one.metric for one in running] == ["ttft_p50", "output_throughput"]
    for one in running:
        factor = rows[one.metric].factor
        assert factor is not None
        assert (one.n, one.unit) == (6, "x")
        assert (one.value, one.low, one.high) == pytest.approx((factor.value, factor.low, factor.high))


def test_the_arm_with_reuse_comes_first_whatever_the_scenario_says() -> None:
    """A factor above 1 is in favour of the arm with reuse."""
    captures = swept()
    backwards = {arm: captures[arm] for arm in ("off", "on")}
    assert Results(backwards).running(CELL) == Results(captures).running(CELL)


def test_a_pair_that_a_comparison_sets_aside_does_not_count() -> None:
    """Nor does one with fewer than 99 % of its answers, or with one arm alone."""
    captures = swept()
    runs = list(captures["on"].runs)
    runs[0] = replace(runs[0], protocol=replace(runs[0].protocol, verified=False), requests=hits(runs[0]))
    runs[1] = replace(runs[1], requests=(*runs[1].requests[:-1], failed_request(len(runs[1].requests) - 1)))
    captures["on"] = replace(captures["on"], runs=tuple(runs[:-1]))
    assert [one.n for one in Results(captures).running(CELL)] == [3, 3]


def hits(run: Run) -> tuple:
    """The run's requests as a cold cache can't have answered them."""
    return tuple(replace(request, cached_tokens=request.prompt_tokens - 1) for request in run.requests)


def test_of_one_arm_the_figure_itself_is_estimated() -> None:
    """The geometric mean over seeds, in the metric's own unit."""
    captures = {"on": swept()["on"]}
    ttft, throughput = Results(captures).running(CELL)
    assert (ttft.unit, throughput.unit) == (METRICS["ttft_p50"].unit, METRICS["output_throughput"].unit)
    assert 0.1 < ttft.value < 0.11
    assert ttft.low is not None
    assert ttft.n == 6


def test_a_cell_without_runs_has_no_estimate() -> None:
    """Before the first pair there is nothing to tell."""
    assert Results({"on": make_capture([]), "off": make_capture([])}).running(CELL) == ()
    assert Results(swept()).running({"shared_tokens": 7}) == ()


def test_a_run_measured_anew_takes_the_place_of_the_old_one() -> None:
    """What is remembered of a run is forgotten when another one stands in its place."""
    captures = swept()
    results = Results(captures)
    before = results.running(CELL)
    first, *others = captures["off"].runs
    slower = tuple(
        replace(request, chunk_ns=tuple(at + 10**9 for at in request.chunk_ns)) for request in first.requests
    )
    captures["off"] = replace(captures["off"], runs=(replace(first, requests=slower), *others))
    assert results.running(CELL)[0].value > before[0].value


def test_seeds_needed_follow_from_the_spread() -> None:
    """More for a narrower target, no fewer than five, at last more than the most; unknown from one seed."""
    row = Results(swept()).rows(CELL)[0]
    needed = [row.needed(target, 50) for target in (0.5, 0.1, 0.05, 0.02, 0.001)]
    assert needed[0] == 5
    assert needed == sorted(needed)
    assert needed[-1] == 51
    assert Results(swept(1)).rows(CELL)[0].needed(0.05, 50) is None
