"""Whoever reads stdout may stop reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "captures" / "example"


def test_a_reader_that_went_away_is_no_verdict() -> None:
    """``| head`` must not look like exit code 1, a failed gate; and nobody wants to read about it."""
    command = [
        sys.executable,
        "-m",
        "radixbench",
        "compare",
        str(EXAMPLE / "on.json.gz"),
        str(EXAMPLE / "off.json.gz"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(), b"Traceback" in said) == (2, False)


@pytest.mark.parametrize("arguments", [("compare", "no.json", "neither.json"), ("sweep", "--nothing")])
def test_what_nobody_can_read_changes_no_exit_code(arguments: tuple[str, ...]) -> None:
    """A full disk behind stderr and a reader of it that went away: a user's mistake is 2 and not a failed gate."""
    command = [sys.executable, "-m", "radixbench", *arguments]
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, check=False, timeout=100).returncode == 2
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(100) == 2
