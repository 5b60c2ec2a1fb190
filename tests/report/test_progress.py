"""A bench's events, live on a terminal and in plain lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from radixbench.bench.progress import Progress
from radixbench.report.console import ProgressDisplay

CELL: dict[str, int | str] = {"shared_tokens": 4096}


def watch(events, *, terminal: bool) -> str:
    """What a display writes for these events."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)
    with ProgressDisplay(console) as display:
        for event in events:
            display(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def one_run() -> list[Progress]:
    """A run as a bench reports it."""
    return [
        Progress("start-server", "starting the server", 1, 18),
        Progress("warm-up", "warming up", 1, 18, cell=CELL, mode="on", seed=0),
        *(Progress("measure", "", 1, 18, done, 64, cell=CELL, mode="on", seed=0) for done in range(65)),
        Progress("note", "flush answered 400 [twice]", 1, 18),
        Progress("saved", "", 1, 18, 64, 64, 99.0, CELL, "on", 0),
    ]


def test_off_a_terminal_a_run_takes_a_few_lines():
    """One for the server, one for measuring, one for saving, and every note as it stands."""
    assert watch(one_run(), terminal=False).splitlines() == [
        "[1/18] starting the server",
        "[1/18] measuring 4,096 shared tokens, cache on, seed 0",
        "flush answered 400 [twice]",
        "[1/18] saved 4,096 shared tokens, cache on, seed 0: 64 of 64 requests, about 1 min 39 s left",
    ]


def test_on_a_terminal_runs_requests_and_time_left_are_shown():
    """Both counts and the estimate; a note stays above the bars."""
    out = watch(one_run(), terminal=True)
    assert "1/18" in out
    assert "64/64" in out
    assert "about 1 min 39 s left" in out
    assert "flush answered 400 [twice]" in out


def test_the_same_stage_of_the_other_arm_is_told_again():
    """Runs of both arms each get their lines."""
    events = [
        Progress("measure", "", run, 2, 0, 64, cell=CELL, mode=mode, seed=0)
        for run, mode in ((1, "on"), (2, "off"))
    ]
    lines = watch(events, terminal=False).splitlines()
    assert lines == [
        "[1/2] measuring 4,096 shared tokens, cache on, seed 0",
        "[2/2] measuring 4,096 shared tokens, cache off, seed 0",
    ]


def test_a_server_s_start_names_its_arm_and_no_run_that_is_not_known():
    """Before the first run there is no count to show, and at the end no time left."""
    events = [
        Progress("start-server", "", 0, 0, mode="off"),
        Progress("saved", "", 2, 2, 64, 64, 0.2, CELL, "off", 0),
    ]
    assert watch(events, terminal=False).splitlines() == [
        "starting the server, cache off",
        "[2/2] saved 4,096 shared tokens, cache off, seed 0: 64 of 64 requests",
    ]


def test_no_count_is_shown_before_its_total_is_known():
    """Neither "0/0" at the start nor the last run's total while the next one warms up."""
    start = [Progress("start-server", "starting the server", 0, 0, mode="on")]
    first = watch(start, terminal=True)
    assert "starting the server, cache on" in first
    assert "/" not in first
    next_run = [*one_run(), Progress("warm-up", "warming up", 2, 18, cell=CELL, mode="off", seed=0)]
    frame = "\n".join(watch(next_run, terminal=True).splitlines()[-4:])
    assert "warming up 4,096 shared tokens, cache off, seed 0" in frame
    assert "1/18" in frame
    assert "/64" not in frame


def interrupt(display: ProgressDisplay) -> None:
    """A user who presses Ctrl-C in the middle of a run."""
    display(one_run()[0])
    raise KeyboardInterrupt


def test_a_display_survives_the_error_it_watches():
    """Leaving by an exception stops the live display and lets the error through."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    display = ProgressDisplay(console)
    with pytest.raises(KeyboardInterrupt), display:
        interrupt(display)
    display(one_run()[-2])
    assert isinstance(console.file, io.StringIO)
    assert "flush answered" in console.file.getvalue()
