"""The main job as a user runs it: how long it takes, and what it finds.

    python benchmarks/default_sweep.py [--repetitions N]

Runs the default sweep on ``tiny``, server starts included, and the same prompts with a question of 128 and
64 output tokens at 4,096 shared tokens. Aims on two cores: under 4 minutes; median TTFT at least 20 times
shorter and output throughput at least 4.3 times higher at 4,096 shared tokens (10 and 3 times with the
longer question and answer); ``within-noise`` at 0 shared tokens. The last line on stdout is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DEFAULT = ("--shared", "0,1024,4096", "--seeds", "3")
LONG_ANSWERS = ("--shared", "4096", "--seeds", "3", "--question-len", "128", "--output-len", "64")
METRICS = ("ttft_p50", "output_throughput")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1)
    repetitions = parser.parse_args().repetitions
    found = {
        name: [sweep(name, flags) for _ in range(repetitions)]
        for name, flags in (("default", DEFAULT), ("question 128, output 64", LONG_ANSWERS))
    }
    print(json.dumps({"benchmark": "default_sweep", "sweeps": found}))


def sweep(name: str, flags: tuple[str, ...]) -> dict[str, Any]:
    """One sweep in a directory of its own; its wall time and its headline rows."""
    with tempfile.TemporaryDirectory() as folder:
        out, report = Path(folder) / "pair", Path(folder) / "report.html"
        command = [sys.executable, "-m", "radixbench", "sweep", *flags, "--json"]
        start = time.monotonic()
        done = subprocess.run(
            [*command, "--out", str(out), "--report", str(report)], stdout=subprocess.PIPE, check=True
        )
        took = time.monotonic() - start
    rows = [row for row in json.loads(done.stdout)["compare"]["rows"] if row["metric"] in METRICS]
    print(f"{name}: {took:.0f} s")
    for row in rows:
        factor = row["factor"]
        print(
            f"  {row['cell']['shared_tokens']:>5} shared  {row['metric']:<18} {factor['value']:7.2f} x"
            f"  ({factor['low']:.2f} to {factor['high']:.2f})  {row['verdict']}"
        )
    return {"seconds": took, "rows": rows}


if __name__ == "__main__":
    main()
