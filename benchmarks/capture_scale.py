"""Seconds and memory to load, summarise and save a capture of very many requests.

One process makes a capture of multi-turn conversations with shared system prompts and writes it. For each
repetition a fresh process then loads it, summarises its run and saves it again, so that the peak of its resident
memory is that of these three steps alone. CPU time is told beside wall time: on a busy machine only the
former is the program's own. ``build`` is the making of the prompt tree, which happens once in a run's life.

    python benchmarks/capture_scale.py [--requests 100000] [--chunks 64] [--suffix .json] [--repetitions 3]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from radixbench.capture.environment import collect
from radixbench.capture.model import Capture, PromptTree, ProtocolRecord, Run, ServerRecord
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.capture.store import load, save
from radixbench.clock import ClockAnchor
from radixbench.metrics.summary import summarise
from radixbench.records import RequestRecord, TelemetryInfo
from radixbench.scenario.model import Scenario

TURNS = 4
SHARED, QUESTION, PAGE = 256, 32, 16
GAP_NS = 10_000_000
MIB = 1 << 20
PHASES = ("load", "summarise", "save")

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """What ``work`` gives, and what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {
        "wall_s": round(time.perf_counter() - wall, 3),
        "cpu_s": round(time.process_time() - cpu, 3),
    }


def peak_mib() -> float:
    """The largest resident size this process ever had."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB, 1)


def talks(requests: int, chunks: int) -> tuple[list[array[int]], list[array[int]]]:
    """Prompts and answers of conversations that repeat their whole history, behind sixteen system prompts."""
    rng = random.Random(4)
    systems = [array("i", rng.choices(range(32_000), k=SHARED)) for _ in range(16)]
    prompts: list[array[int]] = []
    outputs: list[array[int]] = []
    said = array("i")
    for number in range(requests):
        if number % TURNS == 0:
            said = systems[number // TURNS % len(systems)]
        prompts.append(said + array("i", rng.choices(range(32_000), k=QUESTION)))
        outputs.append(array("i", rng.choices(range(32_000), k=chunks)))
        said = prompts[-1] + outputs[-1]
    return prompts, outputs


def record(number: int, prompt: int, chunks: int, output: tuple[int, ...]) -> RequestRecord:
    """Eight conversations at a time, a token every 10 ms or so."""
    rng = random.Random(number)
    send = (number // 8) * (chunks + 4) * GAP_NS + number % 8
    at, stamps = send + rng.randrange(20_000_000, 90_000_000), []
    for _ in range(chunks):
        at += rng.randrange(GAP_NS // 2, GAP_NS)
        stamps.append(at)
    return RequestRecord(
        rid=f"{number:032x}",
        prompt=number,
        conversation=number // TURNS,
        turn=number % TURNS,
        group=number // TURNS % 16,
        requested_tokens=chunks,
        sent_prompt_tokens=prompt,
        due_ns=send,
        send_ns=send,
        end_ns=at + 100_000,
        status="completed",
        chunk_ns=tuple(stamps),
        chunk_tokens=(1,) * chunks,
        prompt_tokens=prompt,
        output_tokens=chunks,
        output_source="usage",
        cached_tokens=(prompt - QUESTION - 1) // PAGE * PAGE if number % TURNS else SHARED,
        output_ids=output,
        finish_reason="length",
        http_status=200,
        model="tiny",
    )


def capture_of(tree: PromptTree, records: tuple[RequestRecord, ...]) -> Capture:
    """One run, as a sweep would leave it."""
    run = Run(
        cell={"shared_tokens": SHARED},
        seed=0,
        mode="on",
        order=0,
        status="completed",
        error=None,
        clock_anchor=ClockAnchor(0, 0),
        start_ns=0,
        end_ns=records[-1].end_ns,
        workload_digest="",
        requested=len(records),
        server=ServerRecord("bundled", "0", 1, "http://127.0.0.1:1", "tiny", {"page_size": PAGE}),
        protocol=ProtocolRecord(
            "cold", True, 2, 1, 200, "Cache flushed.", 0, "a probe found 0 cached tokens"
        ),
        telemetry=TelemetryInfo("none", 200_000_000, 0, 0, 0, None),
        prompts=tree,
        requests=records,
    )
    return Capture(Scenario(name="scale"), collect(()), 0, 1, runs=(run,))


def make(path: Path, requests: int, chunks: int) -> dict[str, Any]:
    """Write the capture; tell what its prompt tree took."""
    prompts, outputs = talks(requests, chunks)
    tree, took = timed(lambda: build_prompt_tree(prompts, outputs))
    records = tuple(
        record(number, len(prompts[number]), chunks, tuple(outputs[number])) for number in range(requests)
    )
    save(capture_of(tree, records), path)
    return took | {"nodes": len(tree.nodes), "prompt_tokens": sum(map(len, prompts))}


def use(path: Path) -> dict[str, Any]:
    """Load, summarise, save."""
    idle = peak_mib()
    capture, loaded = timed(lambda: load(path))
    after_load = peak_mib()
    summary, summarised = timed(lambda: summarise(capture.runs[0]))
    after_summary = peak_mib()
    _, saved = timed(lambda: save(capture, path.with_name(f"again-{path.name}")))
    after_save = peak_mib()
    assert path.with_name(f"again-{path.name}").read_bytes() == path.read_bytes()
    return {
        "load": loaded,
        "summarise": summarised,
        "save": saved,
        "peak_mib": {"idle": idle, "load": after_load, "summarise": after_summary, "save": after_save},
        "efficiency": summary.cache.efficiency,
    }


def child(*arguments: str) -> Any:
    """The JSON a fresh process of this file prints last."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True, env=os.environ
    )
    return json.loads(done.stdout.splitlines()[-1])


def spread(values: list[float]) -> dict[str, float]:
    """Median and both ends."""
    return {"median": round(statistics.median(values), 3), "min": min(values), "max": max(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--suffix", default=".json", choices=[".json", ".json.gz", ".json.zst"])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--use", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make is not None:
        print(json.dumps(make(options.make, options.requests, options.chunks)))
        return
    if options.use is not None:
        print(json.dumps(use(options.use)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"scale{options.suffix}"
        sizes = ("--requests", str(options.requests), "--chunks", str(options.chunks))
        built = child("--make", str(path), *sizes)
        seen = []
        for _ in range(options.repetitions):
            seen.append(child("--use", str(path)))
            print(f"{seen[-1]}", file=sys.stderr)
        document = {
            "requests": options.requests,
            "chunks": options.chunks,
            "suffix": options.suffix,
            "repetitions": options.repetitions,
            "file_mib": round(path.stat().st_size / MIB, 1),
            "build": built,
            **{
                phase: {unit: spread([one[phase][unit] for one in seen]) for unit in ("wall_s", "cpu_s")}
                for phase in PHASES
            },
            "total": {
                unit: spread([round(sum(one[phase][unit] for phase in PHASES), 3) for one in seen])
                for unit in ("wall_s", "cpu_s")
            },
            "peak_mib": spread([one["peak_mib"]["save"] for one in seen]),
            "peak_mib_after_load": spread([one["peak_mib"]["load"] for one in seen]),
        }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
