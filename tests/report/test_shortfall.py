"""Hit efficiency, and where the rest went."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from radixbench.metrics.figure import Pressure, Shortfall
from radixbench.report import charts
from radixbench.report.parts import PARTS
from radixbench.report.shortfall import cell_accounts, efficiency_words, shortfall_figure
from tests.report import scenes
from tests.report.evidence import measured, side_of, with_cached


def on_side(share=1.0):
    """The on arm of a grid, with this share of its hits."""
    on, _ = measured()
    return side_of(replace(on, runs=tuple(with_cached(run, share) for run in on.runs)))


def with_accounts(side, **changes):
    """The side with its cache accounts changed."""
    return replace(
        side,
        summaries=tuple(replace(one, cache=replace(one.cache, **changes)) for one in side.summaries),
    )


def test_a_bar_adds_up_to_all_that_is_shared():
    """Each part begins where the one before ends, the last at 100 %."""
    (panel,) = shortfall_figure([on_side()]).panels
    for cell in {row["cell"] for row in panel.rows}:
        rows = [row for row in panel.rows if row["cell"] == cell]
        assert rows[0]["from"] == 0
        assert rows[-1]["to"] == 100
        assert all(before["to"] == after["from"] for before, after in pairwise(rows))
        assert [row["part"] for row in rows] == [part for part in PARTS if part in {r["part"] for r in rows}]


def test_hits_from_before_the_run_are_no_efficiency():
    """Above the maximum there is nothing to be proud of."""
    assert efficiency_words(0.931) == "93.1 %"
    assert efficiency_words(1.5) == "above the maximum (1.50× of it)"


def test_cells_without_anything_shared_are_in_the_table_only():
    """No empty bars; the table has a row for every cell and arm with its cache on."""
    figure = shortfall_figure([on_side()])
    assert {row["cell"] for row in figure.panels[0].rows} == {
        "512 shared tokens, concurrency 1",
        "512 shared tokens, concurrency 8",
    }
    assert len(figure.grid.rows) == 4
    assert figure.grid.rows[0][2] == "–"


def test_what_is_missing_without_a_sign_of_eviction_is_unexplained():
    """Half of the hits gone: the efficiency says so and the part has a name."""
    figure = shortfall_figure([on_side(0.5)])
    row = dict(zip(figure.grid.header, figure.grid.rows[-1], strict=True))
    assert float(row["hit efficiency"].removesuffix(" %")) < 60
    assert row["unexplained"] != "0"
    assert "unexplained" in figure.panels[0].series


def test_sums_are_over_seeds_cause_by_cause():
    """Three seeds of one cell."""
    side = with_accounts(on_side(), shortfall=Shortfall(1, 2, 3, 4, 5), cached_tokens=10, excess=1)
    last = cell_accounts([side])[-1]
    assert list(last.parts.values()) == [27, 3, 6, 9, 12, 15]


def test_a_working_set_beyond_the_pool_makes_the_expectation_an_upper_bound():
    """With both sizes."""
    side = with_accounts(on_side(), upper_bound_only=True, pressure=Pressure(9216, 8192))
    notes = shortfall_figure([side]).notes
    assert any(
        "the expectation is an upper bound: the working set exceeds the pool (9,216 against 8,192 tokens)"
        in note
        for note in notes
    )


def test_unknown_and_impossible_answers_are_counted_beside_it():
    """In words and in the table."""
    figure = shortfall_figure([with_accounts(on_side(), unknown=2, impossible=1)])
    assert any("6 answers said nothing of cached tokens" in note for note in figure.notes)
    assert any("3 answers told more cached tokens than possible" in note for note in figure.notes)
    assert {row[-1] for row in figure.grid.rows} == {"6 / 3"}


def test_races_are_told_with_how_many_computed():
    """The first arrivals of all groups together."""
    notes = shortfall_figure([on_side()]).notes
    assert any("raced for" in note and "of them computed it" in note for note in notes)


def test_unknown_hits_give_a_reason_and_no_box():
    """A server that doesn't tell; and an arm without a cache has no such figure at all."""
    on, off = scenes.laptop()
    silent = tuple(
        replace(run, requests=tuple(replace(one, cached_tokens=None) for one in run.requests))
        for run in on.runs
    )
    figure = shortfall_figure([side_of(replace(on, runs=silent))])
    assert figure.absent.startswith("Cached tokens are unknown")
    assert figure.panels == ()
    assert shortfall_figure([side_of(off)]) is None


def test_nothing_shared_is_no_fault():
    """A sweep of 0 shared tokens."""
    on, _ = scenes.laptop()
    control = replace(on, runs=tuple(run for run in on.runs if run.cell["shared_tokens"] == 0))
    assert shortfall_figure([side_of(control)]).absent.startswith("Nothing is shared")


def test_long_titles_get_a_line_for_each_axis():
    """Bars stay apart, and no title is cut."""
    (panel,) = shortfall_figure([on_side()]).panels
    drawn = charts.spec(panel)
    assert drawn["height"] >= 2 * (2 * 15)
    assert "concurrency 8" in charts.svg(panel)
