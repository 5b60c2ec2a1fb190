"""The hit rate along concurrency."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.curves import means_of
from radixbench.report.levels import levels_figure
from tests.report import scenes
from tests.report.evidence import measured, side_of, with_cached


def figure_of(share_at_8=1.0):
    """The on arm of the grid; at concurrency 8 with this share of its hits."""
    on, _ = measured()
    runs = tuple(with_cached(run, share_at_8) if run.cell["max_concurrency"] == 8 else run for run in on.runs)
    side = side_of(replace(on, runs=runs))
    return levels_figure([side], means_of(side))


def test_each_level_has_its_rate_and_the_peak_usage():
    """In the picture where there is reuse, in the table everywhere."""
    figure = figure_of()
    (panel,) = figure.panels
    assert figure.title == "Hit rate against concurrency"
    assert {row["x"] for row in panel.rows} == {1, 8}
    assert panel.y_top == 100
    assert len(figure.grid.rows) == 4
    assert {row[3] for row in figure.grid.rows} == {"25.0 %"}
    assert figure.notes == ()


def test_a_rate_that_falls_is_told_with_both_ends():
    """More than 10 points."""
    (note,) = figure_of(0.2).notes
    assert "512 shared tokens: the hit rate fell with concurrency, from" in note
    assert "at 1 to" in note


def test_without_levels_there_is_no_figure():
    """One concurrency, or no cache."""
    on, off = scenes.laptop()
    side = side_of(on)
    assert levels_figure([side], means_of(side)) is None
    assert levels_figure([side_of(off)], {}) is None


def test_levels_without_any_reuse_give_a_reason():
    """No picture of zeros."""
    on, _ = measured()
    side = side_of(replace(on, runs=tuple(run for run in on.runs if run.cell["shared_tokens"] == 0)))
    figure = levels_figure([side], means_of(side))
    assert (figure.panels, figure.absent) == ((), "Nothing was reused in any cell.")
