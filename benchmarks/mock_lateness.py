"""How late the mock writes against its own schedule, and what a write costs it.

    python benchmarks/mock_lateness.py [--streams 100] [--rate 50] [--seconds 4] [--repetitions 5] [--realtime]

The mock runs on one core, a reader that only reads on another. ``streams`` answers, their starts spread evenly over
one gap, ``rate`` events a second each. Lateness is the stamp right before the system call less the moment that was due;
CPU time is that of the mock's one working thread, over its writes. ``alone_late`` is one stream alone: what the alarm and a sleeping core take. ``--realtime`` (root) keeps out what else
the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

NS_PER_US = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--realtime", action="store_true")
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    found: list[dict[str, Any]] = []
    for repetition in range(given.repetitions):
        place = ["taskset", "-c", str(cores[-1]), *(["chrt", "-f", "10"] if given.realtime else [])]
        full = measure(given.streams, given.rate, given.seconds, place)
        alone = measure(1, given.rate, min(given.seconds, 2.0), place)
        found.append(
            {**full, "alone_late_p50_us": alone["late_p50_us"], "alone_late_p99_us": alone["late_p99_us"]}
        )
        print(f"{repetition + 1}: {found[-1]}", file=sys.stderr)
    spread = {
        name: {"min": min(values), "median": sorted(values)[len(values) // 2], "max": max(values)}
        for name in found[0]
        for values in [[one[name] for one in found]]
    }
    print(json.dumps({"benchmark": "mock_lateness", "arguments": vars(given), "figures": spread}))


def measure(streams: int, rate: float, seconds: float, place: list[str]) -> dict[str, Any]:
    """One mock, one load; microseconds and shares."""
    command = [sys.executable, "-m", "radixbench", "mock", "--ttft", "0.05", "--gap", str(1 / rate)]
    process = subprocess.Popen(
        [*place, *command, "--exit-on-stdin-eof"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        before, began = cpu_s(process.pid), time.monotonic()
        read_all(url, streams, int(rate * seconds), 1 / rate / streams)
        took, used = time.monotonic() - began, cpu_s(process.pid) - before
        with urllib.request.urlopen(f"{url}/mock/writes") as response:
            late = json.load(response)["lateness"]
    finally:
        process.kill()
        process.communicate()
    return {
        "late_p50_us": late["p50_ns"] / NS_PER_US,
        "late_p99_us": late["p99_ns"] / NS_PER_US,
        "late_max_us": late["max_ns"] / NS_PER_US,
        "cpu_us_per_write": used / late["writes"] * 1e6,
        "core_share": used / took,
    }


def read_all(url: str, streams: int, tokens: int, pause_s: float) -> None:
    """Start the streams one after the other and read each to its end."""
    host, _, port = url.removeprefix("http://").partition(":")
    body = json.dumps({"prompt": [5, 6, 7], "max_tokens": tokens, "stream": True}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    sockets = [socket.create_connection((host, int(port))) for _ in range(streams)]
    waiting = selectors.DefaultSelector()
    began = time.monotonic()
    for place, sock in enumerate(sockets):
        drain(waiting, began + place * pause_s)
        sock.sendall(head.encode() + body)
        sock.setblocking(False)
        waiting.register(sock, selectors.EVENT_READ)
    while waiting.get_map():
        drain(waiting, time.monotonic() + 1.0)


def drain(waiting: selectors.BaseSelector, until: float) -> None:
    """Read what comes until a moment, or until nobody is left."""
    while waiting.get_map() and (left := until - time.monotonic()) > 0:
        for key, _ in waiting.select(left):
            if not key.fileobj.recv(1 << 16):
                waiting.unregister(key.fileobj)
                key.fileobj.close()


def cpu_s(pid: int) -> float:
    """Time on a processor of a process' main thread so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


if __name__ == "__main__":
    main()
