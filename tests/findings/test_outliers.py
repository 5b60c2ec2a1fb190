"""Outliers are classed by kind, counted, told where they are many, and never left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from radixbench.capture.model import Run
from radixbench.findings.capture import capture_findings
from radixbench.findings.model import Finding
from radixbench.findings.outliers import request_spreads, run_spreads
from radixbench.metrics.answers import sort_out
from radixbench.metrics.summary import summarise
from tests.builders import make_capture, make_request, make_run
from tests.metrics.test_drift import closed


def noisy(n: int) -> float:
    """200 ms, a few per cent up or down."""
    return 0.2 * (1 + 0.03 * ((n * 7919) % 11 - 5) / 5)


def run_of(ttft: Callable[[int], float], **facts: object) -> Run:
    """A run of 204 requests, 200 of them after the first wave."""
    return make_run(closed(204, ttft, **facts), mode="on")


def found(*runs: Run) -> list[Finding]:
    """The caveats on outliers of a capture of these runs."""
    findings = capture_findings(make_capture(runs), [summarise(run) for run in runs])
    return [one for one in findings if one.code == "outliers"]


def test_slow_requests_are_counted_and_kept() -> None:
    """Six of 200 take five times as long: severe, told with the worst of them, and still in every figure."""
    run = run_of(lambda n: 1.0 if n % 40 == 39 else noisy(n))
    (finding,) = found(run)
    assert finding.severity == "info"
    assert "5 (2.5 %) are severe outliers of TTFT" in finding.text
    assert "the slowest 5.0 times the median of its kind" in finding.text
    assert finding.text.endswith("all are kept")
    assert summarise(run).figures["ttft_p99"].value == pytest.approx(1.0)
    assert summarise(run).figures["ttft_p99"].n_values == 204


def test_misses_among_hits_are_none() -> None:
    """What computes a long prompt takes long: it is held against its like."""

    def miss(n: int) -> bool:
        return n % 10 == 0

    facts = {"prompt_tokens": 1000, "cached": lambda n: 0 if miss(n) else 960}
    run = run_of(lambda n: 5 * noisy(n) if miss(n) else noisy(n), **facts)
    assert {one.what for one in request_spreads([sort_out(run)])} == {"hits", "misses"}
    assert found(run) == []


def test_slow_seeds_are_no_slow_requests() -> None:
    """A run that is twice as slow as another has no outliers for that."""
    other = run_of(lambda n: 2 * noisy(n))
    spreads = request_spreads([sort_out(run_of(noisy)), sort_out(other)])
    assert [one.outliers.total for one in spreads] == [0]
    assert found(run_of(noisy), other) == []


def test_one_or_two_slow_requests_are_no_caveat() -> None:
    """They are in the counts alone."""
    run = run_of(lambda n: 1.0 if n in (50, 100) else noisy(n))
    assert [
        one.outliers.low_severe + one.outliers.high_severe for one in request_spreads([sort_out(run)])
    ] == [2]
    assert found(run) == []


def seeds(*ttfts: float) -> list[Run]:
    """A run for each, one seed after the other."""
    return [
        make_run([make_request(0, ttft_s=ttft)], seed=seed, order=seed) for seed, ttft in enumerate(ttfts)
    ]


def test_a_seed_far_from_the_others() -> None:
    """Told by its number and how far off it is; five seeds are the fewest that tell."""
    runs = seeds(0.100, 0.101, 0.099, 0.1005, 0.0995, 0.300)
    told = [one.text for one in found(*runs)]
    assert (
        "TTFT, median: seed 5 stands apart from the other 5 runs, 3.0 times the median of all; it is kept"
        in told
    )
    assert run_spreads(runs[:4], [summarise(run) for run in runs[:4]]) == ()


def test_seeds_that_are_all_the_same_have_no_outliers() -> None:
    """No spread, no fences to be beyond."""
    runs = seeds(*[0.1] * 6)
    assert [one.apart for one in run_spreads(runs, [summarise(run) for run in runs])] == [False, False]
    assert found(*runs) == []


def test_five_seeds_of_one_kind_accuse_none() -> None:
    """Tukey's fences of five values catch what chance throws there; a run is told only where it stands apart."""
    runs = seeds(0.100, 0.101, 0.1005, 0.1008, 0.120)
    (spread,) = [one for one in run_spreads(runs, [summarise(run) for run in runs]) if one.what == "ttft_p50"]
    assert spread.apart
    within = seeds(0.100, 0.104, 0.1035, 0.1038, 0.112)
    (spread,) = [
        one for one in run_spreads(within, [summarise(run) for run in within]) if one.what == "ttft_p50"
    ]
    assert spread.outliers.high_severe == 1
    assert not spread.apart
    assert found(*within) == []


@pytest.mark.parametrize(
    ("last", "off"),
    [(0.115, "15 % above the median"), (0.085, "15 % below the median"), (0.25, "2.5 times the")],
)
def test_how_far_off_reads_as_no_multiple_of_one(last: float, off: str) -> None:
    """A share above or below near the median; and the metric by the title that tables give it."""
    (told,) = [one for one in found(*seeds(0.1, 0.1001, 0.0999, 0.1002, 0.0998, last)) if "TTFT" in one.text]
    assert off in told.text
    assert told.text.startswith("TTFT, median: seed 5 ")
