"""The captures of a sweep as they grow: one for each arm, on the disk after every run.

Empty ones keep the scenario while it runs; when it ends with nothing measured, and nothing failed, they go again.
"""

from __future__ import annotations

import contextlib
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
from radixbench.records import Mode


class Shelf:
    """Captures by arm; every change is saved at once."""

    def __init__(self, paths: OutputPaths) -> None:
        self.captures: dict[Mode, Capture] = {}
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
        for mode in settled.scenario.modes:
            before = settled.before.get(mode)
            if before is not None and (before.runs or before.failures):
                calibration = settled.calibration or before.calibration
                capture = replace(before, calibration=calibration, interrupted=False)
            else:
                capture = Capture(
                    scenario=settled.scenario,
                    environment=settled.environment,
                    created_wall_ns=anchor().wall_ns,
                    planned_runs=settled.planned(mode),
                    calibration=settled.calibration,
                )
            self._put(mode, capture)

    def add(self, mode: Mode, run: Run, *, interrupted: bool) -> None:
        """A run was measured, whole or not; runs stay in the order of the plan."""
        self._forget(pair_of(run))
        capture = self.captures[mode]
        runs = tuple(sorted((*capture.runs, run), key=lambda one: one.order))
        self._put(mode, replace(capture, runs=runs, interrupted=capture.interrupted or interrupted))

    def fail(self, plan: RunPlan, reason: str) -> None:
        """A run left nothing to keep but why."""
        self._forget(pair_of(plan))
        capture = self.captures[plan.mode]
        failure = CellFailure(plan.cell, plan.seed, plan.mode, reason)
        self._put(plan.mode, replace(capture, failures=(*capture.failures, failure)))

    def _forget(self, pair: PairKey) -> None:
        """The first run of a pair takes the place of what an earlier part left of it, in every arm."""
        if pair in self._outdated:
            self._outdated.remove(pair)
            for mode, capture in self.captures.items():
                rest = without(capture, pair)
                if rest != capture:
                    self._put(mode, rest)

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
        for mode, capture in self.captures.items():
            with contextlib.suppress(
                OutputError
            ):  # what was saved before stays; the other arm is still saved
                self._put(mode, replace(capture, interrupted=True))

    def _put(self, mode: Mode, capture: Capture) -> None:
        self.captures[mode] = capture
        save(capture, self._paths.captures[mode])
