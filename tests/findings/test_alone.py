"""Whether others who used the server set a run aside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.capture.model import Check, Run
from radixbench.compare.comparison import compare
from radixbench.findings.alone import disturbed
from radixbench.records import ServerCounters
from tests.builders import make_request, make_run, make_sweep
from tests.faults.finding import codes, found


def shared_server(run: Run, counters: ServerCounters | None) -> Run:
    """The run with a check that others were there, and the server's counts."""
    checks = (Check("alone", False, "the server counted others"), Check("alone", True, "fine"))
    return replace(run, protocol=replace(run.protocol, checks=checks), counters=counters)


def plain() -> Run:
    """Two hundred requests of 32 tokens."""
    return make_run([make_request(i, send_s=0.01 * i) for i in range(200)])


@pytest.mark.parametrize(
    "counters",
    [
        None,
        ServerCounters("/metrics", requests=203),
        ServerCounters("/metrics", requests=201, prompt_tokens=6400 + 1000),
    ],
)
def test_others_with_a_share_set_the_run_aside(counters: ServerCounters | None) -> None:
    """More than 1 % of our requests or tokens, or an unknown part."""
    run = shared_server(plain(), counters)
    assert disturbed(run)
    told = found(run, "not-alone")
    assert told.severity == "serious"
    assert told.text == (
        "somebody else used the server meanwhile: the server counted others; the run is set aside"
    )


def test_a_health_check_doesnt() -> None:
    """One short request among 200: told, with why the figures stay."""
    run = shared_server(plain(), ServerCounters("/metrics", requests=201, prompt_tokens=6400 + 5))
    assert not disturbed(run)
    told = found(run, "not-alone")
    assert told.severity == "warning"
    assert told.text.endswith("no more than 1.0 % of our requests and prompt tokens, so the run still counts")
    assert "not-alone" not in codes(plain())


def test_a_disturbed_run_bears_no_verdict() -> None:
    """One of four pairs is left out; where all are, the rows say who withheld the verdict."""
    on, off = make_sweep(seeds=4)
    first = shared_server(on.runs[0], None)
    one = compare(replace(on, runs=(first, *on.runs[1:])), off).changes[0]
    assert [seed for seed, _, _ in one.pairs] == [1, 2, 3]
    assert one.verdict == "better"
    every = compare(replace(on, runs=tuple(shared_server(run, None) for run in on.runs)), off).changes[0]
    assert (every.verdict, every.reason) == ("undecided", "others used the server in every pair of runs")
