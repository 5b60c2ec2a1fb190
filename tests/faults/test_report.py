"""Faults of the field that a reader meets in a report: what it must show so that nobody is misled."""

from __future__ import annotations

import re
from dataclasses import replace

from radixbench.compare.comparison import compare
from radixbench.metrics.registry import METRICS
from radixbench.report.console.printing import plain_lines
from radixbench.report.html import render
from radixbench.report.markdown import render as render_markdown
from radixbench.report.view import build_single_view, build_view
from tests.report import scenes
from tests.report.evidence import measured, retokenized, with_cached


def shown(on, off):
    """The view of two captures."""
    return build_view(compare(on, off, a_path="on.json", b_path="off.json"), on, off)


def page(view):
    """The page of a view, without its pictures: what is said stands in words."""
    return render(replace(view, figures=tuple(replace(one, panels=()) for one in view.figures)))


def figure(view, key):
    """One figure of a view."""
    return next(one for one in view.figures if one.key == key)


def column(grid, name):
    """One column of a table."""
    place = grid.header.index(name)
    return [row[place] for row in grid.rows]


def test_fault_13_the_header_always_says_whether_the_cache_was_on():
    """``prefix cache: on``, ``off`` or ``unknown`` on the page, in Markdown and on a terminal, whatever was measured."""
    on, off = scenes.laptop()
    silent = replace(
        off, runs=tuple(replace(r, protocol=replace(r.protocol, verified=None)) for r in off.runs)
    )
    empty = replace(on, runs=(), interrupted=True)
    for view, words in (
        (shown(on, off), ("on", "off")),
        (shown(on, silent), ("on", "unknown")),
        (build_single_view(on), ("on",)),
        (build_single_view(empty), ("unknown",)),
    ):
        for said in (page(view), render_markdown(view), "\n".join(plain_lines(view))):
            for word in words:
                assert re.search(rf"prefix cache: {word}\b", said)


def test_fault_38_the_formula_stands_beside_each_throughput():
    """Two formulas make two numbers: each throughput is named with its own, on page, terminal and in Markdown."""
    view = shown(*scenes.laptop())
    formula = METRICS["output_throughput"].formula
    for cell in view.cells:
        for row in cell.rows:
            assert bool(row.formula) == METRICS[row.metric].unit.endswith("/s")
    assert formula in page(view)
    assert formula in render_markdown(view)
    assert f"Output throughput: {formula}" in list(plain_lines(view))


def test_fault_73_two_levels_and_the_one_that_was_met():
    """Turn 2 found the old prompt but not the answer: both levels are printed, and which one it was."""
    on, off = scenes.multi_turn()

    def forgetful(run):
        return replace(
            run,
            requests=tuple(
                replace(one, cached_tokens=one.cached_tokens - scenes.OUTPUT + 1) if one.turn else one
                for one in run.requests
            ),
        )

    view = shown(replace(on, runs=tuple(forgetful(run) for run in on.runs)), off)
    grid = figure(view, "turns").grid
    row = dict(zip(grid.header, grid.rows[1], strict=True))
    assert row["turn"] == "2"
    assert row["cached, measured"] == row["expected, prompt only"] != row["expected, prompt and answer"]
    assert row["level met"] == "prompt only"
    assert any("the level met was prompt only" in line for line in plain_lines(view))


def test_fault_82_two_sources_stand_side_by_side():
    """The tree says 30, an outer tier 24: each has a column, and no cell holds their sum."""
    on, off = measured()
    tiers = {"device": 30, "external": 24}
    runs = tuple(replace(run, counters=replace(run.counters, cached_by_tier=tiers)) for run in on.runs)
    view = shown(replace(on, runs=runs), off)
    sources = next(section for section in view.sections if section.key == "sources")
    _, grid = sources.grids[0]
    assert column(grid, "server counters, device")[0] == "30"
    assert column(grid, "server counters, external")[0] == "24"
    assert not any(cell.split(" ")[0] == "54" for row in grid.rows for cell in row)


def test_fault_89_the_first_differing_position_is_shown():
    """Text that is tokenised anew differs from what was generated: the report says from which token on."""
    on, off = scenes.multi_turn()
    view = shown(replace(on, runs=tuple(retokenized(run) for run in on.runs)), off)
    assert "token 576" in column(figure(view, "turns").grid, "first differing position")
    assert "history stops matching" in page(view)
    assert any("history stops matching" in line for line in plain_lines(view))


def test_fault_115_hit_rate_per_concurrency_with_peak_usage():
    """75 % at concurrency 1, a tenth of it at 8 with a pool that is nearly empty."""
    on, off = measured()
    runs = tuple(with_cached(run, 0.1) if run.cell["max_concurrency"] == 8 else run for run in on.runs)
    view = shown(replace(on, runs=runs), off)
    levels = figure(view, "levels")
    assert column(levels.grid, "peak usage of the pool") == ["25.0 %"] * 4
    assert any("fell with concurrency" in note for note in levels.notes)
    assert any("fell with concurrency" in line for line in plain_lines(view))


def test_fault_116_every_round_has_its_hit_rate():
    """A rate that rises over the rounds and drops in the last one is seen in the table, round by round."""
    on, off = scenes.multi_turn()

    def dropping(run):
        return replace(
            run,
            requests=tuple(
                replace(one, cached_tokens=one.cached_tokens // 4) if one.turn == 3 else one
                for one in run.requests
            ),
        )

    view = shown(replace(on, runs=tuple(dropping(run) for run in on.runs)), off)
    grid = figure(view, "turns").grid
    assert column(grid, "turn")[:4] == ["1", "2", "3", "4"]
    rates = [float(rate.removesuffix(" %")) for rate in column(grid, "hit rate")[:4]]
    assert rates[2] - rates[3] > 10
