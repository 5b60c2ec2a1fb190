"""How fast a server's log is read, and beside what people would write themselves.

    python benchmarks/log_reading.py [--mb 1024] [--share 0.1] [--repetitions 3] [--peer PYTHON,LOG_PARSER.py]

Writes a log of ``--mb`` MB whose scheduler lines are one in ten (``--share``), the others access lines, and a
smaller one of scheduler lines alone, then measures in one process, in turns:

- ``read_log``: the whole of ``radixbench logs`` up to its summary;
- a naive loop: one regular expression per line that names every field, a dictionary of numbers, two sums;
- with ``--peer``, SGLang's own ``log_parser`` (decode lines only, in the one shape it knows), run on one thread by the given
  interpreter, which must have polars; both then read decode lines of that shape.

Process CPU time; peak memory of the reading at an eighth of the size and in full. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from side_by_side import Took, in_turns, ratio, took

from radixbench.metrics.log_summary.read import read_log

SECONDS_PER_DAY = 86_400
NAIVE = {
    "Prefill": re.compile(
        r"\[(?P<time>[\d: -]+)\] Prefill batch, #new-seq: (?P<new_seq>\d+), #new-token: (?P<new_token>\d+), "
        r"#cached-token: (?P<cached_token>\d+), token usage: (?P<usage>[\d.]+), #running-req: (?P<running>\d+), "
        r"#queue-req: (?P<queue>\d+), #pending-token: (?P<pending>\d+), cuda graph: (?P<graph>\w+), "
        r"input throughput \(token/s\): (?P<rate>[\d.]+)"
    ),
    "Decode": re.compile(
        r"\[(?P<time>[\d: -]+)\] Decode batch, #running-req: (?P<running>\d+), #token: (?P<token>\d+), "
        r"token usage: (?P<usage>[\d.]+), cuda graph: (?P<graph>\w+), gen throughput \(token/s\): (?P<rate>[\d.]+), "
        r"#queue-req: (?P<queue>\d+)"
    ),
}
PEER = """
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("log_parser", sys.argv[1])
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
import polars
start = time.process_time()
rows = len(module.parse(open(sys.argv[2]).read()))
print(json.dumps({"cpu": time.process_time() - start, "rows": rows}))
"""
MEASURE = """
import resource, sys
from radixbench.metrics.log_summary.read import read_log
read_log([sys.argv[1]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def scheduler_lines(rng: random.Random, *, tail: str = "") -> Iterator[str]:
    """Lines of one server, 0.5.23, for ever: a prefill and then two decode lines, ten to a second."""
    tick, running = 0, 64
    while True:
        second = tick // 10 % SECONDS_PER_DAY
        stamp = f"[2026-10-01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}]"
        running = min(max(running + rng.randrange(-6, 7), 1), 256)
        queue = rng.randrange(30)
        usage = rng.random()
        if tick % 3 == 0:
            yield (
                f"{stamp} Prefill batch, #new-seq: {rng.randrange(1, 9)}, #new-token: {rng.randrange(1, 8192)}, "
                f"#cached-token: {rng.randrange(30000)}, token usage: {usage:.2f}, #running-req: {running}, "
                f"#queue-req: {queue}, #pending-token: {queue * 900}, cuda graph: False, "
                f"input throughput (token/s): {rng.random() * 20000:.2f}\n"
            )
        else:
            yield (
                f"{stamp} Decode batch, #running-req: {running}, #token: {running * 800}, token usage: {usage:.2f}, "
                f"cuda graph: True, gen throughput (token/s): {running * rng.uniform(24, 36):.2f}, #queue-req: {queue}{tail}\n"
            )
        tick += 1


def write_log(path: Path, size: int, share: float) -> int:
    """A log of about ``size`` bytes; returns its lines. A stretch of it is written again and again."""
    rng = random.Random(0)
    scheduler = scheduler_lines(rng)
    stretch = [
        next(scheduler)
        if rng.random() < share
        else f'[2026-10-01 00:00:00] INFO:     127.0.0.1:{rng.randrange(30000, 60000)} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        for _ in range(200_000)
    ]
    text = "".join(stretch).encode()
    times = max(1, round(size / len(text)))
    with path.open("wb") as file:
        for _ in range(times):
            file.write(text)
    return times * len(stretch)


def write_decode_lines(path: Path, lines: int) -> None:
    """Decode lines of the shape that SGLang's own parser reads: 0.5.5 to 0.5.8, which end in a comma."""
    rng = random.Random(1)
    scheduler = scheduler_lines(rng, tail=", ")
    with path.open("w") as file:
        written = 0
        for line in scheduler:
            if "Decode" in line:
                file.write(line)
                written += 1
                if written == lines:
                    return


def naive(path: Path) -> dict[str, int]:
    """The loop one writes first: a regular expression a line, numbers in a dictionary, two sums."""
    sums = {"new": 0, "cached": 0, "lines": 0}
    with path.open(errors="replace") as file:
        for line in file:
            for kind, pattern in NAIVE.items():
                if f"{kind} batch" in line:
                    found = pattern.search(line)
                    if found is None:
                        continue
                    row: dict[str, Any] = {
                        key: word if key in ("time", "graph") else float(word) if "." in word else int(word)
                        for key, word in found.groupdict().items()
                    }
                    sums["lines"] += 1
                    sums["new"] += row.get("new_token", 0)
                    sums["cached"] += row.get("cached_token", 0)
    return sums


def ours(path: Path) -> dict[str, int]:
    """The same sums by way of the summary."""
    summary = read_log([str(path)])
    return {
        "new": summary.prefill.new_tokens or 0,
        "cached": summary.prefill.cached_tokens or 0,
        "lines": summary.lines.by_kind["prefill"] + summary.lines.by_kind["decode"],
    }


def beside_naive(path: Path, repetitions: int) -> dict[str, Any]:
    """Both over one file, with a check that they counted the same."""
    assert naive(path) == ours(path), (naive(path), ours(path))
    mine, theirs = in_turns(
        lambda: took(lambda: ours(path))[0], lambda: took(lambda: naive(path))[0], repetitions
    )
    return {"ours_over_naive": ratio(mine, theirs)}


def beside_peer(path: Path, repetitions: int, peer: str) -> dict[str, Any]:
    """SGLang's parser in a process of its own, its imports not counted."""
    python, parser = peer.split(",")
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    rows: set[int] = set()

    def theirs() -> Took:
        out = subprocess.run(
            [python, "-c", PEER, parser, str(path)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        said = json.loads(out)
        rows.add(said["rows"])
        return Took(said["cpu"], said["cpu"])

    mine, others = in_turns(lambda: took(lambda: ours(path))[0], theirs, repetitions)
    return {"rows_of_peer": sorted(rows), "ours_over_peer": ratio(mine, others)}


def peak_mb(path: Path) -> int:
    """Peak resident memory of one reading, in MB."""
    return int(
        subprocess.run(
            [sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True
        ).stdout
    )


def rates(path: Path, lines: int, repetitions: int) -> dict[str, Any]:
    """Lines per second of CPU."""
    every = sorted(lines / took(lambda: read_log([str(path)]))[0].cpu for _ in range(repetitions))
    return {
        "lines": lines,
        "lines_per_s": {
            "least": round(every[0]),
            "median": round(every[len(every) // 2]),
            "greatest": round(every[-1]),
        },
    }


def main() -> None:
    """Measure, and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--mb", type=int, default=1024)
    arguments.add_argument("--share", type=float, default=0.1)
    arguments.add_argument("--scheduler-mb", type=int, default=64)
    arguments.add_argument("--repetitions", type=int, default=3)
    arguments.add_argument("--peer")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="radixbench-logs-") as folder:
        mixed, eighth, dense, decode = (Path(folder, name) for name in ("mixed", "eighth", "dense", "decode"))
        lines = write_log(mixed, given.mb << 20, given.share)
        write_log(eighth, given.mb << 17, given.share)
        dense_lines = write_log(dense, given.scheduler_mb << 20, 1.0)
        document: dict[str, Any] = {
            "mixed": rates(mixed, lines, given.repetitions),
            "dense": rates(dense, dense_lines, given.repetitions),
            "dense_beside_naive": beside_naive(dense, given.repetitions),
            "mixed_beside_naive": beside_naive(eighth, given.repetitions),
            "peak_mb": {"eighth": peak_mb(eighth), "whole": peak_mb(mixed)},
        }
        if given.peer is not None:
            write_decode_lines(decode, 200_000)
            document["decode_beside_peer"] = beside_peer(decode, given.repetitions, given.peer)
    print(json.dumps(document))


if __name__ == "__main__":
    main()
