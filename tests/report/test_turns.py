"""Hits turn by turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.report import charts
from radixbench.report.turns import turns_figure
from tests.report import scenes
from tests.report.evidence import retokenized, side_of


def figure_of(change=lambda run: run):
    """The on arm of a chat of four turns, each run changed."""
    on, _ = scenes.multi_turn()
    return turns_figure([side_of(replace(on, runs=tuple(change(run) for run in on.runs)))])


def forgetful(run):
    """A server that keeps prompts and forgets answers: later turns find 16 tokens less for each."""
    requests = tuple(
        replace(one, cached_tokens=one.cached_tokens - scenes.OUTPUT + 1) if one.turn else one
        for one in run.requests
    )
    return replace(run, requests=requests)


def columns(figure, *names):
    """Some columns of the table, row by row."""
    places = [figure.grid.header.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in figure.grid.rows]


def test_a_cache_that_keeps_answers_meets_the_whole_level():
    """Every later turn, and the other level is drawn and told too."""
    figure = figure_of()
    assert {met for turn, met in columns(figure, "turn", "level met") if turn != "1"} == {"prompt and answer"}
    assert any("the level met was prompt and answer in 9." in note for note in figure.notes)
    (panel,) = figure.panels
    assert [mark["turn"] for mark in panel.marks] == [2, 3, 4]
    assert "stroke-dasharray" in charts.svg(panel)


def test_a_cache_that_forgets_answers_meets_the_lower_level():
    """The note says that answers weren't found again."""
    figure = figure_of(forgetful)
    assert {met for turn, met in columns(figure, "turn", "level met") if turn != "1"} == {"prompt only"}
    assert any("generated answers were not all found again" in note for note in figure.notes)


def test_history_that_stops_matching_is_told_with_its_position():
    """The first differing token, and in how many prompts."""
    figure = figure_of(retokenized)
    (turn_2,) = {
        row for row in columns(figure, "turn", "prompts that continue the turn before") if row[0] == "2"
    }
    assert turn_2 == ("2", "0 of 16")
    assert ("2", "token 576") in columns(figure, "turn", "first differing position")
    assert any(
        "history stops matching in 144 of 144 later prompts, first at token 576" in n for n in figure.notes
    )


def arms(history):
    """Both arms of a chat whose prompts part from the answers, as the workload declares it."""
    sides = []
    for capture, slot, name in zip(scenes.multi_turn(), ("a", "b"), ("A", "B"), strict=True):
        workload = replace(capture.scenario.workload, history=history)
        changed = replace(
            capture,
            scenario=replace(capture.scenario, workload=workload),
            runs=tuple(retokenized(run) for run in capture.runs),
        )
        sides.append(side_of(changed, slot=slot, name=name))
    return sides


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ("live", "the text sent back isn't the tokens that were generated."),
        ("recorded", "as declared, since the answers were recorded before; --history live measures"),
        ("retokenized", "as declared, since answers go back as text; --history live sends"),
    ],
)
def test_a_history_that_parts_as_declared_is_no_fault(history, why):
    """Told once for both arms, in the words of what the workload declares."""
    notes = [note for note in turns_figure(arms(history)).notes if "history stops matching" in note]
    assert len(notes) == 1
    assert notes[0].startswith("A and B at 512 shared tokens, 4 turns: ")
    assert why in notes[0]


def test_a_dashed_line_is_explained_only_where_one_is_drawn():
    """Prompts that repeat no answers have one level only."""
    assert any("dashed line" in line for line in figure_of().how_to_read)
    figure = figure_of(retokenized)
    assert not any(panel.marks for panel in figure.panels)
    assert not any("dashed line" in line for line in figure.how_to_read)


def test_history_that_matches_has_no_position():
    """``none`` is a finding, a dash is no comparison."""
    assert columns(figure_of(), "first differing position")[0] == ("–",)
    assert columns(figure_of(), "first differing position")[1] == ("none",)


def test_unknown_hits_meet_no_level():
    """The first turn has one level only, unknown ones none."""

    def silent(run):
        return replace(run, requests=tuple(replace(one, cached_tokens=None) for one in run.requests))

    assert figure_of(silent) is None
    assert columns(figure_of(), "level met")[0] == ("both are the same",)


def test_without_turns_there_is_no_figure():
    """One turn is no table of turns."""
    assert turns_figure([side_of(scenes.laptop()[0])]) is None
