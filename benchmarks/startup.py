"""What a command costs before it does anything: CPU time of ``--help`` and of ``compare --json``.

    python benchmarks/startup.py [--repetitions N] [A.json B.json]

Compares the committed example unless captures are named. Aims: ``--help`` under 0.4 s of CPU, ``compare --json`` of
a default sweep under 1.5 s; beside them stands an interpreter that imports nothing. The last line on stdout
is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "captures" / "example"
AIMS_S = {"--help": 0.4, "compare --json": 1.5}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("captures", nargs="*", default=[EXAMPLE / "on.json.gz", EXAMPLE / "off.json.gz"])
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    radixbench = ["-m", "radixbench"]
    commands = {
        "bare interpreter": ["-c", "pass"],
        "--help": [*radixbench, "--help"],
        "compare --json": [*radixbench, "compare", *map(str, arguments.captures), "--json"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(arguments.repetitions):
        for name, command in commands.items():
            taken[name].append(cpu_s(command))
    for name, seconds in taken.items():
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        aim = f", aim: under {AIMS_S[name]} s" if name in AIMS_S else ""
        print(f"{name:<18} {statistics.median(seconds):.2f} s of CPU ({spread}){aim}")
    met = {name: statistics.median(taken[name]) < aim for name, aim in AIMS_S.items()}
    print(json.dumps({"benchmark": "startup", "cpu_s": taken, "aims_s": AIMS_S, "met": met}))


def cpu_s(command: list[str]) -> float:
    """User and system time of one process, children of its own included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
