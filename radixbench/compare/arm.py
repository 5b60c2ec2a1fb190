"""One side of a comparison: its capture, and every run of it summarised once."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import Capture, Run
from radixbench.compare.change import ArmSummary
from radixbench.findings.cell import CellKey, cell_key, run_name
from radixbench.findings.completeness import is_complete
from radixbench.metrics.answers import Answers, sort_out
from radixbench.metrics.gpu import DeviceClocks, at_work, device_clocks
from radixbench.metrics.summary import RunSummary, summary_of
from radixbench.stats.sample import Absent


@dataclass(frozen=True, slots=True)
class ArmRun:
    """One run with its requests sorted out, its figures and its clocks."""

    run: Run
    summary: RunSummary
    clocks: tuple[DeviceClocks, ...] | Absent
    answers: Answers

    @property
    def name(self) -> str:
        """``shared_tokens 4096, seed 2, on``."""
        return run_name(self.run)

    @property
    def complete(self) -> bool:
        """At least 99 % of the requested answers came, each with tokens."""
        return is_complete(self.run, self.summary)

    @property
    def throttled_share(self) -> float | None:
        """Share of the window that the device at work that was held back most was held back for."""
        return max((c.throttled_share for c in self.cards if c.throttled_share is not None), default=None)

    @property
    def sm_clock(self) -> float | None:
        """Median SM clock in MHz of the slowest device at work: the others wait for it."""
        return min((c.sm_clock_median for c in self.cards if c.sm_clock_median is not None), default=None)

    @property
    def cards(self) -> tuple[DeviceClocks, ...]:
        """The devices at work; none where nothing is known of them."""
        return () if isinstance(self.clocks, Absent) else at_work(self.clocks)


@dataclass(frozen=True, slots=True)
class Arm:
    """A capture as one side, named ``A`` or ``B``."""

    side: str
    capture: Capture
    path: str | None
    runs: tuple[ArmRun, ...]

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes its runs had, sorted."""
        return tuple(sorted({one.run.mode for one in self.runs}))

    def by_cell(self) -> dict[CellKey, dict[int, ArmRun]]:
        """Runs by cell and seed, cells in the order they were first run."""
        cells: dict[CellKey, dict[int, ArmRun]] = {}
        for one in self.runs:
            cells.setdefault(cell_key(one.run.cell), {})[one.run.seed] = one
        return cells

    @property
    def is_complete(self) -> bool:
        """Every planned run is there."""
        return len(self.runs) >= self.capture.planned_runs

    @property
    def off_modes(self) -> tuple[str, ...]:
        """How its runs without reuse came about, sorted; those of before that was recorded by a flag."""
        return tuple(
            sorted({one.run.protocol.off_mode or "flag" for one in self.runs if one.run.mode == "off"})
        )

    @property
    def repeated_runs(self) -> int:
        """Runs beyond the first of their cell and seed; a capture of one sweep's arm has none."""
        return len(self.runs) - sum(len(seeds) for seeds in self.by_cell().values())

    def introduce(self) -> ArmSummary:
        """How the side shows itself in the document."""
        servers = [one.run.server for one in self.runs]
        scenario = self.capture.scenario
        return ArmSummary(
            path=self.path,
            mode="/".join(self.modes) or "none",
            model=servers[0].model if servers else scenario.model.name,
            engine=servers[0].engine if servers else "unknown",
            scenario=scenario.name,
            runs=len(self.runs),
            planned_runs=self.capture.planned_runs,
            requests=sum(one.run.requested for one in self.runs),
            completed=sum(one.summary.completed for one in self.runs),
            off_mode="/".join(self.off_modes) or None,
            until=self.capture.until,
        )


def gather(side: str, capture: Capture, path: str | None) -> Arm:
    """Summarise every run of a capture."""
    sorted_out = (sort_out(run, capture.scenario.goodput) for run in capture.runs)
    runs = tuple(
        ArmRun(answers.run, summary_of(answers), device_clocks(answers.run), answers)
        for answers in sorted_out
    )
    return Arm(side=side, capture=capture, path=path, runs=runs)
