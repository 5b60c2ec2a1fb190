"""The scheduler's steps over time."""

from __future__ import annotations

from dataclasses import replace

from radixbench.records import LogTotals
from radixbench.report import charts
from radixbench.report.batches import MAX_BATCHES
from radixbench.report.gantt import gantt_figure
from radixbench.report.scheduler import MAX_MOMENTS, MAX_POINTS, running, scheduler_figure, within
from tests.report import scenes
from tests.report.evidence import side_of


def sides(change=lambda run: run):
    """Both arms of the default sweep, each run changed."""
    on, off = (replace(one, runs=tuple(map(change, one.runs))) for one in scenes.laptop())
    return side_of(on), side_of(off, slot="b", name="B (cache off)")


def panels_of(figure):
    """By key."""
    return {panel.key: panel for panel in figure.panels}


def test_each_arm_shows_batches_load_and_pool():
    """Of one run, on an axis of its own that all three share."""
    found = panels_of(scheduler_figure(sides()))
    assert list(found) == [f"scheduler-{kind}-{arm}" for arm in "ab" for kind in ("batches", "load", "pool")]
    for arm in "ab":
        ends = {found[f"scheduler-{kind}-{arm}"].x_domain for kind in ("batches", "load", "pool")}
        assert len(ends) == 1
    assert found["scheduler-batches-a"].y_top == found["scheduler-batches-b"].y_top


def test_the_run_and_the_axis_are_those_of_the_requests():
    """The same note, and both begin when the first request was due."""
    scheduler, gantt = scheduler_figure(sides()), gantt_figure(sides())
    assert scheduler.notes[0] == gantt.notes[0]
    assert scheduler.panels[0].x_title == gantt.panels[0].x_title


def test_tokens_are_kept_to_the_last_when_batches_are_added_up():
    """The sum over bars is the sum over steps."""
    on, _ = scenes.laptop()
    run = on.runs[-1]
    span = run.end_ns - run.start_ns
    steps = tuple(
        replace(
            run.steps[0],
            start_ns=run.start_ns + i * span // 3000,
            end_ns=run.start_ns + (i + 1) * span // 3000,
            evicted_tokens=i % 7,
        )
        for i in range(2900)
    )
    figure = scheduler_figure([side_of(replace(on, runs=(replace(run, steps=steps),)))])
    found = panels_of(figure)
    bars = found["scheduler-batches-a"].rows
    assert len(bars) <= 2 * MAX_BATCHES
    assert "batches of" in found["scheduler-batches-a"].y_title
    computed = sum(row["y2"] - row["y"] for row in bars if row["series"] == "computed")
    assert computed == sum(step.new_tokens for step in within(run=replace(run, steps=steps)))
    assert len(found["scheduler-load-a"].rows) <= 2 * (MAX_POINTS + 1)
    assert len(found["scheduler-load-a"].marks) == MAX_MOMENTS


def test_steps_outside_of_the_measured_window_are_left_out():
    """A warm-up before the first send."""
    run = scenes.laptop()[0].runs[0]
    before = replace(run.steps[0], start_ns=run.start_ns - 10, end_ns=run.start_ns - 5)
    assert within(replace(run, steps=(before, *run.steps))) == within(run)


def test_the_highest_load_survives_thinning():
    """What a reader looks for is the extreme."""
    (side, _) = sides()
    panel = panels_of(scheduler_figure([side]))["scheduler-load-a"]
    most = max(running(step) for run in side.capture.runs for step in within(run))
    assert max(row["y"] for row in panel.rows if row["series"] == "running") == most


def test_evictions_and_retractions_are_marked_and_counted():
    """Upright lines with their own legend entry, and totals in the table."""

    def crowded(run):
        steps = tuple(replace(s, evicted_tokens=10, retracted_req=1) if s.step == 3 else s for s in run.steps)
        return replace(run, steps=steps)

    figure = scheduler_figure(sides(crowded))
    panel = panels_of(figure)["scheduler-load-a"]
    assert [mark["tip"] for mark in panel.marks] == ["10 tokens evicted, 1 request sent back"]
    assert "eviction or retraction" in charts.svg(panel)
    assert figure.grid is not None
    assert {row[-2:] for row in figure.grid.rows} == {("10", "1")}


def test_missing_steps_are_said():
    """A log that lost lines."""
    figure = scheduler_figure(sides(lambda run: replace(run, steps_complete=False)))
    assert sum("don't hold every step" in note for note in figure.notes) == 2


def test_a_server_that_tells_no_steps_is_named():
    """And what became of its log lines, where there were some."""
    bare = scheduler_figure(sides(lambda run: replace(run, steps=())))
    assert bare.panels == ()
    assert bare.absent == "The captures hold no scheduler steps: bundled told none."
    log = LogTotals("sglang", prefill_lines=20, decode_lines=80)
    logged = scheduler_figure(sides(lambda run: replace(run, steps=(), log=log)))
    assert "1,800 scheduler lines were counted" in logged.absent


def test_one_arm_with_steps_is_shown_alone():
    """Against a server that tells none."""
    (on, off) = sides()
    silent = replace(
        off, capture=replace(off.capture, runs=tuple(replace(r, steps=()) for r in off.capture.runs))
    )
    assert {panel.key[-1] for panel in scheduler_figure((on, silent)).panels} == {"a"}
    assert {panel.key[-1] for panel in scheduler_figure((silent, off)).panels} == {"b"}
