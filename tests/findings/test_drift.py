"""What is said of a run that drifts, of an open loop that asks too much, and of a sweep that drifts from run to run."""

from __future__ import annotations

import pytest

from radixbench.findings.capture import capture_findings
from radixbench.findings.drift import MIN_RUNS, drift_findings
from radixbench.findings.model import Finding
from radixbench.findings.run import run_findings
from radixbench.metrics.answers import sort_out
from radixbench.metrics.summary import summarise
from tests.builders import make_capture, make_request, make_run, ns
from tests.metrics.test_drift import closed


def test_a_run_that_slows_down_is_named() -> None:
    """By how much, from what to what, which rows it touches and what to do."""
    run = make_run(closed(100, lambda n: 0.2 * (1 + n / 100)), mode="off", seed=2)
    (finding,) = (one for one in run_findings(run, summarise(run)) if one.code == "drift")
    assert finding.severity == "warning"
    assert finding.place == "0 shared tokens, seed 2, cache off"
    assert "TTFT of like requests rose from 21" in finding.text
    assert "ms over the run (by 61 % of its median)" in finding.text
    assert "warm up longer" in finding.remedy
    assert finding.metrics is not None
    assert {"ttft_p50", "ttft_p99"} <= finding.metrics


def test_a_run_that_gets_faster_was_not_warm() -> None:
    """A beginning slower than the rest is drift too, with another remedy."""
    run = make_run(closed(100, lambda n: 0.4 * (1 - n / 150)), mode="off")
    (finding,) = drift_findings(sort_out(run))
    assert "TTFT of like requests fell from" in finding.text
    assert finding.remedy == "warm up longer: the beginning of the run was slower than the rest of it"


def test_an_overload_is_called_one() -> None:
    """More asked than done: the growing backlog is told first, and the remedy is to ask less."""
    requests = [
        make_request(
            n, send_s=n / 10, due_ns=ns(n / 10) - 1000, ttft_s=(n + 1) / 8 - n / 10, output=1
        )
        for n in range(120)
    ]  # fmt: skip
    (finding,) = drift_findings(sort_out(make_run(requests, mode="off")))
    assert finding.text.startswith("more was asked than the server can do: from ")
    assert "requests were due and unanswered" in finding.text
    assert "--request-rate" in finding.remedy


@pytest.mark.parametrize("n", [0, 1, 8, 100])
def test_a_level_run_has_none(n: int) -> None:
    """Neither an even run nor one too short to tell is accused."""
    assert list(drift_findings(sort_out(make_run(closed(n, lambda _: 0.2), mode="off")))) == []


def sweep(*ttfts: float) -> list[Finding]:
    """What is found over the runs of one cell, in the order given."""
    runs = [
        make_run([make_request(0, ttft_s=ttft)], seed=seed, order=seed) for seed, ttft in enumerate(ttfts)
    ]
    summaries = [summarise(run) for run in runs]
    return [one for one in capture_findings(make_capture(runs), summaries) if one.code == "drift"]


def test_a_sweep_that_drifts_from_run_to_run() -> None:
    """Eight runs, each slower than the one before: not the seeds, the machine."""
    found = sweep(*(0.1 + 0.01 * n for n in range(MIN_RUNS)))
    assert [one.metrics for one in found] == [frozenset({"ttft_p50"}), frozenset({"output_throughput"})]
    assert found[0].text.startswith("the median TTFT rose by 5")
    assert found[0].text.endswith("% of its median over 8 runs in the order they were made")
    assert found[0].place == "0 shared tokens, cache on"


def test_few_or_even_runs_tell_no_drift() -> None:
    """Fewer than eight runs have any order by chance; so have runs that change by less than a tenth."""
    assert sweep(*(0.1 + 0.01 * n for n in range(MIN_RUNS - 1))) == []
    assert sweep(*(0.1 + 0.0001 * n for n in range(MIN_RUNS))) == []
    assert sweep(*[0.1] * 12) == []
