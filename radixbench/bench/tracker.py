"""How far a sweep is, and how long it will still take by what its finished runs took."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from radixbench.bench.progress import OnProgress, Progress, Stage
from radixbench.bench.schedule import RunPlan
from radixbench.capture.model import Run
from radixbench.clock import Clock, MonotonicClock
from radixbench.records import Mode
from radixbench.units import seconds

Key = tuple[int, Mode]


class Tracker:
    """Turns what happens into ``Progress`` events.

    A run's duration is foretold by the finished runs of its own cell and arm, else by those of its
    arm, else by all.
    """

    def __init__(self, on_progress: OnProgress, clock: Clock | None = None) -> None:
        self._on_progress = on_progress
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._plans: Sequence[RunPlan] = ()
        self._done: frozenset[int] = frozenset()
        self._took: dict[Key, list[float]] = {}
        self._current: RunPlan | None = None
        self._began_ns = 0

    def plan(self, plans: Sequence[RunPlan], done: frozenset[int] = frozenset()) -> None:
        """These runs will come; those with the orders ``done`` were measured before."""
        self._plans = plans
        self._done = done

    def note(self, stage: Stage, text: str, *, mode: Mode | None = None) -> None:
        """Something outside of any run."""
        self._on_progress(
            Progress(stage=stage, text=text, run=self._number, runs=len(self._plans), mode=mode)
        )

    def begin(self, plan: RunPlan) -> None:
        """A run begins with its warm-up."""
        self._current, self._began_ns = plan, self._clock.now_ns()
        self._tell("warm-up", "warming up and flushing", 0, 0)

    def requests(self, done: int, total: int) -> None:
        """So many requests of the current run are answered."""
        self._tell("measure", "measuring", done, total)

    def end(self, plan: RunPlan, run: Run) -> None:
        """A run is over."""
        took = seconds(self._clock.now_ns() - self._began_ns)
        self._took.setdefault((plan.cell_index, plan.mode), []).append(took)
        completed = sum(record.status == "completed" for record in run.requests)
        self._tell("saved", f"{run.status} in {took:.1f} s", completed, run.requested)

    def expected_s(self, plan: RunPlan) -> float | None:
        """How long a run will take; ``None`` until one has been."""
        return self._foretold(plan) if self._took else None

    @property
    def _number(self) -> int:
        return 0 if self._current is None else self._current.order + 1

    def _tell(self, stage: Stage, text: str, done: int, total: int) -> None:
        assert self._current is not None
        self._on_progress(
            Progress(
                stage=stage,
                text=text,
                run=self._number,
                runs=len(self._plans),
                done=done,
                total=total,
                left_s=self._left_s(over=stage == "saved"),
                cell=self._current.cell,
                mode=self._current.mode,
                seed=self._current.seed,
            )
        )

    def _left_s(self, *, over: bool) -> float | None:
        if not self._took:
            return None
        coming = sum(
            self._foretold(plan) for plan in self._plans[self._number :] if plan.order not in self._done
        )
        if over or self._current is None:
            return coming
        spent = seconds(self._clock.now_ns() - self._began_ns)
        return coming + max(0.0, self._foretold(self._current) - spent)

    def _foretold(self, plan: RunPlan) -> float:
        same_arm = [took for (_, mode), runs in self._took.items() if mode == plan.mode for took in runs]
        every = [took for runs in self._took.values() for took in runs]
        return fmean(self._took.get((plan.cell_index, plan.mode)) or same_arm or every)
