"""The soak benchmark in short."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "soak.py"


def test_a_short_soak_loses_nothing() -> None:
    """150 requests into a pool a quarter of the working set, a fifth vanishing: no slot lost, none hangs."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--requests", "150", "--runner", "fake"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    document = json.loads(done.stdout)
    assert document["ok"], document
    assert done.returncode == 0
    assert document["slots_lost"] == 0
    assert document["failed"] == []
    assert document["completed"] + document["vanished"] == 150
    assert document["vanished"] > 10
    assert document["evicted_tokens"] > 0
    assert document["audits"] >= 10
