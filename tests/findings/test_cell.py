"""Cells and runs in words, alike in findings and on pages."""

from __future__ import annotations

from dataclasses import replace

from radixbench.findings.cell import at_cell, cell_key, cell_name, cell_title, run_name
from tests.report import scenes


def test_a_key_is_told_as_its_cell_is():
    """In the order in which axes are always told, whatever the order of the key."""
    cell = {"turns": 4, "shared_tokens": 4096}
    assert cell_name(cell_key(cell)) == cell_title(cell) == "4,096 shared tokens, 4 turns"
    assert cell_name(()) == "all requests"
    assert at_cell(cell) == "at 4,096 shared tokens, 4 turns"


def test_a_run_is_told_by_cell_seed_and_cache():
    """No name of a field is left; a run without axes has its seed and mode."""
    run = scenes.laptop()[0].runs[0]
    assert run_name(run) == "0 shared tokens, seed 0, cache on"
    assert run_name(replace(run, cell={}, mode="off")) == "seed 0, cache off"
