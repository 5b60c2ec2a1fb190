"""Titles and order of cells with one axis, several or none, and what curves are drawn against."""

from __future__ import annotations

import pytest

from radixbench.report.axes import ARMS, label, main_axis, place
from radixbench.report.cells import arm_at, arm_cell, at_cell, cell_order, cell_title, cells_title


@pytest.mark.parametrize(
    ("cell", "title"),
    [
        ({"shared_tokens": 4096, "turns": 1}, "4,096 shared tokens, 1 turn"),
        (
            {"page_size": 16, "max_concurrency": 8, "shared_tokens": 1},
            "1 shared token, concurrency 8, page size 16",
        ),
        ({"request_rate": 12.5, "schedule_policy": "lpm"}, "rate 12.5/s, policy lpm"),
        ({"question_len": 128, "max_total_tokens": 65536}, "question 128, pool 65,536"),
        ({"new_axis": 2, "kind": "x"}, "2 new axis, kind x"),
        ({}, "all requests"),
    ],
)
def test_a_title_names_each_axis_in_one_order(cell, title):
    """Whatever order the axes come in."""
    assert cell_title(cell) == title


def test_a_sentence_finds_its_preposition():
    """A cell without axes is the whole workload, and isn't named beside an arm."""
    assert at_cell({}) == "over all requests"
    assert arm_cell("A (cache on)", {}) == "A (cache on)"
    assert arm_at("A (cache on)", {}) == "A (cache on)"
    assert arm_at("A (cache on)", {"turns": 2}) == "A (cache on) at 2 turns"
    assert arm_cell("A (cache on)", {"turns": 2}) == "A (cache on), 2 turns"
    assert at_cell({"turns": 2}) == "at 2 turns"


def test_cells_are_ordered_by_their_axes_not_by_their_keys():
    """The shared length first, numbers by size."""
    cells = [{"max_concurrency": level, "shared_tokens": shared} for level in (16, 2) for shared in (1024, 0)]
    ordered = [tuple(sorted(cell.items())) for cell in sorted(cells, key=cell_order)]
    assert [dict(cell) for cell in ordered] == [
        {"max_concurrency": 2, "shared_tokens": 0},
        {"max_concurrency": 16, "shared_tokens": 0},
        {"max_concurrency": 2, "shared_tokens": 1024},
        {"max_concurrency": 16, "shared_tokens": 1024},
    ]


def test_many_cells_are_told_by_what_they_share():
    """All, some with a value in common, or a few by name."""
    cells = [{"shared_tokens": n, "page_size": p} for p in (1, 16) for n in (0, 1, 2, 3)]
    assert cells_title(cells, 8) == "all 8 cells"
    assert cells_title(cells[4:], 8) == "4 of 8 cells, page size 16"
    assert cells_title(cells[:2], 8) == "0 shared tokens, page size 1; 1 shared token, page size 1"


def test_curves_need_an_axis_that_varies():
    """The shared length, the next that varies, words, or the arms side by side."""
    assert (
        main_axis([{"shared_tokens": 0, "turns": 1}, {"shared_tokens": 8, "turns": 1}]).key == "shared_tokens"
    )
    assert main_axis([{"shared_tokens": 0, "request_rate": r} for r in (1.0, 2.5)]).key == "request_rate"
    assert main_axis([{"schedule_policy": p} for p in ("fcfs", "lpm")]).key == "schedule_policy"
    assert main_axis([{"odd": 1}, {"odd": 2}]).key == "odd"
    assert main_axis([{}]) is ARMS
    assert main_axis([{"shared_tokens": 512}]) is ARMS


def test_a_place_is_a_value_and_the_title_of_the_rest():
    """Without an axis the arms are the places."""
    axis = main_axis([{"shared_tokens": n, "turns": 4} for n in (0, 8)])
    assert place(axis, {"shared_tokens": 8, "turns": 4}, "A") == (8, "4 turns")
    assert place(ARMS, {}, "A") == ("A", "")
    assert place(axis, {"turns": 4}, "A") == ("4 turns", "")
    assert label(axis, {"shared_tokens": 8192}) == "8,192"
