"""Whether both arms were asked and answered the same, as a section tells it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.capture.model import Capture
from radixbench.report.outputs import outputs_section, outputs_verdict, paired_outputs, prompts_verdict
from tests.report import scenes
from tests.report.evidence import side_of


def sides(a: Capture, b: Capture):
    """Both captures as sides of a report."""
    return side_of(a), side_of(b, slot="b", name="B (cache off)")


@pytest.fixture(scope="module")
def pair() -> tuple[Capture, Capture]:
    """A sweep whose answers are the same in both arms."""
    return scenes.laptop()


def with_answers(capture: Capture, answer) -> Capture:
    """The capture with the answer of its first run's first request replaced."""
    first, *rest = capture.runs
    one, *others = first.requests
    return replace(capture, runs=(replace(first, requests=(replace(one, output_ids=answer), *others)), *rest))


def test_equal_answers_are_counted_over_all_pairs(pair):
    """Nine pairs of runs, 64 answers each, and nothing that parts."""
    section = outputs_section(sides(*pair))
    assert section is not None
    prompts, answers = section.says
    assert prompts.text.startswith("9 of 9 pairs of runs were sent the same token ids")
    assert (answers.word, answers.tone) == ("same answers", "better")
    assert "all 576 greedy answers are the same" in answers.text
    (_, grid), *_ = section.grids
    assert [row[:5] for row in grid.rows] == [
        (cell, "3", "3 of 3", "192", "192")
        for cell in ("0 shared tokens", "1,024 shared tokens", "4,096 shared tokens")
    ]


def test_an_answer_that_parts_is_told_with_its_place(pair):
    """The index of the first token that differs, in the sentence and in the cell's row."""
    a, b = pair
    whole = b.runs[0].requests[0].output_ids
    assert whole is not None
    section = outputs_section(sides(a, with_answers(b, (*whole[:5], 9999, *whole[6:]))))
    assert section is not None
    said = section.says[1]
    assert (said.word, said.tone) == ("other answers", "worse")
    assert "1 of 576 greedy answers differ" in said.text
    assert "the earliest at token 5" in said.text
    assert [row[5] for row in section.grids[0][1].rows].count("token 5") == 1


def test_answers_a_server_doesnt_tell_are_unknown_not_equal(pair):
    """Token ids that are absent in one answer are counted apart; without any nothing is claimed."""
    a, b = pair
    pairs = paired_outputs(sides(a, with_answers(b, None)))
    assert "Of 1 more answer a server didn't tell the tokens." in outputs_verdict(pairs, chance=False).text
    silent = tuple(
        replace(run, requests=tuple(replace(one, output_ids=None) for one in run.requests)) for run in b.runs
    )
    said = outputs_verdict(paired_outputs(sides(a, replace(b, runs=silent))), chance=False)
    assert (said.word, said.tone) == ("not compared", "caution")
    assert "is unknown" in said.text


def test_sampled_answers_arent_compared(pair):
    """At a temperature above 0 answers part by chance."""
    sampling = tuple(
        replace(
            capture,
            scenario=replace(capture.scenario, workload=replace(capture.scenario.workload, temperature=0.7)),
        )
        for capture in pair
    )
    section = outputs_section(sides(*sampling))
    assert section is not None
    assert section.says[1].word == "not compared"
    assert "part by chance" in section.says[1].text


def test_other_prompts_are_said_and_their_answers_left_alone(pair):
    """Answers to other questions prove nothing."""
    a, _ = pair
    pairs = paired_outputs(sides(a, scenes.other_model()))
    assert prompts_verdict(pairs).tone == "worse"
    assert outputs_verdict(pairs, chance=False).text.startswith("the arms were asked different things")


def test_one_capture_has_nothing_to_compare(pair):
    """A report of one arm has no such section."""
    assert outputs_section((side_of(pair[0]),)) is None
