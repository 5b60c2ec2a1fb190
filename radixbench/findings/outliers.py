"""Outliers, classed and kept: requests far from their kind, and runs far from the other seeds.

Nothing is ever left out for being an outlier: a heavy tail is what serving has. Where severe ones are many, the reader
of a mean or a p99 should know. A request's TTFT is held against its kind's median in its own run, so that misses
among hits, long prompts among short ones and slow seeds are no outliers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from radixbench.capture.model import Run
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.findings.words import percent, several
from radixbench.metrics.answers import Answers
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.like import like_waits
from radixbench.metrics.phases import settled_window
from radixbench.metrics.registry import METRICS
from radixbench.records import Mode
from radixbench.stats.outliers import Outliers, classify, stands_apart
from radixbench.stats.sample import Absent

MANY = 0.01
FEWEST = 3
FAR = 2.0
"""Slow severe outliers are told where they are at least so many, more than that share, and one took that many times as long."""

MIN_RUNS = 5
FALSE_ALARMS = 0.01
OFF = 0.10
"""A run is told that stands apart from the others as less often than that share by chance, and by more than that."""

_ONE = {"hits": "hit", "misses": "miss"}
_RUN_FIGURES = ("ttft_p50", "output_throughput")


@dataclass(frozen=True, slots=True)
class Spread:
    """The outliers among ``what`` of one arm and cell: ``hits``, ``misses``, or a metric's figures over runs.

    ``worst`` is the largest ratio to the median of its kind (for runs: of all), at ``seed`` and, for requests, ``prompt``.
    ``apart``: of runs, that one is farther from the others than chance takes a run.
    """

    cell: CellKey
    mode: Mode
    what: str
    outliers: Outliers
    worst: float
    seed: int
    prompt: int | None = None
    apart: bool = False

    @property
    def many(self) -> bool:
        """Whether so many are far too slow that a reader should know: some are also seen where a batch is just full."""
        slow = self.outliers.high_severe
        return slow >= FEWEST and slow > MANY * self.outliers.n and self.worst >= FAR


def request_spreads(runs: Iterable[Answers]) -> tuple[Spread, ...]:
    """TTFT over the median of its kind and run, of hits and of misses of each cell and arm.

    The first wave of a closed loop, which waits for itself, is no outlier and stays out of these counts, as in drift.
    """
    groups: dict[tuple[Mode, CellKey, bool], list[tuple[float, int, int]]] = {}
    for answers in runs:
        run, between = answers.run, settled_window(answers)
        if isinstance(between, Absent):
            continue
        for one in like_waits(answers):
            if not between[0] <= one.request.send_ns <= between[1]:
                continue
            groups.setdefault((run.mode, cell_key(run.cell), one.hit), []).append(
                (one.ratio, run.seed, one.request.prompt)
            )
    found = []
    for (mode, cell, hit), members in groups.items():
        outliers = classify([ratio for ratio, _, _ in members])
        if isinstance(outliers, Absent):
            continue
        worst, seed, prompt = max(members)
        found.append(Spread(cell, mode, "hits" if hit else "misses", outliers, worst, seed, prompt))
    return tuple(found)


def run_spreads(runs: Sequence[Run], summaries: Sequence[RunSummary]) -> tuple[Spread, ...]:
    """Figures of runs of each cell and arm, where there are ``MIN_RUNS`` or more."""
    groups: dict[tuple[Mode, CellKey, str], list[tuple[float, int]]] = {}
    for run, summary in zip(runs, summaries, strict=True):
        for name in _RUN_FIGURES:
            value = summary.figures[name].value
            if value is not None:
                groups.setdefault((run.mode, cell_key(run.cell), name), []).append((value, run.seed))
    found = []
    for (mode, cell, name), members in groups.items():
        values = sorted(value for value, _ in members)
        outliers = classify(values)
        middle = values[len(values) // 2]
        if len(values) < MIN_RUNS or isinstance(outliers, Absent) or middle <= 0.0:
            continue
        place = max(range(len(members)), key=lambda at: abs(members[at][0] / middle - 1.0))
        value, seed = members[place]
        apart = abs(value / middle - 1.0) > OFF and stands_apart(
            [value for value, _ in members], place, alpha=FALSE_ALARMS
        )
        found.append(Spread(cell, mode, name, outliers, value / middle, seed, apart=apart))
    return tuple(found)


def outlier_findings(answers: Sequence[Answers], summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """Cells with many severe outliers among their requests, and those with a run that stands apart."""
    for one in request_spreads(answers):
        if one.many:
            yield Finding(
                "outliers",
                "info",
                f"of {several(one.outliers.n, _ONE[one.what], one.what)} {one.outliers.high_severe:,}"
                f" ({percent(one.outliers.high_severe / one.outliers.n)}) are severe outliers of TTFT, the slowest"
                f" {one.worst:.1f} times the median of its kind (seed {one.seed}, request {one.prompt}); all are kept",
                "look at that request and what ran beside it; a median bears them, a mean and a p99 are made of them",
                place=f"{cell_name(one.cell)}, cache {one.mode}",
                cell=one.cell,
                metrics=frozenset({"ttft_p99", "duration"}),
            )
    for one in run_spreads([one.run for one in answers], summaries):
        if one.apart:
            yield Finding(
                "outliers",
                "info",
                f"{METRICS[one.what].title}: seed {one.seed} stands apart from the other {one.outliers.n - 1} runs,"
                f" {_off(one.worst)} the median of all; it is kept",
                "measure that seed again beside the others, and see whether it repeats",
                place=f"{cell_name(one.cell)}, cache {one.mode}",
                cell=one.cell,
                metrics=frozenset({one.what}),
            )


def _off(ratio: float) -> str:
    """``3.0 times`` from twice the median on, ``12 % above`` or ``12 % below`` it nearer to it."""
    if ratio >= FAR:
        return f"{ratio:.1f} times"
    return f"{percent(abs(ratio - 1.0))} {'above' if ratio > 1.0 else 'below'}"
