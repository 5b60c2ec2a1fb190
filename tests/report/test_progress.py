"""A bench's events, live on a terminal and in plain lines elsewhere."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from radixbench.bench.progress import Progress, Running
from radixbench.report.console import ProgressDisplay
from radixbench.report.console.live_lines import live_lines

CELL: dict[str, int | str] = {"shared_tokens": 4096}


def watch(events, *, terminal: bool, width: int = 100, quiet: bool = False) -> str:
    """What a display writes for these events."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None)
    with ProgressDisplay(console, quiet=quiet) as display:
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
    """Leaving by an exception ends the live display and lets the error through; nothing is shown from then on."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    display = ProgressDisplay(console)
    with pytest.raises(KeyboardInterrupt), display:
        interrupt(display)
    display(one_run()[-2])
    assert isinstance(console.file, io.StringIO)
    assert "flush answered" not in console.file.getvalue()
    assert "\x1b[?25h" in console.file.getvalue(), "the cursor is shown again"


def estimates(n: int = 3) -> tuple[Running, ...]:
    """What a cell's pairs say so far."""
    return (
        Running("ttft_p50", 30.1, 28.2, 32.0, n),
        Running("output_throughput", 3.2, None, None, 1),
    )


def full(**changes) -> Progress:
    """An event with everything in it."""
    event = Progress(
        *("measure", "", 13, 18, 23, 64, 99.0, CELL, "off", 2),
        arm="off-a",
        running=estimates(),
        clock="SM 1410/1980 MHz, 62 °C, SW power cap",
        errors=2,
        failed_runs=1,
    )
    return replace(event, **changes)


def test_a_live_view_shows_how_the_sweep_stands():
    """Runs and time, the present run, estimates with intervals, clocks, and faults in a colour of their own."""
    lines = live_lines(full(), 100)
    assert [line.plain.lstrip("━╌ ") for line in lines] == [
        "12/18 runs, about 1 min 39 s left",
        "23/64 measuring 4,096 shared tokens, cache off-a, seed 2",
        "TTFT, median 30.1× (28.2–32.0), ±6.3 % of 3 seeds",
        "Output throughput 3.20× of 1 seed",
        "SM 1410/1980 MHz, 62 °C, SW power cap",
        "2 requests of this run failed, 1 run failed or incomplete",
    ]
    assert "red" in str(lines[-1].style)
    assert "━" not in "".join(line.plain for line in live_lines(full(), 100, plain_bars=True))


def test_where_seeds_are_added_the_target_is_shown():
    """Beside each interval what was wanted of it, and how long that may take, as far as anybody can tell."""
    lines = [line.plain for line in live_lines(full(target=0.05, target_left_s=300.0), 100)]
    assert lines[0].endswith("12/18 runs, about 5 min 00 s to ±5 %, next look in 1 min 39 s")
    assert lines[2] == "TTFT, median 30.1× (28.2–32.0), ±6.3 % (wanted ±5 %) of 3 seeds"
    early = [line.plain for line in live_lines(full(target=0.05, left_s=None), 100)]
    assert early[0].endswith("12/18 runs, until ±5 %")
    far = [line.plain for line in live_lines(full(target=0.05, target_left_s=300.0, target_near=False), 100)]
    assert "12/18 runs, about 5 min 00 s to the most seeds (±5 % may need more)" in far[0]


def test_a_limit_of_time_that_comes_first_is_told():
    """Instead of the time that all that is planned would take."""
    for target in (None, 0.05):
        hurried = full(target=target, target_left_s=300.0, limit_s=62.0)
        assert live_lines(hurried, 100)[0].plain.endswith("12/18 runs, 1 min 02 s to --max-time")
        last = replace(hurried, limit_s=0.2)
        assert live_lines(last, 100)[0].plain.endswith("12/18 runs, until --max-time")


def test_one_arm_s_figures_have_their_units():
    """Of one arm the figure itself is estimated."""
    one = Running("ttft_p50", 0.0123, 0.012, 0.0126, 5, "s")
    assert (
        live_lines(full(running=(one,)), 100)[2].plain
        == "TTFT, median 12.3 ms (12.0–12.6), ±2.4 % of 5 seeds"
    )


def test_an_interval_that_says_nothing_is_told_without_its_ends():
    """Two seeds may differ so much that it reaches from nothing to thousands."""
    wide = Running("output_throughput", 0.84, 0.00007, 10452.1, 2)
    assert live_lines(full(running=(wide,)), 100)[2].plain == (
        "Output throughput 0.840×, ±100 % and more of 2 seeds"
    )
    assert live_lines(full(running=(wide,)), 40)[3].plain == "Output throughput 0.840×"


@pytest.mark.parametrize("width", [20, 40, 69, 70, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    """Lines are cut, never wrapped, however narrow the terminal and long the cell."""
    long = {"shared_tokens": 4096, "turns": 4, "max_concurrency": 64, "schedule_policy": "lpm"}
    out = watch([full(cell=long, target=0.05)], terminal=True, width=width)
    frame = [line for line in plain(out).splitlines() if line.strip()]
    assert frame
    assert all(cell_len(line.rstrip()) <= width for line in frame)
    if width >= 40:
        assert any("12/18 runs" in line for line in frame)
        assert any("TTFT, median 30.1×" in line for line in frame)
        assert any("2 requests" in line and "1 run" in line and "failed" in line for line in frame)


def test_a_narrow_view_begins_its_lines_with_what_changes():
    """Without bars; the cell has a line of its own."""
    lines = [line.plain for line in live_lines(full(), 40)]
    assert lines[:4] == [
        "12/18 runs, about 1 min 39 s left",
        "23/64 measuring cache off-a, seed 2",
        "4,096 shared tokens",
        "TTFT, median 30.1× (28.2–32.0)",
    ]
    assert lines[-1] == "failed: 2 requests, 1 run"
    growing = live_lines(full(target=0.05, target_left_s=300.0), 40)
    assert growing[0].plain == "12/18 runs, about 5 min 00 s to ±5 %"


class Held(io.StringIO):
    """A terminal that takes nothing until it is let go, as after Ctrl-S."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.waiting = threading.Event()

    def write(self, text: str) -> int:
        self.waiting.set()
        assert self.free.wait(30)
        return super().write(text)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_held_terminal_holds_nobody_up(terminal):
    """Events are taken while nothing can be written; then the view jumps to the newest, and lines lack none."""
    held = Held()
    console = Console(file=held, force_terminal=terminal, width=100)
    with ProgressDisplay(console) as display:
        display(full(run=1))
        assert held.waiting.wait(30)
        for run in range(2, 14):
            display(full(run=run))
        held.free.set()
    out = held.getvalue()
    if terminal:
        assert "12/18 runs" in out
        assert "5/18 runs" not in out
    else:
        assert [int(run) for run in re.findall(r"\[(\d+)/18\] measuring", out)] == list(range(1, 14))


@pytest.mark.parametrize("terminal", [True, False])
def test_a_reader_that_went_away_ends_nothing(terminal, monkeypatch):
    """Events go on being taken, and stdout stays open."""
    readable, writable = os.pipe()
    os.close(readable)
    monkeypatch.setenv("TERM", "xterm")
    stdout = os.fstat(sys.__stdout__.fileno())
    with os.fdopen(writable, "w", buffering=1) as gone:
        monkeypatch.setattr(sys, "stderr", gone)
        monkeypatch.setattr(gone, "isatty", lambda: terminal, raising=False)
        with ProgressDisplay() as display:
            for run in range(1, 10):
                display(full(run=run))
        with contextlib.suppress(BrokenPipeError):
            gone.close()
    assert os.path.samestat(os.fstat(sys.__stdout__.fileno()), stdout)


def test_a_full_disk_ends_nothing():
    """What is told goes to a file on it; the sweep goes on unseen."""
    survived = False
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full_disk:  # closing it fails once more
        with ProgressDisplay(Console(file=full_disk, width=100)) as display:
            for event in one_run():
                display(event)
        survived = True
    assert survived


def test_quiet_says_nothing():
    """Neither on a terminal nor elsewhere, whatever happens."""
    for terminal in (True, False):
        assert watch([*one_run(), full()], terminal=terminal, quiet=True) == ""


def test_no_color_is_respected(monkeypatch):
    """Without colours nothing is lost: faults are words."""
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with ProgressDisplay(console) as display:
        display(full())
    out = console.file.getvalue()
    assert "2 requests of this run failed" in out
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", out)


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_off_a_terminal_there_are_no_control_codes(monkeypatch, capsys, variable):
    """Not even where a build server asks for colours: lines can't be drawn over in a file."""
    monkeypatch.setenv(variable, "1")
    with ProgressDisplay() as display:
        display(full())
        display(full(stage="saved"))
    assert "\x1b" not in capsys.readouterr().err


def test_a_dumb_terminal_gets_lines(monkeypatch):
    """One that can't move its cursor."""
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in watch(one_run(), terminal=True)


def test_plain_lines_tell_an_estimate_when_it_is_new():
    """After the run that completes a pair; the same figures aren't said twice. Failed requests are counted."""
    saved = full(stage="saved", done=62, running=())
    again = replace(saved, run=14, arm="off-b", errors=0, running=estimates())
    other = replace(again, run=15, arm="off-a", left_s=None)
    assert watch([saved, again, other], terminal=False).splitlines() == [
        "[13/18] saved 4,096 shared tokens, cache off-a, seed 2: 62 of 64 requests, about 1 min 39 s left",
        "  2 requests of this run failed, 1 run failed or incomplete",
        "[14/18] saved 4,096 shared tokens, cache off-b, seed 2: 62 of 64 requests, about 1 min 39 s left",
        "  so far: TTFT, median 30.1× (28.2–32.0), ±6.3 % of 3 seeds; Output throughput 3.20× of 1 seed",
        "[15/18] saved 4,096 shared tokens, cache off-a, seed 2: 62 of 64 requests",
    ]


def plain(out: str) -> str:
    """Without control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out).replace("\r", "\n")
