"""The flat keys by hand, by the formulas of the tools that name them, and what is unknown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.metrics.answers import sort_out
from radixbench.metrics.flat import flat_cell, flat_run
from radixbench.metrics.summary import summarise
from radixbench.records import ClientRecord
from radixbench.scenario.model import GoodputSpec, LoadSpec, Scenario
from radixbench.units import NS_PER_S
from tests.builders import failed_request, make_request, make_run

SCENARIO = Scenario(name="test")
KNOWN = {
    *("mean_ttft_ms", "median_ttft_ms", "std_ttft_ms", "p99_ttft_ms"),
    *("mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms"),
    *("mean_itl_ms", "median_itl_ms", "std_itl_ms", "p95_itl_ms", "p99_itl_ms", "max_itl_ms"),
    *("mean_e2el_ms", "median_e2el_ms", "std_e2el_ms", "p99_e2el_ms"),
    *("mean_e2e_latency_ms", "median_e2e_latency_ms", "std_e2e_latency_ms", "p90_e2e_latency_ms"),
    *("request_throughput", "output_throughput", "input_throughput", "total_token_throughput"),
    *("total_throughput", "request_goodput", "completed", "failed", "duration", "concurrency"),
    *("total_input_tokens", "total_output_tokens", "max_concurrency", "request_rate", "num_prompts"),
    *("model_id", "backend", "date", "burstiness"),
}
"""Names that plotting scripts for vLLM's and SGLang's results read."""


def test_the_names_are_theirs() -> None:
    """A run and a cell have all of them, a run its seed, a cell how many runs it pools."""
    run = make_run([make_request(0)])
    one, pooled = flat_run(run, SCENARIO), flat_cell([run], SCENARIO)
    assert set(one) >= KNOWN
    assert set(one) ^ set(pooled) == {"seed", "order", "n_runs"}


def test_figures_by_hand() -> None:
    """Two requests of 5 tokens, sent at 1 and 2 s, and a failed one: over 2 s."""
    run = make_run(
        [
            make_request(0, send_s=1.0, ttft_s=0.5, output=5, gap_s=0.1, prompt_tokens=1000, cached=0),
            make_request(1, send_s=2.0, ttft_s=0.6, output=5, gap_s=0.1, prompt_tokens=1000, cached=600),
            failed_request(2, send_s=1.0),
        ],
        cell={"shared_tokens": 64},
    )
    flat = flat_run(run, Scenario(name="slo", goodput=GoodputSpec(ttft=550)))
    assert (flat["completed"], flat["failed"], flat["num_prompts"]) == (2, 1, 3)
    assert flat["duration"] == pytest.approx(2.0)
    assert (flat["total_input_tokens"], flat["total_output_tokens"]) == (2000, 10)
    assert (flat["total_cached_tokens"], flat["hit_rate"]) == (600, 0.3)
    assert flat["request_throughput"] == pytest.approx(1.0)
    assert flat["request_goodput"] == pytest.approx(0.5)
    assert flat["total_token_throughput"] == flat["total_throughput"] == pytest.approx(1005.0)
    assert flat["median_ttft_ms"] == pytest.approx(550.0)
    assert flat["std_ttft_ms"] == pytest.approx(50.0)
    assert flat["mean_tpot_ms"] == flat["median_itl_ms"] == pytest.approx(100.0)
    assert flat["mean_e2el_ms"] == flat["mean_e2e_latency_ms"] == pytest.approx(950.0)
    assert flat["concurrency"] == pytest.approx(0.95)
    assert flat["shared_tokens"] == 64


@given(st.lists(st.floats(0.001, 9.0), min_size=1, max_size=30))
def test_they_are_the_registrys_figures(ttfts: list[float]) -> None:
    """What a key and a metric both tell is the same number, in ms and in s."""
    run = make_run([make_request(n, ttft_s=ttft, output=1 + n % 5) for n, ttft in enumerate(ttfts)])
    flat, figures = flat_run(run, SCENARIO), summarise(run).figures
    for key, metric, factor in (
        ("median_ttft_ms", "ttft_p50", 1000.0),
        ("p99_ttft_ms", "ttft_p99", 1000.0),
        ("median_e2el_ms", "e2e_p50", 1000.0),
        ("median_tpot_ms", "tpot_p50", 1000.0),
        ("median_itl_ms", "itl_p50", 1000.0),
        ("output_throughput", "output_throughput", 1.0),
        ("request_throughput", "request_throughput", 1.0),
        ("input_throughput", "input_throughput", 1.0),
        ("duration", "duration", 1.0),
        ("hit_rate", "hit_rate", 1.0),
    ):
        told = figures[metric].value
        assert flat[key] == (None if told is None else pytest.approx(told * factor))


def test_a_cell_pools_the_requests_of_its_runs() -> None:
    """Quantiles over all requests together; rates are sums over summed durations, not means of rates."""
    short = make_run([make_request(0, ttft_s=1.0, output=2, gap_s=1.0)], seed=0)
    long = make_run([make_request(n, ttft_s=2.0, output=2, gap_s=4.0) for n in range(3)], seed=1, order=1)
    pooled = flat_cell([short, long], SCENARIO)
    assert pooled["n_runs"] == 2
    assert pooled["median_ttft_ms"] == pytest.approx(2000.0)
    assert pooled["mean_ttft_ms"] == pytest.approx(1750.0)
    assert pooled["output_throughput"] == pytest.approx(8 / (2.0 + 6.0))


def test_the_unknown_is_none() -> None:
    """No answer, no token count, no word on cached tokens, chunks read together: never a 0."""
    empty = flat_run(make_run([failed_request(0)]), SCENARIO)
    assert (empty["completed"], empty["failed"]) == (0, 1)
    assert {empty[key] for key in ("duration", "median_ttft_ms", "output_throughput", "p99_itl_ms")} == {None}
    silent = make_request(0, output_tokens=None, output_source=None, cached=None)
    unknown = flat_run(make_run([silent]), SCENARIO)
    assert {unknown[key] for key in ("total_output_tokens", "hit_rate", "total_throughput")} == {None}
    assert unknown["median_ttft_ms"] == pytest.approx(100.0)
    client = ClientRecord(0, 5, 10, 5, 1, 1, 0, 1, 0)
    together = flat_run(make_run([make_request(0)], client=client), SCENARIO)
    assert (together["median_itl_ms"], together["request_goodput"]) == (None, None)
    assert together["median_tpot_ms"] is not None


def test_load_under_their_names() -> None:
    """A closed loop is their infinite rate with a cap; a cell's own level comes before the scenario's."""
    run = make_run([make_request(0)])
    closed = flat_run(run, SCENARIO)
    assert (closed["request_rate"], closed["max_concurrency"]) == ("inf", 8)
    poisson = Scenario(name="open", load=LoadSpec(arrival="poisson", request_rate=4.0))
    assert flat_run(run, poisson)["request_rate"] == 4.0
    assert flat_run(run, poisson)["max_concurrency"] is None
    level = make_run([make_request(0)], cell={"max_concurrency": 32})
    assert flat_run(level, SCENARIO)["max_concurrency"] == 32


def test_an_impossible_date_is_unknown() -> None:
    """A machine whose wall clock was never set has runs too."""
    run = make_run([make_request(0)], start_ns=-5 * NS_PER_S)
    assert flat_run(run, SCENARIO)["date"] is None
    assert flat_run(make_run([make_request(0)]), SCENARIO)["date"] == "19700101-000000"


def test_lists_have_a_place_for_every_request() -> None:
    """In the order of the run, in seconds; a failed one has no latency, and its error."""
    run = make_run([make_request(0, cached=7), failed_request(1)])
    flat = flat_run(run, SCENARIO, detail=True)
    assert flat["ttfts"] == [pytest.approx(0.1), None]
    assert flat["itls"] == [pytest.approx([0.01] * 3), []]
    assert (flat["output_lens"], flat["cached_tokens"]) == ([4, None], [7, None])
    assert flat["errors"] == ["", "connection lost"]
    assert np.median([ttft for ttft in flat["ttfts"] if ttft]) * 1000 == pytest.approx(flat["median_ttft_ms"])
    assert len(sort_out(run).timed) == flat["completed"]
