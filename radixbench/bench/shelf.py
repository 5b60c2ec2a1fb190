"""The captures of a sweep as they grow: one for each arm, on the disk after every run.

Empty ones keep the scenario while it runs; when it ends with nothing measured, and nothing failed, they go again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from radixbench.bench.beginning import Settled
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.resume import PairKey, pair_of, without
from radixbench.bench.schedule import RunPlan
from radixbench.capture.model import Capture, CellFailure, Run
from radixbench.capture.store import save
from radixbench.clock import anchor
from radixbench.errors import OutputError
from radixbench.scenario.arms import ArmName, arms


class Shelf:
    """Captures by arm; every change is saved at once. They say of seeds that are added ``until`` what."""

    def __init__(self, paths: OutputPaths, until: float | None = None) -> None:
        self.captures: dict[ArmName, Capture] = {}
        self._until = until
        self._paths = paths
        self._outdated: set[PairKey] = set()

    @property
    def directory(self) -> Path:
        """Where the captures lie."""
        return self._paths.directory

    @property
    def runs(self) -> int:
        """How many runs the captures hold."""
        return sum(len(capture.runs) for capture in self.captures.values())

    def begin(self, settled: Settled) -> None:
        """Empty captures, or what an earlier part of the same sweep left."""
        self._outdated = set(settled.again())
        for arm in arms(settled.scenario):
            before = settled.before.get(arm)
            if before is not None and (before.runs or before.failures):
                calibration = settled.calibration or before.calibration
                until = before.until if self._until is None else self._until
                capture = replace(before, calibration=calibration, interrupted=False, until=until)
            else:
                capture = Capture(
                    scenario=settled.scenario,
                    environment=settled.environment,
                    created_wall_ns=anchor().wall_ns,
                    planned_runs=settled.planned(arm),
                    calibration=settled.calibration,
                    until=self._until,
                )
            self._put(arm, capture)

    def plan(self, plans: Sequence[RunPlan]) -> None:
        """These are all runs the captures shall hold, more than they were made for; on the disk with the next one."""
        seeds = 1 + max(plan.seed for plan in plans)
        for arm, capture in self.captures.items():
            planned = sum(plan.arm == arm for plan in plans)
            scenario = replace(capture.scenario, seeds=seeds)
            self.captures[arm] = replace(capture, scenario=scenario, planned_runs=planned)

    def add(self, arm: ArmName, run: Run, *, interrupted: bool) -> None:
        """A run was measured, whole or not; runs stay in the order of the plan."""
        self._forget(pair_of(run))
        capture = self.captures[arm]
        runs = tuple(sorted((*capture.runs, run), key=lambda one: one.order))
        self._put(arm, replace(capture, runs=runs, interrupted=capture.interrupted or interrupted))

    def fail(self, plan: RunPlan, reason: str) -> None:
        """A run left nothing to keep but why."""
        self._forget(pair_of(plan))
        capture = self.captures[plan.arm]
        failure = CellFailure(plan.cell, plan.seed, plan.mode, reason)
        self._put(plan.arm, replace(capture, failures=(*capture.failures, failure)))

    def _forget(self, pair: PairKey) -> None:
        """The first run of a pair takes the place of what an earlier part left of it, in every arm."""
        if pair in self._outdated:
            self._outdated.remove(pair)
            for arm, capture in self.captures.items():
                rest = without(capture, pair)
                if rest != capture:
                    self._put(arm, rest)

    def drop_empty(self) -> bool:
        """Remove the captures if none holds a run or the reason why one failed, so that nothing can be lost by it.

        Returns whether that was so.
        """
        if any(capture.runs or capture.failures for capture in self.captures.values()):
            return False
        for path in self._paths.captures.values():
            path.unlink(missing_ok=True)
        return True

    def interrupt(self) -> None:
        """Every capture says that it was cut short."""
        for arm, capture in self.captures.items():
            with contextlib.suppress(
                OutputError
            ):  # what was saved before stays; the other arm is still saved
                self._put(arm, replace(capture, interrupted=True))

    def _put(self, arm: ArmName, capture: Capture) -> None:
        self.captures[arm] = capture
        save(capture, self._paths.captures[arm])
