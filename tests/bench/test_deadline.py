"""What a time limit counts, and how it is told."""

from __future__ import annotations

from radixbench.bench.deadline import Deadline
from radixbench.clock import ManualClock
from radixbench.units import NS_PER_S


def test_preparation_counts() -> None:
    """A limit that servers and calibration use up leaves no run, and the line says where the time went."""
    clock = ManualClock()
    deadline = Deadline(clock, 30.0)
    clock.advance(31 * NS_PER_S)
    deadline.begun()
    assert not deadline.allows(None)
    assert deadline.words(0, 12) == (
        "nothing was measured: --max-time 30 s was up before the first of 12 runs; servers and calibration count,"
        " and took 31.0 s"
    )


def test_a_run_too_long_for_what_is_left_is_named() -> None:
    """Some time is left, and the next run wouldn't end in it."""
    clock = ManualClock()
    deadline = Deadline(clock, 60.0)
    clock.advance(10 * NS_PER_S)
    deadline.begun()
    clock.advance(40 * NS_PER_S)
    assert deadline.allows(10.0)
    assert not deadline.allows(10.1)
    assert deadline.words(4, 12) == (
        "--max-time 60 s ends here: 4 of 12 runs are measured, the next takes about 10.1 s"
        " (servers and calibration took 10.0 s of it)"
    )


def test_without_a_limit_there_is_always_time() -> None:
    """Nothing bounds a sweep by default."""
    assert Deadline(ManualClock(), None).allows(1e9)
