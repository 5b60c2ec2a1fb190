"""The front door as a user finds it: real processes, real HTTP, scheduler and tree; a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAKE = ("--server-argument=--runner", "--server-argument=fake")
SMALL = (
    "--shared",
    "0,256",
    "--seeds",
    "3",
    "--groups",
    "2",
    "--prompts-per-group",
    "4",
    "--output-len",
    "4",
    "--max-concurrency",
    "2",
)


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Stdout as exactly one JSON document."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded

    @property
    def complaint(self) -> str:
        """The one line a user error prints."""
        lines = [line for line in self.err.splitlines() if line.startswith("radixbench: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@dataclass(frozen=True)
class Door:
    """Runs ``radixbench`` in a directory of its own."""

    directory: Path

    def environment(self) -> dict[str, str]:
        """The caller's, with neither colours nor a terminal's width."""
        return {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "radixbench", *arguments],
            cwd=self.directory,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *arguments: str) -> Outcome:
        """Run a command to its end."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=300)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Outcome(process.returncode, out, err)

    def shell(self, line: str) -> Outcome:
        """Run a line of shell, for redirections."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.directory,
            env={**self.environment(), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def sweep(self, *arguments: str) -> Outcome:
        """A small sweep on a scripted model, without the second that calibration takes."""
        return self("sweep", *SMALL, *FAKE, "--no-calibrate", *arguments)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """``radixbench`` in an empty directory."""
    return Door(tmp_path)


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Door, Outcome]:
    """One small sweep, shared by all tests that only read what it left."""
    door = Door(tmp_path_factory.mktemp("swept"))
    return door, door("sweep", *SMALL, *FAKE, "--out", "pair", "--report", "pair.html", "--json")


Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def edited(swept: tuple[Door, Outcome], tmp_path: Path) -> Callable[[str, Edit], Path]:
    """A copy of one of the sweep's captures with something changed."""

    def make(mode: str, edit: Edit) -> Path:
        document = json.loads((swept[0].directory / "pair" / f"{mode}.json").read_text())
        edit(document)
        path = tmp_path / f"edited-{mode}.json"
        path.write_text(json.dumps(document))
        return path

    return make
