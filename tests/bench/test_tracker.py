"""What a watcher is told, and the time it is told is left."""

from __future__ import annotations

from dataclasses import replace

from radixbench.bench.deadline import Deadline
from radixbench.bench.progress import Further, Progress, Running
from radixbench.bench.pulse import Pulse
from radixbench.bench.schedule import schedule
from radixbench.bench.tracker import Tracker
from radixbench.clock import ManualClock
from radixbench.scenario.load import load
from radixbench.units import NS_PER_S
from tests.builders import failed_request, make_request, make_run


def test_time_left_follows_the_runs_that_are_done() -> None:
    """A run is foretold by its own cell and arm, else its arm, else all; the present run's time counts off."""
    clock = ManualClock()
    events: list[Progress] = []
    tracker = Tracker(events.append, clock=clock)
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
    tracker.pulse(Pulse(3, 8, 1, "SM 1410 MHz"))
    assert (events[-1].done, events[-1].total, events[-1].run, events[-1].runs) == (3, 8, 3, 4)
    assert (events[-1].errors, events[-1].clock) == (1, "SM 1410 MHz")
    assert events[-1].left_s == 6.0 + 1.0


class Known:
    """Somebody who knows one estimate of every cell."""

    def __init__(self) -> None:
        self.asked = 0

    def running(self, cell: object) -> tuple[Running, ...]:
        del cell
        self.asked += 1
        return (Running("ttft_p50", 2.0, 1.9, 2.1, self.asked),)


def test_estimates_are_asked_for_between_runs_only() -> None:
    """When a run begins and when it ends; the beats in between tell what was known before."""
    events: list[Progress] = []
    known = Known()
    tracker = Tracker(events.append, known, ManualClock())
    plans = schedule(replace(load("default"), seeds=1))
    tracker.plan(plans)
    tracker.begin(plans[0])
    for done in range(100):
        tracker.pulse(Pulse(done, 100, 0, None))
    assert known.asked == 1
    assert {event.running for event in events} == {known_at(1)}
    tracker.end(plans[0], make_run([make_request()], seed=0, mode="on", order=0))
    assert events[-1].running == known_at(2)


def known_at(asked: int) -> tuple[Running, ...]:
    """What ``Known`` says when asked so often."""
    return (Running("ttft_p50", 2.0, 1.9, 2.1, asked),)


def test_the_time_to_the_target_counts_seeds_that_are_not_planned_yet() -> None:
    """So many more seeds of a cell cost as much as its runs took; the time left is that of what is planned."""
    clock = ManualClock()
    events: list[Progress] = []
    tracker = Tracker(events.append, clock=clock)
    scenario = load("default")
    plans = schedule(replace(scenario, seeds=1, workload=replace(scenario.workload, shared=(0, 64))))
    tracker.plan(plans)
    tracker.aim(0.05, lambda: Further({0: 0, 1: 3}, enough=False))
    for plan in plans:
        tracker.begin(plan)
        clock.advance((1 if plan.cell_index == 0 else 10) * NS_PER_S)
        tracker.end(plan, make_run([make_request()], seed=0, mode="on", order=0))
    assert events[-1].target == 0.05
    assert events[-1].left_s == 0.0
    assert events[-1].target_left_s == 3 * (10.0 + 10.0)
    assert not events[-1].target_near


def test_a_limit_that_comes_first_is_told() -> None:
    """Only while it does: a sweep that is over before has no end but its own."""
    clock = ManualClock()
    events: list[Progress] = []
    tracker = Tracker(events.append, clock=clock, deadline=Deadline(clock, 45.0))
    plans = schedule(replace(load("default"), seeds=1))
    tracker.plan(plans)
    assert len(plans) == 6
    for plan in plans[:5]:
        tracker.begin(plan)
        clock.advance(10 * NS_PER_S)
        tracker.end(plan, make_run([make_request()], seed=0, mode="on", order=0))
    ends = [event for event in events if event.stage == "saved"]
    assert [event.left_s for event in ends] == [50.0, 40.0, 30.0, 20.0, 10.0]
    assert [event.limit_s for event in ends] == [35.0, 25.0, 15.0, 5.0, 0.0]
    assert events[0].limit_s is None, "nothing is known of the time left"
    unhurried = Tracker(events.append, clock=clock, deadline=Deadline(clock, 1000.0))
    unhurried.plan(plans)
    unhurried.begin(plans[0])
    clock.advance(10 * NS_PER_S)
    unhurried.end(plans[0], make_run([make_request()], seed=0, mode="on", order=0))
    assert events[-1].limit_s is None


def test_runs_that_failed_are_counted() -> None:
    """Those that left nothing, and those whose status says so; the failed requests are the present run's."""
    events: list[Progress] = []
    tracker = Tracker(events.append, clock=ManualClock())
    plans = schedule(replace(load("default"), seeds=1))
    tracker.plan(plans)
    tracker.begin(plans[0])
    tracker.fail(plans[0], "run 1 was not measured: because")
    assert (events[-1].stage, events[-1].failed_runs) == ("note", 1)
    tracker.pulse(Pulse(1, 8, 0, "SM 1410 MHz"))
    tracker.begin(plans[1])
    assert events[-1].clock == "SM 1410 MHz", "the last reading is still the last one"
    broken = make_run(
        [make_request(0), failed_request(1)], seed=0, mode="off", order=1, status="incomplete", error="cut"
    )
    tracker.end(plans[1], broken)
    assert (events[-1].done, events[-1].errors, events[-1].failed_runs) == (1, 1, 2)


def test_a_run_s_number_is_its_place_in_the_plan() -> None:
    """Whatever order it was given when a sweep that had grown was gone on with."""
    events: list[Progress] = []
    tracker = Tracker(events.append, clock=ManualClock())
    plans = schedule(replace(load("default"), seeds=1))
    moved = (*plans[:2], *(replace(plan, order=plan.order + 10) for plan in plans[2:]))
    tracker.plan(moved)
    tracker.begin(moved[3])
    assert (events[-1].run, events[-1].runs) == (4, 6)
