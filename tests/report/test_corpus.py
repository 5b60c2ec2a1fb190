"""Where recorded traffic came from."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.corpus import corpus_name, corpus_section
from radixbench.scenario.model import WorkloadSpec
from tests.report import scenes
from tests.report.evidence import CORPUS, side_of


def played(corpus):
    """Both arms with this corpus in every run."""
    sides = []
    for capture, slot, name in zip(scenes.laptop(), ("a", "b"), ("A", "B"), strict=True):
        runs = tuple(replace(run, corpus=corpus) for run in capture.runs)
        sides.append(side_of(replace(capture, runs=runs), slot=slot, name=name))
    return sides


def test_what_was_left_out_is_told_by_reason():
    """Read, used, and every reason with its number, the commonest first; both arms in one row."""
    section = corpus_section(played(CORPUS))
    (_, grid) = section.grids[0]
    assert [row[2:] for row in grid.rows] == [
        ("read", "120"),
        ("used", "100"),
        ("left out: no answer", "15"),
        ("left out: too long", "5"),
    ]
    assert {row[0] for row in grid.rows} == {"A and B"}


def test_source_and_notes_are_sentences():
    """Name, format, hash, share; then what else a reader must know."""
    first, note = corpus_section(played(CORPUS)).says
    assert first.text == (
        "chats.json (sharegpt, sha256 abababababab…): 100 of 120 items used;"
        " left out: no answer (15) and too long (5)."
    )
    assert (note.text, note.word) == ("cut off at 125 MB", "note")


def test_the_sentence_alone_says_why_items_are_missing():
    """Its two commonest reasons, and how many fell to rarer ones; nothing where nothing was left out."""
    dropped = {"empty": 1, "too long": 1, "no answer": 1500, "two users": 3}
    told = corpus_section(played(replace(CORPUS, dropped=dropped))).says[0].text
    assert told.endswith("; left out: no answer (1,500), two users (3) and 2 for other reasons.")
    whole = corpus_section(played(replace(CORPUS, dropped={}))).says[0].text
    assert whole.endswith(": 100 of 120 items used.")


def test_a_file_is_called_by_its_name_alone():
    """Where it lies is this machine's own business; a hub's name stays whole."""
    on, _ = scenes.laptop()
    record = replace(CORPUS, name="/home/somebody/data/chats.json")
    played_file = replace(
        on, scenario=replace(on.scenario, workload=WorkloadSpec(kind="conversations", file="x"))
    )
    assert corpus_name(played_file, record) == "chats.json"
    assert corpus_name(on, replace(CORPUS, name="owner/name")) == "owner/name"


def test_a_hub_data_set_has_no_hash():
    """It isn't a file."""
    assert "sha256" not in corpus_section(played(replace(CORPUS, sha256=None))).says[0].text


def test_made_up_traffic_has_no_section():
    """Nothing was read."""
    assert corpus_section(played(None)) is None
