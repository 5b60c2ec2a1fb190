"""Whoever reads stdout may stop reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
