"""What the runs of a sweep say so far: the gated figures of each cell, from the pairs that a comparison would count.

A run is summarised once, after it was measured and never while one is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from radixbench.bench.progress import Running
from radixbench.capture.model import Capture, CellValue, Run
from radixbench.compare.arm import Arm, ArmRun
from radixbench.compare.pairing import pair_up
from radixbench.compare.verdict import HEADLINE
from radixbench.findings.alone import disturbed
from radixbench.findings.cell import CellKey, cell_key
from radixbench.findings.state import state_fault
from radixbench.metrics.answers import sort_out
from radixbench.metrics.definition import Metric
from radixbench.metrics.registry import METRICS
from radixbench.metrics.summary import summary_of
from radixbench.scenario.arms import ArmName, sides
from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, log_ratios, mean_interval, paired_ratio, spread
from radixbench.stats.sample import Absent, Sample
from radixbench.stats.sequential import MIN_SEEDS, STOPPED_LEVEL, drawn_at, half_width, narrow_enough
from radixbench.stats.student import critical

_UNCLOCKED = Absent("clocks don't count towards an estimate")


@dataclass(frozen=True, slots=True)
class Row:
    """One gated figure of one cell: a pair for each seed, better one second, or the values of the only arm.

    ``drawn`` is the level of Student's t that intervals are drawn at.
    """

    metric: Metric
    figures: tuple[tuple[float, float], ...] | tuple[float, ...]
    drawn: float = LEVEL

    def estimate(self) -> Estimate | Absent:
        """The factor of the first arm over the second, above 1 is better; of one arm the mean."""
        pairs = [figure for figure in self.figures if isinstance(figure, tuple)]
        if pairs:
            return paired_ratio(pairs, level=self.drawn)
        values = [figure for figure in self.figures if not isinstance(figure, tuple)]
        return mean_interval(Sample(values), kind="geometric", level=self.drawn)

    def width(self) -> float | None:
        """The relative half-width of the interval; ``None`` without one."""
        estimate = self.estimate()
        return None if isinstance(estimate, Absent) else half_width(estimate)

    def enough(self, target: float) -> bool:
        """Whether the interval is as narrow as that."""
        return narrow_enough(self.figures, target)

    def needed(self, target: float, most: int) -> int | None:
        """How many seeds it may take, by the spread seen: one more than ``most`` where these won't do; ``None`` without a spread."""
        logs = self._logs()
        if len(logs) < 2:
            return None
        deviation, width = spread(logs), math.log1p(target)
        counts = range(MIN_SEEDS, most + 1)
        enough = (n for n in counts if critical(STOPPED_LEVEL, n - 1) * deviation <= width * math.sqrt(n))
        return next(enough, most + 1)

    def running(self) -> Running | None:
        """The estimate as whoever watches is told of it."""
        found = self.estimate()
        if isinstance(found, Absent):
            return None
        unit = "x" if isinstance(self.figures[0], tuple) else self.metric.unit
        return Running(self.metric.name, found.value, found.low, found.high, found.n, unit)

    def _logs(self) -> tuple[float, ...]:
        pairs = [figure if isinstance(figure, tuple) else (figure, 1.0) for figure in self.figures]
        logs = log_ratios(pairs)
        return () if isinstance(logs, Absent) else logs


class Results:
    """Reads the captures of a sweep as they grow; ``captures`` are by arm."""

    def __init__(self, captures: Mapping[ArmName, Capture]) -> None:
        self._captures = captures
        self._known: dict[tuple[ArmName, CellKey, int], ArmRun] = {}

    def rows(self, cell: Mapping[str, CellValue]) -> tuple[Row, ...]:
        """The gated figures of a cell, those that any of its runs has."""
        seeds = list(self._counted(cell))
        drawn = drawn_at(next((one.until for one in self._captures.values()), None))
        rows = (Row(METRICS[name], _figures(METRICS[name], seeds), drawn) for name in HEADLINE)
        return tuple(row for row in rows if row.figures)

    def seeds(self, cell: Mapping[str, CellValue]) -> int:
        """How many seeds of a cell every arm has a run of, whether it counts or not."""
        key = cell_key(cell)
        held = (
            {run.seed for run in capture.runs if cell_key(run.cell) == key}
            for capture in self._captures.values()
        )
        return len(set.intersection(*held))

    def running(self, cell: Mapping[str, CellValue]) -> tuple[Running, ...]:
        """The cell's estimates so far."""
        found = (row.running() for row in self.rows(cell))
        return tuple(one for one in found if one is not None)

    def _counted(self, cell: Mapping[str, CellValue]) -> Iterator[tuple[ArmRun, ...]]:
        """The runs of each seed of a cell that count: complete in every arm, and not set aside."""
        both = [self._side(arm, cell) for arm in sides(self._captures)]
        if len(both) == 1:
            yield from ((one,) for one in both[0].runs if one.complete and not _set_aside(one))
            return
        for pairs in pair_up(*both):
            yield from (pair.runs for pair in pairs.pairs if all(one.complete for one in pair.runs))

    def _side(self, arm: ArmName, cell: Mapping[str, CellValue]) -> Arm:
        key, capture = cell_key(cell), self._captures[arm]
        runs = tuple(self._summed(arm, key, run) for run in capture.runs if cell_key(run.cell) == key)
        return Arm(side=arm, capture=capture, path=None, runs=runs)

    def _summed(self, arm: ArmName, key: CellKey, run: Run) -> ArmRun:
        known = self._known.get((arm, key, run.seed))
        if known is None or known.run is not run:
            answers = sort_out(run, self._captures[arm].scenario.goodput)
            known = self._known[arm, key, run.seed] = ArmRun(run, summary_of(answers), _UNCLOCKED, answers)
        return known


def _set_aside(one: ArmRun) -> bool:
    return disturbed(one.run) or state_fault(one.run, one.summary) is not None


def _figures(
    metric: Metric, seeds: list[tuple[ArmRun, ...]]
) -> tuple[tuple[float, float], ...] | tuple[float, ...]:
    """One metric's figures by seed, where every arm has one."""
    found = [tuple(one.summary.figures[metric.name].value for one in runs) for runs in seeds]
    known = [tuple(value for value in values if value is not None) for values in found]
    pairs = [values for values in known if len(values) == 2]
    if pairs:
        return tuple((a, b) if metric.better == "higher" else (b, a) for a, b in pairs)
    return tuple(
        values[0] for values, runs in zip(known, seeds, strict=True) if len(values) == len(runs) == 1
    )
