"""What a sweep lost."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import CellFailure
from radixbench.report.failures import failures_section
from tests.report import scenes
from tests.report.evidence import side_of


def test_failures_of_one_reason_share_a_row_of_their_cell():
    """Cells in order, seeds drawn together, the reason in full."""
    on, _ = scenes.laptop()
    failures = tuple(
        CellFailure({"shared_tokens": shared}, seed, "on", reason)
        for shared, seed, reason in ((4096, 1, "server died"), (0, 2, "timeout"), (0, 0, "timeout"))
    )
    section = failures_section([side_of(replace(on, planned_runs=12, failures=failures))])
    (_, grid) = section.grids[0]
    assert grid.rows == (
        ("0 shared tokens", "A (cache on)", "0, 2", "timeout"),
        ("4,096 shared tokens", "A (cache on)", "1", "server died"),
    )
    assert section.says[0].text == "A (cache on): 3 of 12 planned runs are missing, 3 of them failed."


def test_runs_that_were_saved_broken_are_listed_too():
    """With their error."""
    on, _ = scenes.laptop()
    broken = replace(on.runs[0], status="incomplete", error="the stream stalled")
    section = failures_section([side_of(replace(on, runs=(broken, *on.runs[1:]), interrupted=True))])
    assert [one.word for one in section.says] == ["stopped", "incomplete"]
    assert section.says[0].text == ("A (cache on): the sweep was interrupted; --resume goes on with it.")
    assert section.grids[0][1].rows[0][2:] == ("0", "the stream stalled")


def test_an_interrupt_is_told_once():
    """With what is missing, in one sentence, and of both arms together where they lost alike."""
    cut = [replace(capture, runs=capture.runs[:4], interrupted=True) for capture in scenes.laptop()]
    alike = failures_section([side_of(cut[0]), side_of(cut[1], slot="b", name="B (cache off)")])
    assert [one.text for one in alike.says] == [
        (
            "A (cache on) and B (cache off), each: the sweep was interrupted; 5 of 9 planned runs are missing; "
            "--resume goes on with it."
        )
    ]
    unlike = failures_section(
        [side_of(cut[0]), side_of(replace(cut[1], runs=cut[1].runs[:3]), slot="b", name="B (cache off)")]
    )
    assert [one.text[:1] for one in unlike.says] == ["A", "B"]


def test_a_change_of_servers_is_told_and_a_resumption_of_nothing_is_not():
    """``--resume`` on the command line says nothing of whether runs were kept: the servers' processes do."""
    on, _ = scenes.laptop()
    flagged = replace(on, environment=replace(on.environment, argv=("radixbench", "sweep", "--resume")))
    assert failures_section([side_of(flagged)]) is None
    kept = tuple(replace(run, server=replace(run.server, pid=run.server.pid or 1)) for run in on.runs)
    later = tuple(replace(run, server=replace(run.server, pid=99_999)) for run in kept[4:])
    section = failures_section([side_of(replace(on, runs=(*kept[:4], *later)))])
    assert [one.word for one in section.says] == ["resumed"]
    assert "2 server processes answered its runs" in section.says[0].text
    assert section.grids == ()


def test_a_whole_sweep_has_no_section():
    """Nothing is missing."""
    assert failures_section([side_of(scenes.laptop()[0])]) is None
