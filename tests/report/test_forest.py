"""The forest plot of factors."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.report import charts
from radixbench.report.forest import MAX_CELLS, forest_figure
from tests.report.rows import change
from tests.report.views import view

FINITE = st.floats(1e-6, 1e6)


def rows_of(*changes, threshold=0.03):
    """The rows of the only panel, and its panel."""
    (panel,) = forest_figure(changes, threshold, ("ttft_p50",)).panels
    return panel.rows, panel


def test_every_gated_metric_has_a_panel_and_every_cell_a_row():
    """A sweep of three cells: two panels of three rows, and six rows in the table."""
    figure = next(f for f in view("laptop").figures if f.key == "forest")
    assert [panel.key for panel in figure.panels] == ["forest-ttft-p50", "forest-output-throughput"]
    assert [len(panel.rows) for panel in figure.panels] == [3, 3]
    assert figure.grid is not None
    assert len(figure.grid.rows) == 6


def test_panels_share_one_axis_that_holds_one_and_the_threshold():
    """Factors of both metrics can be held against each other by eye."""
    first, second = next(f for f in view("laptop").figures if f.key == "forest").panels
    assert first.x_domain == second.x_domain
    low, high = first.x_domain
    assert low < 0.97 < 1.03 < high
    assert [rule["x"] for rule in first.rules] == [1.0]
    assert (first.marks[0]["t"], first.marks[0]["t2"]) == (0.97, 1.03)


def test_cells_come_in_the_order_of_their_axes():
    """However the comparison ordered them."""
    rows, _ = rows_of(change(shared=4096), change(shared=0), change(shared=1024))
    assert [row["cell"] for row in rows] == ["0 shared tokens", "1,024 shared tokens", "4,096 shared tokens"]


def test_a_bound_is_told_in_words_and_drawn_as_an_arrow():
    """An upper bound points to smaller factors, a lower bound to greater ones."""
    for bound, arrow in (("upper", "◄"), ("lower", "►")):
        rows, panel = rows_of(change(bound=bound))
        assert rows[0]["label"] == f"24.1× ▲ better, {bound} bound"
        drawn = charts.svg(panel)
        assert arrow in drawn
    _, panel = rows_of(change())
    assert "◄" not in charts.svg(panel)
    assert "►" not in charts.svg(panel)


@pytest.mark.parametrize("verdict", ["undecided", "incomparable"])
def test_a_row_without_a_verdict_is_hollow_and_says_why(verdict):
    """It has its place, its reason, and a mark filled with the paper's colour."""
    rows, panel = rows_of(change(verdict=verdict, reason="2 pairs are too few", low=None, high=None))
    assert str(rows[0]["label"]).endswith(": 2 pairs are too few")
    filled = next(layer for layer in charts.spec(panel)["layer"] if layer["mark"].get("fill"))
    assert filled["mark"]["fill"] == charts.LIGHT.paper
    assert "2 pairs are too few" in charts.svg(panel)


def test_a_row_without_a_factor_keeps_its_place():
    """No point, no interval, and the reason beside the cell."""
    rows, panel = rows_of(
        change(value=None, verdict="incomparable", reason="other weights"), change(shared=0)
    )
    assert rows[1]["value"] is None
    assert rows[1]["label"] == "✕ incomparable: other weights"
    assert "other weights" in charts.svg(panel)


def test_nothing_in_common_is_said():
    """Two captures without a common cell."""
    figure = forest_figure((), 0.03)
    assert figure.panels == ()
    assert "no cell in common" in figure.absent


def test_rows_without_any_factor_are_told_and_not_drawn():
    """An axis without a place on it would be a picture of nothing."""
    figure = forest_figure([change(value=None, verdict="undecided", reason="no seed ran twice")], 0.03)
    assert figure.panels == ()
    assert figure.absent == "No cell has a factor: no seed ran twice."
    assert figure.grid is not None


def test_a_metric_without_factors_keeps_the_axis_of_the_others():
    """Logarithmic, with the same ends and title, though nothing lies on it."""
    changes = [change(), replace(change(value=None, verdict="undecided"), metric="output_throughput")]
    _, empty = forest_figure(changes, 0.03).panels
    axes = [
        layer["encoding"]["x"] for layer in charts.spec(empty)["layer"] if "scale" in layer["encoding"]["x"]
    ]
    assert axes
    assert all(one["scale"] == {"type": "log", "domain": list(empty.x_domain), "nice": False} for one in axes)
    assert {one["title"] for one in axes} == {"times better (logarithmic)"}


def test_words_stand_on_paper_that_nothing_crosses():
    """The strip is drawn over the band and the rule of no effect, before the words and the interval."""
    _, panel = rows_of(change())
    layers = charts.spec(panel)["layer"]
    names = [layer["mark"]["type"] for layer in layers]
    strip = next(i for i, layer in enumerate(layers) if layer["encoding"].get("x2") == {"value": "width"})
    assert layers[strip]["mark"]["color"] == charts.LIGHT.paper
    assert names[:strip] == ["rect", "rule"]
    assert names[strip + 1 : strip + 3] == ["text", "rule"]


def test_very_many_cells_are_drawn_in_part_and_told_whole():
    """The note counts what isn't drawn; the table has all."""
    figure = forest_figure([change(shared=i) for i in range(MAX_CELLS + 7)], 0.03, ("ttft_p50",))
    assert len(figure.panels[0].rows) == MAX_CELLS
    assert figure.notes == ("7 more cells in the table only.",)
    assert figure.grid is not None
    assert len(figure.grid.rows) == MAX_CELLS + 7


@given(st.lists(st.tuples(FINITE, FINITE, FINITE), min_size=1, max_size=6), st.floats(0.001, 0.5))
def test_everything_lies_on_the_axis(factors, threshold):
    """Whatever the factors, all ends are within the domain and at least one place is named."""
    changes = [change(shared=i, value=sorted(f)[1], low=min(f), high=max(f)) for i, f in enumerate(factors)]
    rows, panel = rows_of(*changes, threshold=threshold)
    low, high = panel.x_domain
    for row in rows:
        assert low * 0.999 <= row["low"] <= row["value"] <= row["high"] <= high * 1.001
    assert 1 <= len(panel.x_ticks) <= 12


def test_an_endless_interval_ends_at_the_edge():
    """Infinity has no place on an axis."""
    rows, panel = rows_of(change(low=0.0, high=math.inf))
    low, high = panel.x_domain
    assert rows[0]["low"] == pytest.approx(low, rel=1e-4)
    assert rows[0]["high"] == pytest.approx(high, rel=1e-4)
    assert "NaN" not in charts.svg(panel)
