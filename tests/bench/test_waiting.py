"""What is said while a server isn't ready."""

from __future__ import annotations

from radixbench.bench.waiting import Waiting
from radixbench.clock import ManualClock
from radixbench.units import NS_PER_S

URL = "http://127.0.0.1:9"


def said(*, ours: bool, look_s: int, looks: int) -> list[str]:
    """The lines of a wait that looks every ``look_s`` seconds."""
    clock, lines = ManualClock(), []
    waiting = Waiting(URL, 60.0, lines.append, ours=ours, clock=clock)
    for _ in range(looks):
        waiting("connection refused")
        clock.advance(look_s * NS_PER_S)
    return lines


def test_a_server_that_should_run_is_waited_for_aloud() -> None:
    """At once and every five seconds: where, why, and for how long at most."""
    assert said(ours=False, look_s=1, looks=11) == [
        f"waiting for {URL} (connection refused), {left} s more at most" for left in (60, 55, 50)
    ]


def test_a_server_of_ours_may_start_in_silence() -> None:
    """Its start was told already; only a long one is told again."""
    assert said(ours=True, look_s=1, looks=15) == []
    assert said(ours=True, look_s=1, looks=31) == [
        "the server is starting for 15 s now",
        "the server is starting for 30 s now",
    ]
