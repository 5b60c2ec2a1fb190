"""How far a sweep is, what it says so far, and how long it will still take by what its finished runs took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Protocol

from radixbench.bench.deadline import Deadline
from radixbench.bench.progress import Further, OnProgress, Progress, Running, Stage
from radixbench.bench.pulse import Pulse
from radixbench.bench.schedule import RunPlan
from radixbench.capture.model import CellValue, Run
from radixbench.clock import Clock, MonotonicClock
from radixbench.scenario.arms import ArmName
from radixbench.units import seconds

Key = tuple[int, ArmName]
_NOTHING_YET = Pulse(0, 0, 0, None)


class Estimates(Protocol):
    """Who knows what the runs of a cell say so far; asked between runs only."""

    def running(self, cell: Mapping[str, CellValue]) -> tuple[Running, ...]: ...


class Tracker:
    """Turns what happens into ``Progress`` events.

    A run's duration is foretold by the finished runs of its own cell and arm, else by those of its
    arm, else by all. Estimates and sums are worked out when a run begins or ends, never while one is measured.
    """

    def __init__(
        self,
        on_progress: OnProgress,
        estimates: Estimates | None = None,
        clock: Clock | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self._on_progress = on_progress
        self._estimates = estimates
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._plans: Sequence[RunPlan] = ()
        self._done: frozenset[int] = frozenset()
        self._took: dict[Key, list[float]] = {}
        self._current: RunPlan | None = None
        self._number = 0
        self._began_ns = 0
        self._running: tuple[Running, ...] = ()
        self._coming_s: float | None = None
        self._deadline = deadline
        self._foresee: Callable[[], Further] | None = None
        self._near = True
        self._further_s = 0.0
        self._target: float | None = None
        self._failed_runs = 0
        self._clocks: str | None = None

    def plan(self, plans: Sequence[RunPlan], done: frozenset[int] = frozenset()) -> None:
        """These runs will come; those with the orders ``done`` were measured before."""
        self._plans = plans
        self._done = done

    def aim(self, target: float, further: Callable[[], Further]) -> None:
        """Seeds are added until intervals are within ``target``: ``further`` says how many, as it looks."""
        self._target, self._foresee = target, further

    def note(self, stage: Stage, text: str, *, arm: ArmName | None = None) -> None:
        """Something outside of any run."""
        self._on_progress(
            Progress(
                stage=stage,
                text=text,
                run=self._number,
                runs=len(self._plans),
                arm=arm,
                failed_runs=self._failed_runs,
            )
        )

    def begin(self, plan: RunPlan) -> None:
        """A run begins with its warm-up."""
        self._current, self._began_ns = plan, self._clock.now_ns()
        self._number = 1 + next(place for place, one in enumerate(self._plans) if one.order == plan.order)
        self._look(plan)
        self._tell("warm-up", "warming up and flushing", _NOTHING_YET)

    def pulse(self, pulse: Pulse) -> None:
        """How the current run stands; the clocks' state stays known until the next run's first reading."""
        self._clocks = pulse.clock or self._clocks
        self._tell("measure", "measuring", pulse)

    def end(self, plan: RunPlan, run: Run) -> None:
        """A run is over, and its capture saved."""
        took = seconds(self._clock.now_ns() - self._began_ns)
        self._took.setdefault((plan.cell_index, plan.arm), []).append(took)
        completed = sum(record.status == "completed" for record in run.requests)
        self._failed_runs += run.status != "completed"
        self._look(plan)
        failed = len(run.requests) - completed
        self._tell("saved", f"{run.status} in {took:.1f} s", Pulse(completed, run.requested, failed, None))

    def fail(self, plan: RunPlan, text: str) -> None:
        """A run left nothing to keep."""
        self._failed_runs += 1
        self.note("note", text, arm=plan.arm)

    def expected_s(self, plan: RunPlan) -> float | None:
        """How long a run will take; ``None`` until one has been."""
        return self._foretold(plan) if self._took else None

    def _look(self, plan: RunPlan) -> None:
        """What is too much to work out while requests are in flight."""
        self._running = () if self._estimates is None else self._estimates.running(plan.cell)
        coming = [one for one in self._plans[self._number :] if one.order not in self._done]
        if self._took:
            self._coming_s = sum(map(self._foretold, coming))
            if self._foresee is not None:
                models = {(one.cell_index, one.arm): one for one in self._plans}
                seeds, self._near = self._foresee()
                times = (seeds.get(one.cell_index, 0) * self._foretold(one) for one in models.values())
                self._further_s = sum(times)

    def _tell(self, stage: Stage, text: str, pulse: Pulse) -> None:
        assert self._current is not None
        left_s = self._left_s(over=stage == "saved")
        self._on_progress(
            Progress(
                stage=stage,
                text=text,
                run=self._number,
                runs=len(self._plans),
                done=pulse.done,
                total=pulse.total,
                left_s=left_s,
                cell=self._current.cell,
                mode=self._current.mode,
                seed=self._current.seed,
                arm=self._current.arm,
                running=self._running,
                clock=self._clocks,
                errors=pulse.failed,
                failed_runs=self._failed_runs,
                target=self._target,
                target_left_s=None if left_s is None or self._target is None else left_s + self._further_s,
                target_near=self._near,
                limit_s=self._limit_s(left_s),
            )
        )

    def _limit_s(self, left_s: float | None) -> float | None:
        """The time to the sweep's limit where that comes first."""
        limit_s = None if self._deadline is None else self._deadline.left_s()
        if limit_s is None or left_s is None or limit_s >= left_s + self._further_s:
            return None
        return max(limit_s, 0.0)

    def _left_s(self, *, over: bool) -> float | None:
        if self._coming_s is None or over or self._current is None:
            return self._coming_s
        spent = seconds(self._clock.now_ns() - self._began_ns)
        return self._coming_s + max(0.0, self._foretold(self._current) - spent)

    def _foretold(self, plan: RunPlan) -> float:
        same_arm = [took for (_, arm), runs in self._took.items() if arm == plan.arm for took in runs]
        every = [took for runs in self._took.values() for took in runs]
        return fmean(self._took.get((plan.cell_index, plan.arm)) or same_arm or every)
