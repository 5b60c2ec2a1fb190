"""The view of each scene, held against a golden copy, and what holds for all of them.

After a wanted change, ``UPDATE_GOLDEN=1 pytest tests/report/test_view.py`` writes the copies anew;
their difference is for a reader to judge. Words that other rooms choose (caveats, formulas, witnesses, glossary) and the
many rows of charts are left out or drawn together.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from radixbench.compare.arm import gather
from radixbench.metrics.registry import METRICS
from radixbench.report.view import build_single_view, build_view
from radixbench.scenario.model import WorkloadSpec
from tests.builders import arm_run, make_capture
from tests.report import scenes
from tests.report.views import NAMES, view

GOLDEN = Path(__file__).parent / "golden"


def outline(name: str) -> str:
    """A view as the JSON that is compared."""
    document = asdict(view(name))
    for figure in document["figures"]:
        for panel in figure["panels"]:
            for layer in ("rows", "marks"):
                rows = panel[layer]
                panel[layer] = {"n": len(rows), "ends": [rows[0], rows[-1]] if rows else []}
        figure["how_to_read"] = len(figure["how_to_read"])
    document["caveats"] = [
        [caveat["code"], caveat["mark"], caveat["where"]] for caveat in document["caveats"]
    ]
    for cell in document["cells"]:
        for row in cell["rows"]:
            row["formula"] = bool(row["formula"])
    document["sections"] = [
        {
            "key": section["key"],
            "words": [one["word"] for one in section["says"]],
            "tables": {caption: [grid["header"], len(grid["rows"])] for caption, grid in section["grids"]},
        }
        for section in document["sections"]
    ]
    document["questions"] = [
        [one["key"], one["word"], one["tone"], one["link"]] for one in document["questions"]
    ]
    document["glossary"] = [row["name"] for row in document["glossary"]]
    document["footer"] = document["footer"][:-1]
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_its_golden_copy(name):
    """Every string and the ends of every chart's rows are as they were looked at."""
    path = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(outline(name), encoding="utf-8")
    assert outline(name) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_has_a_key_of_its_own_a_summary_and_rows(name):
    """Keys name files and places on the page; summaries are all that some readers get."""
    panels = [panel for figure in view(name).figures for panel in figure.panels]
    assert len({panel.key for panel in panels}) == len(panels)
    assert all(panel.summary and panel.rows for panel in panels)
    assert all(panel.key.replace("-", "").isalnum() for panel in panels)


@pytest.mark.parametrize("name", NAMES)
def test_every_seed_of_both_arms_is_drawn(name):
    """The curves show each run, not only the means."""
    ttft = next(figure for figure in view(name).figures if figure.key == "ttft")
    rows = [row for panel in ttft.panels for row in panel.rows]
    runs = {
        "laptop": 18,
        "throttled": 18,
        "multi_turn": 6,
        "slower_candidate": 18,
        "incomparable": 18,
        "single": 9,
        "measured": 24,
    }
    assert len(rows) == runs[name]


def test_the_glossary_quotes_the_registry():
    """Names and formulas come from the one table of metrics."""
    assert [row.name for row in view("laptop").glossary] == list(METRICS)
    assert all(row.formula == METRICS[row.name].formula for row in view("laptop").glossary)


def test_summaries_given_are_summaries_used():
    """A caller that has gathered the captures gets the same view as one that lets them be gathered."""
    comparison, a, b = scenes.compared(scenes.multi_turn())
    given = gather("A", a, None), gather("B", b, None)
    assert build_view(comparison, a, b, arms=given) == view("multi_turn")


def test_a_bound_and_its_caveat_reach_the_rows():
    """A throttled reference makes every factor an upper bound, and says so in the row."""
    rows = [row for cell in view("throttled").cells for row in cell.rows if row.gated]
    assert {row.factor.note for row in rows} == {"upper bound"}
    assert any(caveat.code == "throttled" for caveat in view("throttled").serious)


def test_incomparable_captures_show_figures_and_no_factor():
    """Each side's figures are there; a factor between them is not."""
    rows = [row for cell in view("incomparable").cells for row in cell.rows if row.gated]
    assert all(row.a.value and row.b.value and row.factor.value == "–" for row in rows)
    assert {row.status for row in view("incomparable").differences} >= {"forbids a verdict"}


def test_a_machine_without_a_gpu_says_so():
    """CPU clocks are never passed off as GPU clocks."""
    clocks = next(figure for figure in view("laptop").figures if figure.key == "clocks")
    assert clocks.notes[0].startswith("No GPU was read")
    assert {panel.key for panel in clocks.panels} == {"clocks-cpu-clock", "clocks-cpu-load"}


def test_throttling_is_told_in_share_and_reason():
    """How much of the time, and by what."""
    clocks = next(figure for figure in view("throttled").figures if figure.key == "clocks")
    assert "held back in" in clocks.notes[1]
    assert "SW power cap" in clocks.notes[1]
    assert any(panel.kind == "reasons" for panel in clocks.panels)


def test_a_capture_without_runs_still_makes_a_view():
    """An interrupted sweep may have saved nothing; the report says that."""
    empty = replace(scenes.laptop()[0], runs=(), interrupted=True)
    shown = build_single_view(empty)
    assert shown.headline.sentence == "This capture: no run was saved."
    assert all(figure.absent for figure in shown.figures)
    comparison, a, b = scenes.compared((empty, scenes.laptop()[1]))
    assert build_view(comparison, a, b).headline.tone in {"refused", "caution"}


def test_failed_runs_are_counted_and_named():
    """Missing runs, lost requests and errors stand under the headline."""
    on, _ = scenes.laptop()
    broken = replace(on.runs[0], status="failed", error="the server died", requests=on.runs[0].requests[:10])
    shown = build_single_view(replace(on, runs=(broken, *on.runs[1:-1])))
    chip = next(chip for chip in shown.chips if chip.label == "Requests completed")
    assert chip.value == "458 of 512"
    assert "1 planned run missing" in chip.note
    assert "the server died" in chip.note


def test_a_state_that_was_not_as_declared_is_shown_as_such():
    """One unverified run is enough for the chip to say NOT."""
    on, off = scenes.laptop()
    warm = replace(on.runs[0], protocol=replace(on.runs[0].protocol, verified=False))
    unknown = tuple(replace(run, protocol=replace(run.protocol, verified=None)) for run in off.runs)
    shown = build_view(*scenes.compared((replace(on, runs=(warm, *on.runs[1:])), replace(off, runs=unknown))))
    chips = {chip.label: chip for chip in shown.chips}
    assert "NOT as declared in 1 of 9 runs" in chips["A (cache on): prefix cache"].value
    assert chips["A (cache on): prefix cache"].tone == "worse"
    assert "not verifiable" in chips["B (cache off): prefix cache"].value


def test_a_sweep_over_turns_alone_is_drawn_against_turns():
    """One shared length gives no axis; the tile names the turns, and no cell with several is a control."""
    cells: list[scenes.Cell] = [{"shared_tokens": 0, "turns": turns} for turns in (1, 4)]
    workload = WorkloadSpec(
        kind="multi-turn", shared=(0,), turns=(1, 4), question_len=64, output_len=scenes.OUTPUT
    )
    pair = scenes.sweep(
        scenes.Setup(), workload, cells, lambda cell, _: scenes.multi_turn_asks(int(cell["turns"]), 0)
    )
    shown = build_view(*scenes.compared(pair))
    ttft = next(figure for figure in shown.figures if figure.key == "ttft")
    (panel,) = ttft.panels
    assert ttft.title == "Time to first token against turns"
    assert (panel.title, panel.x_title) == ("0 shared tokens", "turns of a conversation")
    assert {row["x"] for row in panel.rows} == {1, 4}
    assert "at 0 shared tokens, 4 turns" in shown.headline.sentence
    assert "at 0 shared tokens, 1 turn it cost" in shown.headline.sentence
    assert "1 and 4 turns" in next(chip.value for chip in shown.chips if chip.label == "Workload")


def test_runs_that_went_alike_are_one_row_of_the_protocol():
    """What a server says after its first sentence, which may name a moment, splits no row."""
    on, off = scenes.laptop()
    chatty = tuple(
        replace(
            run,
            protocol=replace(
                run.protocol, flush_body=f"Cache flushed.\nPlease check the log of run {place}."
            ),
        )
        for place, run in enumerate(on.runs)
    )
    shown = build_view(*scenes.compared((replace(on, runs=chatty), off)))
    assert [row.slot for row in shown.protocol] == ["a", "b"]
    assert any("“Cache flushed.”" in step for step in shown.protocol[0].steps)


def test_the_first_table_follows_the_gate_and_shows_the_hit_rate():
    """Gated rows first, then what explains them."""
    shown = build_view(*scenes.compared(scenes.multi_turn()), gate=("e2e_p50",))
    assert [row.metric for row in shown.cells[0].first] == ["e2e_p50", "hit_rate"]
    assert "end-to-end latency" in shown.headline.sentence


def test_one_capture_averages_no_run_in_another_state():
    """A run with hits in an arm that is off leaves the means of a report of it alone; where all are so, they stay."""
    ttfts = (0.1, 0.2, 0.4)
    runs = [
        arm_run(seed=seed, mode="off", order=seed, ttft_s=ttft, shared=64, hits=seed == 2)
        for seed, ttft in enumerate(ttfts)
    ]
    (cell,) = build_single_view(make_capture(runs)).cells
    (ttft,) = [row for row in cell.rows if row.metric == "ttft_p50"]
    assert ttft.note.startswith("2 runs, ")
    assert ttft.a.value == "141 ms"
    (cell,) = build_single_view(make_capture(runs[2:])).cells
    (ttft,) = [row for row in cell.rows if row.metric == "ttft_p50"]
    assert ttft.a.value == "400 ms"
