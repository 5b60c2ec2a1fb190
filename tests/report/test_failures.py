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
    assert section.grids[0][1].rows[0][2:] == ("0", "the stream stalled")


def test_a_resumed_sweep_says_so():
    """Its runs were not measured in one go."""
    on, _ = scenes.laptop()
    resumed = replace(on, environment=replace(on.environment, argv=("radixbench", "sweep", "--resume")))
    section = failures_section([side_of(resumed)])
    assert [one.word for one in section.says] == ["resumed"]
    assert section.grids == ()


def test_a_whole_sweep_has_no_section():
    """Nothing is missing."""
    assert failures_section([side_of(scenes.laptop()[0])]) is None
