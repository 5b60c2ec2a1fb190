"""A run summarised: every figure of the registry, or why not."""

from __future__ import annotations

import math

import pytest

from radixbench.errors import UsageError
from radixbench.metrics.registry import METRICS, metric
from radixbench.metrics.summary import summarise
from radixbench.records import StepRecord
from tests.builders import arm_run, failed_request, make_request, make_run

CONTRACT = [
    "ttft_p50",
    "ttft_p99",
    "e2e_p50",
    "itl_p50",
    "tpot_p50",
    "output_throughput",
    "input_throughput",
    "prefill_throughput",
    "request_throughput",
    "duration",
    "hit_rate",
    "cached_tokens",
]


def step(number: int, host_ns: int) -> StepRecord:
    """A prefill step of 1 ms."""
    return StepRecord(
        phase="prefill",
        step=number,
        start_ns=number * 1_000_000,
        end_ns=(number + 1) * 1_000_000,
        host_ns=host_ns,
        new_seq=1,
        new_tokens=8,
        cached_tokens=0,
        running_req=0,
        queue_req=0,
        pending_tokens=0,
        held_tokens=0,
        used_slots=0,
        pool_slots=64,
    )


def test_every_metric_has_a_figure() -> None:
    """A sound run: all values are finite, each with the number of values behind it."""
    summary = summarise(arm_run(seed=3, mode="on", order=5, ttft_s=0.1, shared=64))
    assert list(summary.figures) == list(METRICS)
    for name in CONTRACT:
        figure = summary.figures[name]
        assert figure.value is not None, name
        assert math.isfinite(figure.value)
        assert figure.reason is None
        assert figure.n_values > 0
    assert (summary.seed, summary.order, summary.mode) == (3, 5, "on")
    assert (summary.requested, summary.completed, summary.answered) == (8, 8, 8)


def test_a_run_without_answers_has_reasons() -> None:
    """Nothing completed: every figure is absent with a reason, nothing raises."""
    summary = summarise(make_run([failed_request(0)], requested=1))
    assert summary.completed == 0
    for figure in summary.figures.values():
        assert figure.value is None
        assert figure.reason


def test_what_stays_out_is_counted() -> None:
    """Empty answers are completed, but not answered."""
    run = make_run([make_request(0), make_request(1, output=0), failed_request(2)])
    summary = summarise(run)
    assert (summary.completed, summary.answered) == (2, 1)
    assert summary.excluded == {"empty": 1, "failed": 1}


def test_host_share_of_the_steps() -> None:
    """3 µs of 2 ms."""
    run = make_run([make_request(0)], steps=(step(0, 1_000), step(1, 2_000)))
    assert summarise(run).figures["host_share"].value == pytest.approx(0.0015)


def test_the_registry_holds_the_contract() -> None:
    """Names people's scripts read; rates between 0 and 1 are averaged arithmetically and are no quality."""
    assert set(CONTRACT) <= set(METRICS)
    assert all(name == one.name and one.formula for name, one in METRICS.items())
    assert [name for name, one in METRICS.items() if one.better is None] == [
        "peak_output_throughput",
        "output_throughput_per_gpu",
        "goodput_share",
        "hit_rate",
        "cached_tokens",
        "hit_efficiency",
        "lateness_p99",
        "host_share",
    ]
    assert metric("ttft_p50").better == "lower"
    with pytest.raises(UsageError, match="no metric is called 'ttft_p90'"):
        metric("ttft_p90")
