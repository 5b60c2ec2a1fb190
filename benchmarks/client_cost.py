"""CPU time and stamping error of the client, beside the clients other benchmarks have.

``radixbench mock`` in a process of its own streams one token per event on an absolute schedule and logs when it
really wrote each. The same streams are read in turn by our client, by SGLang's (``sglang.benchmark.serving``, its
request function unmodified), by an httpx ``aiter_lines`` loop and by a plain aiohttp loop, each in a process
of its own, the mock on one core and the client on another. Only a client's own CPU time counts, and its stamps are held against the mock's, so what else the
machine does matters little; trust the ratios, not the figures. How late the mock itself wrote stands beside them.

    python benchmarks/client_cost.py [--streams 100] [--tokens 200] [--spread 1] [--repetitions 5]
        [--sglang-python PATH] [--httpx-python PATH]

A peer whose Python isn't given, and whose library isn't here, is left out, and the result says so. The last
line of output is one JSON document.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import IO, Any

import numpy as np

PEER = Path(__file__).with_name("client_cost_peer.py")
OURS = "radixbench"
TINY_NS = 200_000
"""Gaps below it can't be the server's, which waits a hundred times as long: its chunks were read together."""

Row = dict[str, float]


class Client:
    """A client's process, waiting to measure."""

    def __init__(self, name: str, python: str, url: str, options: argparse.Namespace) -> None:
        sizes = (str(options.streams), str(options.spread), str(options.tokens))
        self.name = name
        self._process = subprocess.Popen(
            [*on_core(1), python, str(PEER), name, url, *sizes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if name == "sglang" else None,
            text=True,
        )
        while (line := self._out.readline()) != "ready\n":
            if not line:
                raise SystemExit(f"{name}: the client ended before it was ready")

    @property
    def _out(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def measure(self) -> dict[str, Any]:
        """One repetition."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        while not (line := self._out.readline()).startswith("{"):
            if not line:
                raise SystemExit(f"{self.name}: the client ended in the middle of a repetition")
        result: dict[str, Any] = json.loads(line)
        return result

    def close(self) -> None:
        self._process.communicate()


def on_core(core: int) -> list[str]:
    """Keep the mock and the client measured apart, where there are cores and a tool for it."""
    usable = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(usable[core])] if len(usable) > 1 and shutil.which("taskset") else []


def call(method: str, url: str) -> Any:
    """One call to the mock's books."""
    with urllib.request.urlopen(urllib.request.Request(url, method=method)) as reply:
        return json.loads(reply.read() or b"null")


def row(result: dict[str, Any], books: dict[str, Any]) -> Row:
    """A repetition's figures: the client's stamps against the mock's, stream by stream in the order of arrival."""
    truth = [
        [at for at, tokens in zip(request["write_ns"], request["tokens"], strict=True) if tokens]
        for request in books["requests"]
        if request["path"].endswith("completions")
    ]
    sent = sorted(result["stamps"])
    assert [len(stream) - 1 for stream in sent] == [len(stream) for stream in truth], "chunks were lost"
    lags = np.concatenate([np.subtract(stream[1:], real) for stream, real in zip(sent, truth, strict=True)])
    first = [stream[1] - real[0] for stream, real in zip(sent, truth, strict=True)]
    gaps = np.concatenate([np.diff(stream[1:]) for stream in sent])
    real_gaps = np.concatenate([np.diff(real) for real in truth])
    return {
        "cpu_us_per_chunk": result["cpu_ns"] / len(lags) / 1e3,
        "ttft_error_p50_ms": float(np.percentile(first, 50)) / 1e6,
        "ttft_error_p99_ms": float(np.percentile(first, 99)) / 1e6,
        "lag_p50_ms": float(np.percentile(lags, 50)) / 1e6,
        "lag_p99_ms": float(np.percentile(lags, 99)) / 1e6,
        "coalesced_share": float(np.mean(gaps < TINY_NS)),
        "mock_coalesced_share": float(np.mean(real_gaps < TINY_NS)),
        "mock_late_p50_ms": books["lateness"]["p50_ns"] / 1e6,
        "mock_late_p99_ms": books["lateness"]["p99_ns"] / 1e6,
    }


def spread(values: list[float]) -> dict[str, float]:
    """Median and range over the repetitions."""
    return {
        "median": round(statistics.median(values), 4),
        "low": round(min(values), 4),
        "high": round(max(values), 4),
    }


def pythons(options: argparse.Namespace) -> tuple[dict[str, str], dict[str, str]]:
    """The Python of each client that can run, and why the others can't."""
    found, absent = {OURS: sys.executable, "aiohttp": sys.executable}, {}
    for name, given in (("sglang", options.sglang_python), ("httpx", options.httpx_python)):
        if given is not None or importlib.util.find_spec(name) is not None:
            found[name] = given or sys.executable
        else:
            absent[name] = f"not measured: give --{name}-python, a Python that has it"
    return found, absent


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All repetitions, the clients taking turns."""
    found, absent = pythons(options)
    pace = ["--ttft", str(options.ttft), "--gap", str(options.gap)]
    command = [
        *on_core(0),
        sys.executable,
        "-m",
        "radixbench",
        "mock",
        "--port",
        "0",
        "--exit-on-stdin-eof",
        *pace,
    ]
    rows: dict[str, list[Row]] = {name: [] for name in found}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mock:
        assert mock.stdout is not None
        url = mock.stdout.readline().split()[-1]
        clients = [Client(name, python, url, options) for name, python in found.items()]
        for _ in range(options.repetitions):
            for client in clients:
                call("DELETE", f"{url}/mock/writes")
                result = client.measure()
                rows[client.name].append(row(result, call("GET", f"{url}/mock/writes")))
        for client in clients:
            client.close()
        mock.communicate()
    ratios = {
        name: spread(
            [
                mine["cpu_us_per_chunk"] / their["cpu_us_per_chunk"]
                for mine, their in zip(rows[OURS], theirs, strict=True)
            ]
        )
        for name, theirs in rows.items()
        if name != OURS
    }
    return {
        "benchmark": "client_cost",
        "streams": options.streams,
        "tokens": options.tokens,
        "spread_s": options.spread,
        "gap_s": options.gap,
        "repetitions": options.repetitions,
        "clients": {
            name: {key: spread([one[key] for one in theirs]) for key in theirs[0]}
            for name, theirs in rows.items()
        },
        "cpu_ratio_of_ours_to": ratios,
        "absent": absent,
    }


def table(result: dict[str, Any]) -> str:
    """The medians, one client a line."""
    keys = ("cpu_us_per_chunk", "ttft_error_p50_ms", "ttft_error_p99_ms", "lag_p50_ms", "coalesced_share")
    lines = ["client      " + "".join(f"{key:>20}" for key in keys)]
    for name, figures in result["clients"].items():
        lines.append(f"{name:<12}" + "".join(f"{figures[key]['median']:>20.3f}" for key in keys))
    lines += [
        f"CPU per chunk, ours / {name}: {ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"
        for name, ratio in result["cpu_ratio_of_ours_to"].items()
    ]
    lines += [f"{name}: {why}" for name, why in result["absent"].items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument(
        "--spread", type=float, default=1.0, help="seconds over which the streams start; 0 is a burst"
    )
    parser.add_argument("--ttft", type=float, default=0.05)
    parser.add_argument("--gap", type=float, default=0.02)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--sglang-python", help="a Python that has sglang")
    parser.add_argument("--httpx-python", help="a Python that has httpx")
    result = measure(parser.parse_args())
    print(table(result))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
