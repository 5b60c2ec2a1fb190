"""Null tests, targets for intervals and the live view through the front door, on a scripted model."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from radixbench.capture.store import load
from tests.e2e.conftest import FAKE, ROOT, Door

ONE_CELL = ("--shared", "64", "--groups", "1", "--prompts-per-group", "2")


def test_a_null_test_leaves_two_captures_and_says_what_it_is(door: Door) -> None:
    """Both arms by name, in the document and on the disk; ``compare`` finds the same in the files."""
    outcome = door.sweep(*ONE_CELL, "--null", "--out", "pair", "--report", "null.html", "--json")
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert document["captures"] == {"off-a": "pair/off-a.json", "off-b": "pair/off-b.json"}
    assert document["until"] is None
    assert document["compare"]["null_test"] is True
    assert {row["verdict"] for row in document["compare"]["rows"]} <= {
        *("within-noise", "better", "worse", "undecided"),
        None,
    }
    assert (document["compare"]["a"]["mode"], document["compare"]["b"]["mode"]) == ("off", "off")
    again = door("compare", "pair/off-a.json", "pair/off-b.json", "--json")
    assert again.document == document["compare"]


def test_a_target_is_told_to_be_reached_before_the_last_line(door: Door) -> None:
    """The line says how narrow and after how many seeds; nothing about the captures is incomplete."""
    outcome = door.sweep(*ONE_CELL, "--seeds", "1", "--until", "100%", "--out", "pair", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    *_, ending, command = outcome.out.splitlines()
    told = re.fullmatch(r"--until 100%: every interval is within ±[0-9.]+ % after ([0-9]+) seeds", ending)
    assert told, outcome.out
    assert command == "radixbench compare pair/on.json pair/off.json"
    on, off = (load(door.directory / "pair" / f"{arm}.json") for arm in ("on", "off"))
    assert len(on.runs) == on.planned_runs == on.scenario.seeds == int(told[1]) == len(off.runs)
    assert re.search(r"^  so far: TTFT, median .* of 2 seeds; Output throughput", outcome.err, re.MULTILINE)
    assert "planned runs" not in outcome.out


def test_quiet_leaves_stderr_to_errors(door: Door) -> None:
    """Stdout is what it is without; an error is still told."""
    outcome = door.sweep(*ONE_CELL, "--seeds", "1", "--quiet", "--out", "pair", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    assert outcome.out.splitlines()[-1] == "radixbench compare pair/on.json pair/off.json"
    again = door("sweep", "--quiet", "--out", "pair")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "exists and is not overwritten" in again.complaint


@dataclass
class Terminal:
    """A command on a terminal of its own; ``screen`` is what it wrote to it so far."""

    process: subprocess.Popen[bytes]
    screen_fd: int
    screen: str = ""
    _raw: bytearray = field(default_factory=bytearray)

    def until(self, seen: Callable[[str], object]) -> str:
        """Read on until ``seen`` is true of the screen, or the command has ended."""
        while not seen(self.screen):
            try:
                read = os.read(self.screen_fd, 65536)
            except OSError:  # Linux's word for a terminal that nobody has open any more
                break
            if not read:
                break
            self._raw += read
            self.screen = self._raw.decode(errors="replace")
        return self.screen


@pytest.fixture
def terminal(door: Door):
    """Starts a small sweep on a terminal of 100 columns; stdout goes elsewhere."""
    started: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {
            key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "radixbench", "sweep", *ONE_CELL, *FAKE, "--no-calibrate", *arguments],
            cwd=door.directory,
            env={**environment, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=its,
            start_new_session=True,
        )
        os.close(its)
        started.append(Terminal(process, ours))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
        os.close(one.screen_fd)


def test_on_a_terminal_the_sweep_is_watched(terminal) -> None:
    """Runs, the present one and its cell's estimates are drawn over and over, and are gone in the end."""
    watched = terminal("--seeds", "3", "--out", "pair", "--report", "r.html")
    screen = watched.until(lambda _: False)
    assert watched.process.wait(60) == 0, screen
    assert "/6 runs" in screen
    assert "measuring 64 shared tokens, cache off, seed" in screen
    assert re.search(r"TTFT, median [0-9.]+×( \([0-9.,–]+\))?, ±", screen), (
        "noise may leave an interval no ends"
    )
    assert "\x1b[?25l" in screen
    assert screen.rindex("\x1b[?25h") > screen.rindex("/6 runs"), "the cursor is shown again"
    assert screen.rstrip().endswith("report: r.html")


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal, door: Door) -> None:
    """The view goes, the cursor comes back, one line says what was measured and how to go on."""
    watched = terminal("--seeds", "40", "--out", "pair", "--report", "r.html")
    watched.until(lambda screen: re.search("[1-9]/80 runs", screen))
    watched.process.send_signal(signal.SIGINT)
    screen = watched.until(lambda _: False)
    assert watched.process.wait(60) == 130, screen
    assert screen.rindex("\x1b[?25h") > screen.rindex("/80 runs")
    assert re.search(r"radixbench: interrupted after \d+ of 80 runs; what was measured is in pair; ", screen)
    assert load(door.directory / "pair" / "on.json").interrupted
