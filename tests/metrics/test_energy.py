"""Energy of a window, by the counter or by power."""

from __future__ import annotations

import pytest

from radixbench.metrics.energy import Energy, energy
from radixbench.records import GpuSample
from radixbench.stats.sample import Absent
from tests.builders import make_run, ns


def counted(*readings: tuple[float, int]) -> list[GpuSample]:
    """Seconds and millijoules; power says something else."""
    return [GpuSample(at_ns=ns(at), energy_mj=mj, power_mw=1_000) for at, mj in readings]


def test_the_counter_is_taken_first() -> None:
    """600 J in 2 s, evenly: the middle second took 300 J."""
    run = make_run([], gpu=counted((0, 5_000), (2, 605_000)))
    assert energy(run, 0, ns(0.5), ns(1.5)) == Energy(pytest.approx(300), integrated=False)


def test_power_stands_in_and_is_named() -> None:
    """100 W rising to 300 W over 2 s is 400 J; from 0.5 to 1.5 s it is 200 J."""
    samples = [GpuSample(at_ns=ns(at), power_mw=mw) for at, mw in ((0, 100_000), (1, 200_000), (2, 300_000))]
    run = make_run([], gpu=samples)
    assert energy(run, 0, 0, ns(2)) == Energy(pytest.approx(400), integrated=True)
    assert energy(run, 0, ns(0.5), ns(1.5)) == Energy(pytest.approx(200), integrated=True)


def test_a_counter_that_falls_isnt_believed() -> None:
    """The driver was loaded anew: power stands in."""
    found = energy(make_run([], gpu=counted((0, 9_000), (1, 10), (2, 20))), 0, 0, ns(2))
    assert found == Energy(pytest.approx(2.0), integrated=True)


@pytest.mark.parametrize(
    "samples", [[], counted((0.5, 0), (2, 1)), [GpuSample(at_ns=0), GpuSample(at_ns=ns(2))]]
)
def test_readings_must_cover_the_window(samples: list[GpuSample]) -> None:
    """What wasn't read isn't guessed."""
    assert isinstance(energy(make_run([], gpu=samples), 0, 0, ns(1)), Absent)
