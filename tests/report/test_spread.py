"""The section on spread: steady part, trends, outliers and goodput, each where there is something to say."""

from __future__ import annotations

from collections.abc import Callable

from radixbench.capture.model import Capture
from radixbench.metrics.summary import summarise
from radixbench.report.evidence import Evidence
from radixbench.report.model import Arm, Grid, Section
from radixbench.report.spread import spread_section
from radixbench.scenario.model import GoodputSpec, Scenario
from tests.builders import failed_request, make_capture, make_request, make_run
from tests.metrics.test_drift import closed


def section(capture: Capture) -> Section | None:
    """The section of this capture alone."""
    runs = tuple(summarise(run, goodput=capture.scenario.goodput) for run in capture.runs)
    return spread_section([Evidence(Arm("a", "cache on", "test", "", "", ""), capture, runs)])


def made(ttft: Callable[[int], float], **facts: object) -> Section:
    """The section of one run of 104 requests."""
    run = make_run(closed(104, ttft), mode="on")
    found = section(make_capture([run], **facts))
    assert found is not None
    return found


def grid(found: Section, caption: str) -> Grid:
    """The table with that caption."""
    (own,) = (grid for title, grid in found.grids if title.startswith(caption))
    return own


def told(found: Section) -> str:
    """All its sentences."""
    return "\n".join(f"{one.word}: {one.text}" for one in found.says)


def test_a_level_run() -> None:
    """No drift, by its tests; the steady part beside the whole, outliers by class; no goodput, for nobody asked."""
    found = made(lambda n: 0.2 * (1 + 0.02 * (n % 5)))
    assert "level: No drift in 1 run" in told(found)
    assert "kept in every figure" in told(found)
    assert [title.split()[0] for title, _ in found.grids] == ["Steady", "Trends", "Outliers"]
    (steady,) = grid(found, "Steady").rows
    assert steady[:4] == ("cache on", "0 shared tokens", "98.5 %", "100")
    (row,) = grid(found, "Outliers").rows
    assert row[2:8] == ("misses", "100", "0", "0", "0", "0")


def test_a_run_that_drifts() -> None:
    """The sentence says where and from what to what, with a mark that needs no colour."""
    found = made(lambda n: 0.2 * (1 + n / 100))
    assert "drift: cache on at 0 shared tokens, seed 0: TTFT of like requests rose from" in told(found)
    assert "No drift" not in told(found)
    assert grid(found, "Trends").rows[0][-1] == "1"


def test_a_first_wave_that_is_much_of_the_run() -> None:
    """Half of the requests waited for the first wave: the steady part's median is told beside the run's."""
    requests = closed(24, lambda n: 2.0 if n < 14 else 0.1)
    found = section(make_capture([make_run(requests)]))
    assert found is not None
    assert "the median TTFT is" in told(found)
    assert "over all of them" in told(found)


def test_goodput_where_targets_were_given() -> None:
    """Rate, share, and how many missed which target; a failed request is counted as such."""
    requests = [make_request(0, ttft_s=0.1), make_request(1, ttft_s=0.9), failed_request(2)]
    scenario = Scenario(name="slo", goodput=GoodputSpec(ttft=500, tpot=50))
    found = section(make_capture([make_run(requests)], scenario=scenario))
    assert found is not None
    assert "met ttft:500 tpot:50 (ms)" in told(found)
    (row,) = grid(found, "Goodput").rows
    assert row[3:] == ("33.3 %", "ttft 1, tpot 0, failed 1")


def test_all_failed_has_no_goodput_rate() -> None:
    """A dash for the rate, nothing for the share, and how many failed."""
    scenario = Scenario(name="slo", goodput=GoodputSpec(ttft=500))
    found = section(make_capture([make_run([failed_request(0)])], scenario=scenario))
    assert found is not None
    assert grid(found, "Goodput").rows[0][2:] == ("–", "0 %", "failed 1")


def test_a_run_without_a_steady_part_says_so() -> None:
    """One wave: said, with a mark. One with a few requests in it has no median to show, and no table."""
    assert section(make_capture([make_run([make_request(0), make_request(1, send_s=9.0)])])) is None
    wave = section(make_capture([make_run([make_request(n, ttft_s=0.1 + n) for n in range(3)])]))
    assert wave is not None
    assert "short: 1 run had no steady part: the first request ended before all" in told(wave)


def test_nothing_to_say_is_no_section() -> None:
    """A capture without runs."""
    assert section(make_capture([], planned_runs=1)) is None


def test_many_drifts_are_told_in_a_few_sentences() -> None:
    """The table has them all."""
    runs = [make_run(closed(104, lambda n: 0.2 * (1 + n / 100)), seed=seed, order=seed) for seed in range(5)]
    found = section(make_capture(runs))
    assert found is not None
    assert sum(one.word == "drift" for one in found.says) == 7
    assert "And 4 trends more." in told(found)
