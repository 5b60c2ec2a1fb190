"""A sceptic's questions: each answered by what findings and verifications say, with a word and a place to look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.compare.change import Comparison, Difference
from radixbench.report.model import Question
from radixbench.report.questions import questions
from radixbench.report.same import comparability, machine_state
from radixbench.report.view import build_view
from tests.report import evidence, scenes
from tests.report.views import NAMES, view


def asked(name: str) -> dict[str, Question]:
    """The questions of a scene by their keys."""
    return {one.key: one for one in view(name).questions}


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_a_word_and_a_sentence(name):
    """Nothing is left to colour, and no sentence is empty."""
    found = asked(name)
    assert list(found)[:4] == ["state", "card", "client", "seeds"]
    assert all(one.word and one.answer and one.text.endswith("?") for one in found.values())


def test_a_verified_sweep_answers_yes():
    """Cold, off, same prompts, same outputs, one machine, in turns; the processor has no event reasons to tell."""
    found = asked("measured")
    assert found["state"].text == "Was the cold run cold and the off run off?"
    words = {key: one.word for key, one in found.items()}
    assert words == {
        "state": "yes",
        "card": "unknown",
        "client": "no",
        "seeds": "3 pairs",
        "prompts": "yes",
        "outputs": "yes",
        "machine": "yes",
        "order": "yes",
    }
    assert "the model ran on the CPU" in found["card"].answer
    assert "of a core" in found["client"].answer
    assert "chance of at least 80 % of a verdict" in found["seeds"].answer


def test_a_card_that_was_held_back_is_said_with_share_clock_and_heat():
    """Which arm, how long, at which clock, and from which temperature on."""
    card = asked("throttled")["card"]
    assert (card.word, card.tone, card.link) == ("NO", "worse", "figure-clocks")
    assert "B (cache off) was held back in up to" in card.answer
    assert "of 1,980 MHz" in card.answer
    assert "°C" in card.answer


def test_one_capture_is_asked_what_makes_sense_of_it():
    """There is no other arm to be the same as."""
    assert list(asked("single")) == ["state", "card", "client", "seeds"]


def test_a_run_that_wasnt_in_its_state_is_a_no():
    """The word is the gravest of all runs'."""
    a, b = scenes.laptop()
    broken = replace(b.runs[0], protocol=replace(b.runs[0].protocol, verified=False))
    shown = build_view(*scenes.compared((a, replace(b, runs=(broken, *b.runs[1:])))))
    state = next(one for one in shown.questions if one.key == "state")
    assert (state.word, state.tone) == ("NO", "worse")
    assert "NOT as declared in 1 of 9 runs" in state.answer
    assert next(chip for chip in shown.alike if chip.label == "Cache state").value == "NOT as declared"


def test_arms_of_two_sweeps_arent_interleaved():
    """The caveat's own words answer."""
    order = asked("incomparable")["order"]
    assert order.word == "NO"
    assert "back to back" in order.answer


def test_a_link_leads_only_to_what_is_there():
    """A question whose evidence isn't on the page has no link."""
    sides = (evidence.side_of(scenes.laptop()[0]),)
    assert all(not one.link for one in questions(sides))
    linked = {one.key: one.link for one in questions(sides, places={"protocol", "figure-clocks"})}
    assert linked == {"state": "protocol", "card": "figure-clocks", "client": "", "seeds": ""}


def two_sides():
    """A sweep's sides and their comparison."""
    comparison, a, b = scenes.compared(scenes.laptop())
    return (evidence.side_of(a), evidence.side_of(b, slot="b", name="B (cache off)")), comparison


def differing(comparison: Comparison, *differences: Difference) -> Comparison:
    """The comparison with other differences."""
    return replace(comparison, differences=differences)


def test_another_machine_is_named_by_what_differs():
    """A driver, a package: by name, with both values."""
    sides, comparison = two_sides()
    unlike = Difference("environment.driver", "580.65", "570.12", allowed=True)
    state = machine_state(sides, differing(comparison, unlike))
    assert (state.word, state.tone) == ("NO", "caution")
    assert state.answer == "unlike: driver (580.65 against 570.12)."


def test_what_was_allowed_by_hand_is_asked_about():
    """An overridden difference is a question of its own, and its chip says so."""
    sides, comparison = two_sides()
    unlike = Difference("weights_sha256", "a", "b", allowed=True, overridden=True)
    found = questions(sides, differing(comparison, unlike))
    allowed = next(one for one in found if one.key == "allowed")
    assert "weights_sha256 would forbid a verdict" in allowed.answer
    chips = {chip.label: chip.value for chip in comparability(sides, differing(comparison, unlike))}
    assert chips["Weights"] == "differ, allowed by hand"


def test_chips_say_what_is_the_same():
    """Nine facts that a factor rests on."""
    shown = [(chip.label, chip.value) for chip in view("measured").alike]
    assert shown == [
        ("Prompts", "same"),
        ("Outputs", "same"),
        ("Tokenizer", "same"),
        ("Weights", "same"),
        ("Cache state", "verified"),
        ("Order", "interleaved"),
        ("Clocks", "unknown"),
        ("Client", "fine"),
        ("Machine", "same"),
    ]
    assert ("Weights", "differ") in [(chip.label, chip.value) for chip in view("incomparable").alike]


def told(pair) -> tuple[dict[str, Question], dict[str, str]]:
    """The questions and the chips of two captures."""
    found = build_view(*scenes.compared(pair))
    return {one.key: one for one in found.questions}, {chip.label: chip.value for chip in found.alike}


def test_a_side_without_runs_proves_nothing_and_alternates_with_nothing():
    """Its state is open, and nobody can tell in which order it would have run."""
    on, off = evidence.measured()
    found, chips = told((on, replace(off, runs=())))
    assert (found["state"].word, found["state"].tone) == ("in part", "caution")
    assert (found["order"].word, found["order"].tone) == ("no pairs", "caution")
    assert (chips["Cache state"], chips["Order"]) == ("not proved", "no pairs")


def test_seeds_that_lack_in_some_cells_are_not_told_of_every_cell():
    """Fewer pairs in one cell: how many at most, and where fewer."""
    on, off = evidence.measured()
    last = {"shared_tokens": 512, "max_concurrency": 8}
    found, _ = told((on, replace(off, runs=tuple(r for r in off.runs if (r.cell, r.seed) != (last, 2)))))
    assert (found["seeds"].word, found["seeds"].tone) == ("2–3 pairs", "caution")
    assert "3 usable pairs of runs at most, down to 2 in 2 of 8 gated rows" in found["seeds"].answer
    found, _ = told((on, replace(off, runs=tuple(r for r in off.runs if r.cell != last))))
    assert found["seeds"].word == "0 to 3 pairs"
    assert "none in 2 of 8 gated rows" in found["seeds"].answer
    assert "in every other gated row" in found["seeds"].answer


def test_a_client_that_sends_late_is_suspect_in_answer_and_chip():
    """The same word and tone in both places."""

    def late(run):
        return replace(
            run, requests=tuple(replace(one, due_ns=one.send_ns - 25_000_000) for one in run.requests)
        )

    pair = tuple(replace(capture, runs=tuple(map(late, capture.runs))) for capture in evidence.measured())
    found, chips = told(pair)
    assert (found["client"].word, found["client"].tone) == ("maybe", "caution")
    assert chips["Client"] == "suspect"
