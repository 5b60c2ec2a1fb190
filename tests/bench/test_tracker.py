"""What a watcher is told, and the time it is told is left."""

from __future__ import annotations

from dataclasses import replace

from radixbench.bench.progress import Progress
from radixbench.bench.schedule import schedule
from radixbench.bench.tracker import Tracker
from radixbench.clock import ManualClock
from radixbench.scenario.load import load
from radixbench.units import NS_PER_S
from tests.builders import make_request, make_run


def test_time_left_follows_the_runs_that_are_done() -> None:
    """A run is foretold by its own cell and arm, else its arm, else all; the present run's time counts off."""
    clock = ManualClock()
    events: list[Progress] = []
    tracker = Tracker(events.append, clock)
    scenario = load("default")
    plans = schedule(replace(scenario, seeds=1, workload=replace(scenario.workload, shared=(0, 64))))
    tracker.plan(plans)
    done = make_run([make_request()], seed=0, mode="on", order=0)
    for plan, took_s in zip(plans[:2], (1, 10), strict=True):
        tracker.begin(plan)
        clock.advance(took_s * NS_PER_S)
        tracker.end(plan, done)
    assert events[0].left_s is None
    assert events[1].left_s == 3.0
    assert events[-1].left_s == 10.0 + 1.0
    tracker.begin(plans[2])
    clock.advance(4 * NS_PER_S)
    tracker.requests(3, 8)
    assert (events[-1].done, events[-1].total, events[-1].run, events[-1].runs) == (3, 8, 3, 4)
    assert events[-1].left_s == 6.0 + 1.0
