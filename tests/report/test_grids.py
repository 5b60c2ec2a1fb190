"""A page of many cells stays small: some panels are drawn, every cell is in the tables, and notes say so."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import Capture
from radixbench.report.axes import MAX_PANELS, in_table_only
from radixbench.report.html import render
from radixbench.report.view import build_view
from tests.builders import make_sweep
from tests.report import scenes

LENGTHS = tuple(64 * place for place in range(1, 31))


def in_turns(capture: Capture) -> Capture:
    """Requests as turns of conversations, and the 30 cells as a grid of 6 lengths and 5 levels."""
    runs = []
    for run in capture.runs:
        place = LENGTHS.index(int(run.cell["shared_tokens"]))
        requests = tuple(
            replace(one, turn=one.prompt % 4, conversation=one.prompt // 4) for one in run.requests
        )
        cell = {"shared_tokens": 64 * (1 + place // 5), "max_concurrency": 2 ** (place % 5)}
        runs.append(replace(run, cell=cell, requests=requests))
    return replace(capture, runs=tuple(runs))


def test_thirty_cells_make_a_small_page() -> None:
    """Under 1.5 MB, folded: no table of every cell stands open."""
    html = render(build_view(*scenes.compared(make_sweep(seeds=2, shared=LENGTHS))))
    assert len(html.encode()) < 1_500_000
    assert '<details class="grid every"><summary>' in html


def test_a_grid_draws_some_panels_and_tells_how_many_it_leaves_to_the_table() -> None:
    """No figure has more panels than its limit; its table has every cell all the same."""
    on, off = make_sweep(seeds=2, shared=LENGTHS)
    figures = {one.key: one for one in build_view(*scenes.compared((in_turns(on), in_turns(off)))).figures}
    assert {key: len(one.panels) for key, one in figures.items() if len(one.panels) > MAX_PANELS} == {}
    turns = figures["turns"]
    assert len(turns.panels) == MAX_PANELS
    assert "24 more panels are not drawn: see the table." in turns.notes
    assert turns.grid is not None
    assert len({row[0] for row in turns.grid.rows}) == 30


def test_a_figure_that_draws_all_says_nothing() -> None:
    """And one panel is told as one."""
    assert in_table_only(0) == ()
    assert in_table_only(1) == ("1 more panel is not drawn: see the table.",)
