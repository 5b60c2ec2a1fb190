"""Seconds, memory and file size to render a comparison of very many requests as one HTML page.

One process makes two captures, cache on and off, of three seeds each: conversations as in ``capture_scale``, with
scheduler steps and a card's samples beside the requests. For each repetition ``radixbench report A B -o page.html``
then runs as a process of its own: ``command`` is all it took, start-up included, and the peak of its resident memory.
As a detail, another process takes the same steps one by one: load, summarise, compare, build the view, render the page.
CPU time is told beside wall time: on a busy machine only the former is the program's own. ``--figures`` prints what
each figure of the page takes. With captures named, those are rendered instead.

    python benchmarks/render_scale.py [--requests 100000] [--chunks 64] [--repetitions 3] [--figures] [A B]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from capture_scale import GAP_NS, MIB, SHARED, capture_of, peak_mib, record, talks, timed

from radixbench.capture.model import Run
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.capture.store import save
from radixbench.cli.terms import Terms
from radixbench.compare.arm import gather
from radixbench.compare.comparison import compare_arms
from radixbench.compare.verdict import HEADLINE, THRESHOLD
from radixbench.records import DeviceInfo, GpuSample, Mode, RequestRecord, StepRecord
from radixbench.report import charts
from radixbench.report.html import render
from radixbench.report.palette import NAMED
from radixbench.report.view import build_view

SEEDS = 3
IN_FLIGHT = 64
MISS_NS = 120_000_000
SAMPLE_NS = 50_000_000
PHASES = ("load", "summarise", "compare", "view", "render")


def crowded(one: RequestRecord, chunks: int) -> RequestRecord:
    """The request in a run of ``IN_FLIGHT`` at a time."""
    send = one.prompt // IN_FLIGHT * (chunks + 4) * GAP_NS + one.prompt % IN_FLIGHT
    earlier = one.send_ns - send
    return replace(
        one,
        due_ns=send,
        send_ns=send,
        end_ns=one.end_ns - earlier,
        chunk_ns=tuple(at - earlier for at in one.chunk_ns),
    )


def uncached(one: RequestRecord) -> RequestRecord:
    """The request as a server without a cache answers it: later, and with nothing cached."""
    stamps = tuple(at + MISS_NS for at in one.chunk_ns)
    return replace(one, chunk_ns=stamps, end_ns=one.end_ns + MISS_NS, cached_tokens=0)


def steps(requests: tuple[RequestRecord, ...]) -> tuple[StepRecord, ...]:
    """A prefill step for each request and a decode step after it."""
    found: list[StepRecord] = []
    for one in requests:
        cached = one.cached_tokens or 0
        prefill = StepRecord(
            phase="prefill",
            step=len(found),
            start_ns=one.send_ns,
            end_ns=one.send_ns + 4 * GAP_NS // 10,
            host_ns=1000,
            new_seq=1,
            new_tokens=(one.prompt_tokens or 0) - cached,
            cached_tokens=cached,
            running_req=len(found) % 8,
            queue_req=len(found) % 5,
            pending_tokens=0,
            held_tokens=1000,
            used_slots=1000 + len(found) % 4096,
            pool_slots=65_536,
        )
        found.append(prefill)
        found.append(
            replace(
                prefill,
                phase="decode",
                step=len(found),
                start_ns=prefill.end_ns,
                end_ns=prefill.end_ns + GAP_NS // 2,
                new_seq=0,
                new_tokens=8,
                cached_tokens=0,
            )
        )
    return tuple(found)


def samples(end_ns: int) -> tuple[GpuSample, ...]:
    """A card read twenty times a second, held back now and then."""
    return tuple(
        GpuSample(
            at_ns=at,
            sm_clock_mhz=1980 - at // SAMPLE_NS % 7 * 15,
            memory_clock_mhz=2619,
            event_reasons=0x4 if at // SAMPLE_NS % 97 < 3 else 0,
            power_mw=520_000 + at // SAMPLE_NS % 60 * 1000,
            temperature_c=66 + at // SAMPLE_NS % 5,
            utilization_pct=98,
            memory_used_bytes=80 << 30,
        )
        for at in range(0, end_ns, SAMPLE_NS)
    )


def run_of(base: Run, mode: Mode, seed: int, requests: tuple[RequestRecord, ...]) -> Run:
    """One seed of one arm, beginning where the ones before have ended."""
    end = requests[-1].end_ns
    return replace(
        base,
        seed=seed,
        mode=mode,
        order=2 * seed + (mode == "off"),
        end_ns=end,
        clock_anchor=replace(base.clock_anchor, wall_ns=(2 * seed + (mode == "off")) * (end + GAP_NS)),
        requested=len(requests),
        protocol=replace(base.protocol, declared="cold" if mode == "on" else "off"),
        telemetry=replace(
            base.telemetry,
            probe="nvml",
            interval_ns=SAMPLE_NS,
            devices=(DeviceInfo(0, "NVIDIA H200", max_sm_clock_mhz=1980, power_limit_mw=700_000),),
        ),
        requests=requests,
        steps=steps(requests),
        gpu=samples(end),
    )


def make(folder: Path, requests: int, chunks: int) -> dict[str, Any]:
    """Write both captures, with ``requests`` over both arms and all seeds."""
    each = requests // (2 * SEEDS)
    prompts, outputs = talks(each, chunks)
    tree = build_prompt_tree(prompts, outputs)
    records = tuple(
        crowded(record(i, len(prompts[i]), chunks, tuple(outputs[i])), chunks) for i in range(each)
    )
    base = capture_of(tree, records)
    arms: dict[Mode, tuple[RequestRecord, ...]] = {"on": records, "off": tuple(map(uncached, records))}
    sizes = {}
    for mode, found in arms.items():
        runs = tuple(run_of(base.runs[0], mode, seed, found) for seed in range(SEEDS))
        path = folder / f"{mode}.json.gz"
        save(replace(base, planned_runs=SEEDS, runs=runs), path)
        sizes[mode] = path.stat().st_size
    return {"requests": 2 * SEEDS * each, "shared": SHARED, "capture_bytes": sizes}


def use(a_path: Path, b_path: Path) -> dict[str, Any]:
    """Load, summarise, compare, build the view, render."""
    spent: dict[str, Any] = {}
    peaks: dict[str, float] = {"idle": peak_mib()}

    def phase(name: str, work: Any) -> Any:
        result, spent[name] = timed(work)
        peaks[name] = peak_mib()
        return result

    a, b = phase("load", lambda: Terms(HEADLINE, THRESHOLD, None, ()).load([a_path, b_path], None))
    arms = phase("summarise", lambda: (gather("A", a, None), gather("B", b, None)))
    comparison = phase("compare", lambda: compare_arms(*arms))
    view = phase("view", lambda: build_view(comparison, a, b, arms=arms))
    html = phase("render", lambda: render(view))
    return {
        **spent,
        "total": added(spent, PHASES),
        "peak_mib": peaks,
        "html_bytes": len(html.encode()),
        "runtime_bytes": len(charts.runtime()),
        "figures": [figure_size(figure) for figure in view.figures],
    }


def added(spent: dict[str, Any], phases: tuple[str, ...]) -> dict[str, float]:
    """What some phases took together."""
    return {unit: round(sum(spent[one][unit] for one in phases), 3) for unit in ("wall_s", "cpu_s")}


def figure_size(figure: Any) -> dict[str, Any]:
    """What a figure adds to a page: its stills, its live charts (packed), its table, in bytes."""
    stills = sum(len(charts.svg(panel, NAMED, font="inherit").encode()) for panel in figure.panels)
    live = {panel.key: charts.live(panel, NAMED) for panel in figure.panels}
    cells = figure.grid.rows if figure.grid else ()
    return {
        "figure": figure.key,
        "panels": len(figure.panels),
        "rows": sum(len(panel.rows) for panel in figure.panels),
        "still": stills,
        "live": len(gzip.compress(json.dumps(live).encode(), mtime=0)) * 4 // 3,
        "table": sum(len(cell.encode()) + len("<td></td>") for row in cells for cell in row),
    }


def command(a: Path, b: Path) -> dict[str, float]:
    """What the command takes from start to end: seconds, and its peak resident memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("report", str(a), str(b), "-o", str(Path(folder) / "page.html"))
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "radixbench", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    if status:
        raise SystemExit(f"radixbench {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    cpu = used.ru_utime + used.ru_stime
    return {
        "wall_s": round(wall, 3),
        "cpu_s": round(cpu, 3),
        "peak_mib": round(used.ru_maxrss * 1024 / MIB, 1),
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


def print_figures(found: list[dict[str, Any]]) -> None:
    """The size table on standard error."""
    columns = ("panels", "rows", "still", "live", "table")
    print(f"{'figure':14}" + "".join(f"{name:>9}" for name in columns), file=sys.stderr)
    for one in found:
        print(f"{one['figure']:14}" + "".join(f"{one[name]:9,}" for name in columns), file=sys.stderr)


def measure(a: Path, b: Path, repetitions: int, figures: bool) -> dict[str, Any]:
    """Render in so many fresh processes."""
    seen, commands = [], []
    for _ in range(repetitions):
        commands.append(command(a, b))
        seen.append(child("--use", str(a), str(b)))
        print(commands[-1], file=sys.stderr)
        print({key: seen[-1][key] for key in (*PHASES, "total", "peak_mib")}, file=sys.stderr)
    if figures:
        print_figures(seen[0]["figures"])
    return {
        "repetitions": repetitions,
        "load_average": round(os.getloadavg()[0], 1),
        "command": {
            what: spread([one[what] for one in commands]) for what in ("wall_s", "cpu_s", "peak_mib")
        },
        **{
            phase: {unit: spread([one[phase][unit] for one in seen]) for unit in ("wall_s", "cpu_s")}
            for phase in (*PHASES, "total")
        },
        "peak_mib": spread([max(one["peak_mib"].values()) for one in seen]),
        "html_bytes": seen[0]["html_bytes"],
        "runtime_bytes": seen[0]["runtime_bytes"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", nargs="*", type=Path, help="two captures to render instead")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--figures", action="store_true", help="print the size of every figure")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--use", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make is not None:
        print(json.dumps(make(options.make, options.requests, options.chunks)))
    elif options.use:
        print(json.dumps(use(*options.captures)))
    elif options.captures:
        print(json.dumps(measure(*options.captures, options.repetitions, options.figures)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            sizes = ("--requests", str(options.requests), "--chunks", str(options.chunks))
            made = child("--make", folder, *sizes)
            arms = [Path(folder) / f"{mode}.json.gz" for mode in ("on", "off")]
            print(json.dumps(made | measure(arms[0], arms[1], options.repetitions, options.figures)))


if __name__ == "__main__":
    main()
