"""Distributions of time to first token."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from radixbench.report import charts
from radixbench.report.distribution import BINS, HIT, MAX_PANELS, MISS, distribution_figure
from tests.report import scenes
from tests.report.evidence import side_of


def sides():
    """Both arms of the default sweep."""
    on, off = scenes.laptop()
    return side_of(on), side_of(off, slot="b", name="B (cache off)")


def timed(run, *times_ms, cached=None):
    """The run with one request for each time to first token."""
    one = run.requests[0]
    requests = tuple(
        replace(
            one,
            rid=f"r{i}",
            prompt=i,
            chunk_ns=(one.due_ns + round(ms * scenes.MS),),
            chunk_tokens=(1,),
            output_tokens=1,
            end_ns=one.due_ns + round(ms * scenes.MS),
            cached_tokens=cached,
        )
        for i, ms in enumerate(times_ms)
    )
    return replace(run, requests=requests)


def alone(*times_ms, cached=None):
    """One arm with one run of these times."""
    on, _ = scenes.laptop()
    return side_of(replace(on, runs=(timed(on.runs[0], *times_ms, cached=cached),)))


def shares(panel, series):
    """The whole height of all bars of an arm, in percent."""
    return sum(row["y2"] - row["y"] for row in panel.rows if row["series"] == series)


def test_each_cell_shows_both_arms_over_the_same_bins():
    """Every arm's bars add up to all of its requests."""
    figure = distribution_figure(sides())
    assert [panel.title for panel in figure.panels] == [
        "0 shared tokens",
        "1,024 shared tokens",
        "4,096 shared tokens",
    ]
    for panel in figure.panels:
        assert {row["series"] for row in panel.rows} == {"A (cache on)", "B (cache off)"}
        for series in panel.series:
            assert shares(panel, series) == pytest.approx(100, abs=0.2)


def test_hits_and_misses_of_the_caching_arm_are_told_apart():
    """Misses are a hump of their own, faint, and only the arm without a cache has nothing else."""
    panel = distribution_figure(sides()).panels[-1]
    parts = {
        series: {row["part"] for row in panel.rows if row["series"] == series} for series in panel.series
    }
    assert parts == {"A (cache on)": {HIT, MISS}, "B (cache off)": {MISS}}
    slowest_hit = max(row["x2"] for row in panel.rows if row["part"] == HIT)
    assert slowest_hit < min(row["x"] for row in panel.rows if row["series"] == "B (cache off)")


def test_the_table_is_exact():
    """Quantiles of a known sample, interpolated, and its parts."""
    figure = distribution_figure([alone(*range(1, 102))])
    assert figure.grid is not None
    (row,) = figure.grid.rows
    assert row[2:] == ("101", "51.0 ms", "91.0 ms", "100 ms", "0", "–", "101", "51.0 ms")


def test_medians_are_ruled_and_named():
    """One rule for each arm, with its figure."""
    panel = distribution_figure(sides()).panels[-1]
    assert [str(rule["label"])[0] for rule in panel.rules] == ["A", "B"]
    drawn = charts.svg(panel)
    assert all(str(rule["label"]) in drawn for rule in panel.rules)


@pytest.mark.parametrize("times", [(7,), (7, 7, 7), (0,), (0, 5), (1, 1e6)])
def test_odd_samples_are_drawn(times):
    """One value, the same value, zero, a range of six decades."""
    (panel,) = distribution_figure([alone(*times)]).panels
    assert shares(panel, panel.series[0]) == pytest.approx(100, abs=0.2)
    drawn = charts.svg(panel)
    assert "NaN" not in drawn
    assert charts.zooms(panel)


def test_a_wide_range_takes_a_logarithmic_axis():
    """From five times on."""
    assert distribution_figure([alone(1, 5)]).panels[0].log_x
    assert not distribution_figure([alone(1, 4)]).panels[0].log_x


def test_nothing_answered_is_said():
    """A capture whose requests all failed."""
    on, _ = scenes.laptop()
    run = on.runs[0]
    failed = tuple(replace(one, status="failed", error="no", chunk_ns=()) for one in run.requests)
    figure = distribution_figure([side_of(replace(on, runs=(replace(run, requests=failed),)))])
    assert figure.panels == ()
    assert "No request was answered" in figure.absent


def test_many_cells_are_drawn_in_part_and_told_whole():
    """The first and the last cell are among those that are drawn."""
    on, _ = scenes.laptop()
    runs = tuple(replace(timed(on.runs[0], 1, 2, 3), cell={"shared_tokens": i}) for i in range(20))
    figure = distribution_figure([side_of(replace(on, runs=runs))])
    assert len(figure.panels) == MAX_PANELS
    assert figure.panels[0].title == "0 shared tokens"
    assert figure.panels[-1].title == "19 shared tokens"
    assert figure.notes == ("14 more cells in the table only.",)
    assert figure.grid is not None
    assert len(figure.grid.rows) == 20


@settings(max_examples=30)
@example([1.0, 1e-06])  # a microsecond in ms and back is a little more than one
@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=300))
def test_size_follows_the_bins_and_not_the_requests(times):
    """However many requests: no more bars than bins, and the whole of them drawn."""
    (panel,) = distribution_figure([alone(*times)]).panels
    assert len(panel.rows) <= BINS
    assert len(panel.marks) <= BINS + 3
    assert shares(panel, panel.series[0]) == pytest.approx(100, abs=0.2)
