"""Whether the machine was busy with others' work while it was measured.

Samples tell how busy all its cores were, our own client and server included. The client's CPU time is known; our
server computes on so many threads as it says, and its event loop, which writes what the client reads, is taken to
cost as much as the client. What is beyond that, others must have used: a bound from below, as a part of the cores
this process may use is at least as large a part of the machine. Of a server that doesn't state its threads
nothing can be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from radixbench.capture.model import Capture, Run
from radixbench.findings.cell import cell_key
from radixbench.findings.model import Finding
from radixbench.findings.words import percent, several
from radixbench.metrics.registry import METRICS

BUSY_SHARE = 0.2
"""The share of the machine from which on others' work is told."""

_FEWEST_SAMPLES = 5
_TIMED = frozenset(METRICS) - {"hit_rate", "cached_tokens", "hit_efficiency"}


class _Burden(NamedTuple):
    """The mean load and others' least part of it as shares of the machine, and the most cores that were ours."""

    load: float
    own_cores: float
    others: float


def busy_findings(capture: Capture) -> Iterator[Finding]:
    """Cells with runs during which others must have used a good share of the machine's cores, all in one sentence."""
    cores = capture.environment.cores
    burdens = [(run.cell, burden) for run in capture.runs if (burden := _burden(run, cores)) is not None]
    busy = [(cell, burden) for cell, burden in burdens if burden.others >= BUSY_SHARE]
    if not busy or cores is None:
        return
    worst = max((burden for _, burden in busy), key=lambda burden: burden.others)
    for cell in dict.fromkeys(cell_key(cell) for cell, _ in busy):
        yield Finding(
            "machine-busy",
            "warning",
            f"in {len(busy):,} of {several(len(capture.runs), 'run')} others used the machine too, in the worst at least"
            f" {percent(worst.others)} of its {several(cores, 'core')}: {percent(worst.load)} was busy, and client and server can"
            f" have used {worst.own_cores:.1f} cores",
            "end what else runs on this machine, or measure on one of its own",
            cell=cell,
            metrics=_TIMED,
        )


def _burden(run: Run, cores: int | None) -> _Burden | None:
    """What the run's samples tell; ``None`` where others' part can't be told from ours."""
    load, own = _load(run), _own_cores(run)
    return (
        None if load is None or own is None or not cores else _Burden(load, own, max(load - own / cores, 0.0))
    )


def _load(run: Run) -> float | None:
    """Mean share of all cores that was busy during the run; ``None`` with too few samples."""
    loads = [
        sample.cpu_load_pct
        for sample in run.gpu
        if sample.cpu_load_pct is not None and run.start_ns <= sample.at_ns <= run.end_ns
    ]
    return min(sum(loads) / len(loads) / 100, 1.0) if len(loads) >= _FEWEST_SAMPLES else None


def _own_cores(run: Run) -> float | None:
    """The most cores that client and server can have used; ``None`` where that isn't known."""
    threads, span = run.server.identity.get("threads"), run.end_ns - run.start_ns
    if run.client is None or span <= 0 or isinstance(threads, bool) or not isinstance(threads, int):
        return None
    if threads < 1:  # no server has so few
        return None
    return threads + 2 * run.client.cpu_ns / span
