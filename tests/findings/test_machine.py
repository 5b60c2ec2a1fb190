"""Others' work on the machine: told only where client and server can't have been it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Capture, Run
from radixbench.compare.single import single_caveats
from radixbench.records import ClientRecord, GpuSample
from tests.builders import make_capture, make_request, make_run, ns
from tests.faults.finding import found_in_capture


def loaded(pct: float | None, *, threads: int | None = 1, client_s: float = 9.9, samples: int = 10) -> Run:
    """A run of 99 s at this load, with a client that used ``client_s`` of CPU time."""
    client = ClientRecord(ns(client_s), 9, 9, 0, 1000, 10_000_000, 0, 5_000_000, 0)
    gpu = tuple(GpuSample(at_ns=ns(1.0 + i), cpu_load_pct=pct) for i in range(samples))
    early = GpuSample(at_ns=ns(-1.0), cpu_load_pct=0.0)
    identity: dict[str, Any] = {} if threads is None else {"threads": threads}
    return make_run([make_request(0)], client=client, gpu=(early, *gpu), identity=identity)


def busy(capture: Capture) -> bool:
    """Whether the capture tells of others' work."""
    return "machine-busy" in {one.code for one in single_caveats(capture)}


def test_a_busy_machine_is_told_with_numbers() -> None:
    """Both cores full, of which one thread and a tenth of a core twice are ours."""
    told = found_in_capture(make_capture([loaded(100.0), loaded(95.0), loaded(50.0)]), "machine-busy")
    assert told.severity == "warning"
    assert told.text == (
        "in 2 of 3 runs others used the machine too, in the worst at least 40 % of its 2 cores: 100 % was busy, and client and"
        " server can have used 1.2 cores"
    )
    assert told.cell == (("shared_tokens", 0),)
    assert told.metrics is not None
    assert "ttft_p50" in told.metrics
    assert "hit_rate" not in told.metrics


@pytest.mark.parametrize(
    "run",
    [
        loaded(62.0),
        loaded(100.0, threads=2),
        loaded(100.0, threads=None),
        loaded(100.0, threads=-4),
        loaded(100.0, threads=True),
        loaded(100.0, samples=4),
        loaded(100.0, client_s=60.0),
        loaded(None),
    ],
)
def test_what_may_be_ours_accuses_nobody(run: Run) -> None:
    """A load that client and server explain, threads that aren't stated, too few samples."""
    assert not busy(make_capture([run]))


def test_without_the_number_of_cores_nothing_is_told() -> None:
    """A share of nobody knows what."""
    capture = make_capture([loaded(100.0)])
    assert busy(capture)
    assert not busy(replace(capture, environment=replace(capture.environment, cores=None)))
