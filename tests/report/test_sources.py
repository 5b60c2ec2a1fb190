"""Who counted what."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.sources import disagreements, sources_section
from tests.report import scenes
from tests.report.evidence import measured, side_of


def changed(**tiers):
    """The on arm's side, its counters changed."""
    on, _ = measured()
    return side_of(
        replace(on, runs=tuple(replace(run, counters=replace(run.counters, **tiers)) for run in on.runs))
    )


def table(section):
    """The first table as dicts."""
    _, grid = section.grids[0]
    return [dict(zip(grid.header, row, strict=True)) for row in grid.rows]


def test_witnesses_stand_side_by_side():
    """The same number from each, the expectation last, nothing added."""
    on, off = measured()
    rows = table(sources_section([side_of(on), side_of(off, slot="b", name="B (cache off)")]))
    last = rows[11]
    assert last["client usage"] == last["server counters"] == last["log lines"] == last["scheduler steps"]
    assert "–" in last["expectation"]
    assert last["together"] == "agree"
    assert list(last)[-2:] == ["expectation", "together"]
    assert rows[-1]["expectation"].startswith("0 of ")


def test_agreement_is_a_sentence():
    """One, with its word."""
    (said,) = sources_section([side_of(measured()[0])]).says
    assert (said.word, said.tone) == ("agree", "better")


def test_contradictions_are_told_with_their_run_and_marked_in_the_table():
    """Twelve in words, the others in the table."""
    side = changed(cached_tokens=7)
    section = sources_section([side])
    assert len(disagreements([side])) == 12
    assert [one.word for one in section.says] == ["contradiction"] * 12
    assert section.says[0].text.startswith(
        "A (cache on), 0 shared tokens, concurrency 1, seed 0: server counters"
    )
    assert {row["together"] for row in table(section)} == {"1 contradiction"}


def test_tiers_are_shown_beside_each_other_where_there_are_several():
    """A single tier is the total again and is left out."""
    one, two = changed(cached_by_tier={"device": 30}), changed(cached_by_tier={"device": 30, "host": 24})
    assert not any(name.startswith("server counters, ") for name in table(sources_section([one]))[0])
    row = table(sources_section([two]))[0]
    assert (row["server counters, device"], row["server counters, host"]) == ("30", "24")


def test_each_scope_is_told_once():
    """Whatever the runs' counts."""
    _, grid = sources_section([side_of(measured()[0])]).grids[1]
    scopes = dict(grid.rows)
    assert scopes["log lines"].startswith("20–43 prefill lines of the window")
    assert len(scopes) == len(grid.rows)


def test_a_client_alone_is_no_table():
    """Old captures without steps."""
    on, _ = scenes.laptop()
    assert (
        sources_section([side_of(replace(on, runs=tuple(replace(run, steps=()) for run in on.runs)))]) is None
    )
