"""A whole sweep: servers up, runs in their order, a capture per arm saved after every run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from radixbench.bench.agenda import Agenda
from radixbench.bench.arm import Arm
from radixbench.bench.beginning import Settled, Wish, settle
from radixbench.bench.command import resume_words
from radixbench.bench.deadline import Deadline
from radixbench.bench.fleet import Fleet, Orders
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.progress import OnProgress
from radixbench.bench.results import Results
from radixbench.bench.run import describe, incomplete_because, measure
from radixbench.bench.schedule import RunPlan
from radixbench.bench.shelf import Shelf
from radixbench.bench.tracker import Tracker
from radixbench.bench.until import Ending, Until, floor
from radixbench.bench.window import Bench
from radixbench.capture.model import Capture
from radixbench.client.loop import run as run_loop
from radixbench.clock import MonotonicClock
from radixbench.errors import IncompleteError, InterruptedRunError, RadixbenchError, UsageError
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import at_cell
from radixbench.telemetry.probes import pick_probe
from radixbench.units import Seconds

_MOST_FAILURES = 3


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What a sweep left: the captures as saved, and the error that ended it or that runs ended with.

    Captures and paths come by arm, in the order in which the scenario names them. ``ending`` says how a sweep that
    grows until its intervals are narrow came to its end.
    """

    scenario: Scenario
    captures: dict[ArmName, Capture]
    paths: dict[ArmName, Path]
    error: RadixbenchError | None
    ending: Ending | None = None


def run_sweep(  # noqa: PLR0913 - one keyword for each way a sweep can be wished for
    scenario: Scenario,
    paths: OutputPaths,
    *,
    on_progress: OnProgress,
    should_stop: Callable[[], bool],
    argv: Sequence[str],
    server_arguments: Sequence[str] = (),
    keep_text: bool = False,
    resume: bool = False,
    max_time_s: Seconds | None = None,
    calibrate: bool = True,
    until: float | None = None,
) -> SweepOutcome:
    """Measure every run of ``scenario``; ``server_arguments`` are passed on to each server of ours.

    ``resume`` keeps the whole pairs that the captures hold already. A run that can't be expected to end within
    ``max_time_s`` of this call, which starts servers and calibrates first, isn't started. ``until`` adds seeds, to five
    at least, until every gated interval is within that share of its value. Raises whatever ends it
    before anything was measured, and then leaves no captures; from then on whatever happens is in the outcome and
    the captures hold all that was measured, and why what failed did.
    """
    deadline = Deadline(MonotonicClock(), max_time_s)
    if until is not None:
        scenario = replace(scenario, seeds=floor(scenario.seeds))
    shelf = Shelf(paths, until)
    results = Results(shelf.captures)
    tracker = Tracker(on_progress, results, deadline=deadline)
    with contextlib.closing(pick_probe()) as probe:
        orders = Orders(
            scenario,
            paths,
            tuple(server_arguments),
            probe,
            should_stop,
            lambda stage, text, arm: tracker.note(stage, text, arm=arm),
        )
        with contextlib.closing(Fleet(orders)) as fleet:
            wish = Wish(tuple(argv), resume, calibrate, probe, until is not None)
            settled = settle(scenario, fleet, tracker, paths, wish)
            shelf.begin(settled)
            rule = None if until is None else Until(settled.scenario, until, results)
            agenda = Agenda(settled, rule, shelf, tracker, deadline)
            deadline.begun()
            bench = Bench(settled.scenario, probe, keep_text, should_stop)
            go_on = resume_words(argv, paths)
            error = _Sweep(settled, agenda, fleet, shelf, tracker, bench, deadline, go_on).run_all()
    captures = {arm: shelf.captures[arm] for arm in arms(settled.scenario)}
    if error is not None and (shelf.drop_empty() or (isinstance(error, UsageError) and not shelf.runs)):
        raise error
    return SweepOutcome(settled.scenario, captures, dict(paths.captures), error, agenda.ending(go_on))


class _Attempt(NamedTuple):
    """How one run went: ``kept`` in a capture or not, and what is wrong with it."""

    fault: RadixbenchError | None
    kept: bool


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The runs of a settled sweep; ``go_on`` says how to resume it."""

    settled: Settled
    agenda: Agenda
    fleet: Fleet
    shelf: Shelf
    tracker: Tracker
    bench: Bench
    deadline: Deadline
    go_on: str

    def run_all(self) -> RadixbenchError | None:
        """Every run in turn; returns the error that ended the sweep, or the last incomplete run's."""
        incomplete: RadixbenchError | None = None
        failed_in_a_row = 0
        for plan in self.agenda.coming():
            if self.bench.should_stop():
                break
            if not self.agenda.may_begin(plan):
                return self._out_of_time()
            fault, kept = self._attempt(plan)
            failed_in_a_row = 0 if kept else failed_in_a_row + 1
            incomplete = fault or incomplete
            if self.bench.should_stop() or self._ends(fault, failed_in_a_row, plan):
                break
        return self._interrupted() if self.bench.should_stop() else self._resumable(incomplete)

    def _attempt(self, plan: RunPlan) -> _Attempt:
        """One run, and what is wrong with it if anything is."""
        try:
            return _Attempt(self._one(plan), kept=True)
        except IncompleteError as error:
            return _Attempt(self._failed(plan, error), kept=False)
        except RadixbenchError as error:
            return _Attempt(error, kept=False)

    def _ends(self, fault: RadixbenchError | None, failed_in_a_row: int, plan: RunPlan) -> bool:
        """Whether a fault ends the sweep: what isn't one run's alone, a server that is gone, one after the other."""
        if fault is None:
            return False
        if not isinstance(fault, IncompleteError) or failed_in_a_row == _MOST_FAILURES:
            return True
        return not self.fleet.serves(plan.arm)

    def _one(self, plan: RunPlan) -> IncompleteError | None:
        """Measure and keep one run; returns why it is incomplete.

        Raises ``IncompleteError`` for one that leaves nothing to keep.
        """
        arm = self._arm(plan)
        self.tracker.begin(plan)
        asked = self.settled.traffic.asked(plan, arm.facts)
        with self.fleet.explaining_death(arm.server):
            run = run_loop(measure(plan, self.bench, arm, asked, self.tracker.pulse))
        self.fleet.used(plan.arm)
        self.shelf.add(plan.arm, run, interrupted=self.bench.should_stop())
        self.tracker.end(plan, run)
        return None if run.status == "completed" else incomplete_because(plan, run)

    def _arm(self, plan: RunPlan) -> Arm:
        return self.fleet.arm(plan.arm, at_cell(self.settled.scenario, plan.cell).engine)

    def _failed(self, plan: RunPlan, error: IncompleteError) -> IncompleteError:
        """Keep the reason of a run that left nothing else; a stop is none."""
        if self.bench.should_stop():
            return error
        self.shelf.fail(plan, error.message)
        self.tracker.fail(plan, f"run {plan.order + 1} was not measured: {error.message}")
        where = describe(plan)
        return IncompleteError(
            f"run {plan.order + 1} ({where}) was not measured: {error.message}", remedy=error.remedy
        )

    def _out_of_time(self) -> IncompleteError:
        done = self.shelf.runs
        words = self.deadline.words(done, len(self.agenda.plans))
        return IncompleteError(words, remedy=self.go_on if done else "allow more time")

    def _interrupted(self) -> InterruptedRunError:
        self.shelf.interrupt()
        done, all_of_them = self.shelf.runs, len(self.agenda.plans)
        if not done:
            return InterruptedRunError(f"interrupted before the first of {all_of_them} runs was measured")
        return InterruptedRunError(
            f"interrupted after {done} of {all_of_them} runs",
            remedy=f"what was measured is in {self.shelf.directory}; {self.go_on}",
        )

    def _resumable(self, fault: RadixbenchError | None) -> RadixbenchError | None:
        """An incomplete sweep's error says how to go on; one that nothing was measured of is simply begun again."""
        if not isinstance(fault, IncompleteError) or not self.shelf.runs:
            return fault
        remedy = self.go_on if fault.remedy is None else f"{fault.remedy}; {self.go_on}"
        return IncompleteError(fault.message, remedy=remedy)
