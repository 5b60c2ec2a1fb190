"""One side of a comparison: its capture, and every run of it summarised once."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import Capture, Run
from radixbench.compare.change import ArmSummary
from radixbench.findings.cell import CellKey, cell_key, run_name
from radixbench.findings.completeness import is_complete
from radixbench.metrics.gpu import DeviceClocks, device_clocks
from radixbench.metrics.summary import RunSummary, summarise
from radixbench.stats.sample import Absent


@dataclass(frozen=True, slots=True)
class ArmRun:
    """One run with its figures and its clocks."""

    run: Run
    summary: RunSummary
    clocks: tuple[DeviceClocks, ...] | Absent

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
        """Share of samples with a throttle reason on the device that has most of them."""
        if isinstance(self.clocks, Absent):
            return None
        return max((c.throttled_share for c in self.clocks if c.throttled_share is not None), default=None)

    @property
    def sm_clock(self) -> float | None:
        """Median SM clock in MHz of the slowest device: the others wait for it."""
        if isinstance(self.clocks, Absent):
            return None
        return min((c.sm_clock_median for c in self.clocks if c.sm_clock_median is not None), default=None)


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
        )


def gather(side: str, capture: Capture, path: str | None) -> Arm:
    """Summarise every run of a capture."""
    runs = tuple(ArmRun(run=run, summary=summarise(run), clocks=device_clocks(run)) for run in capture.runs)
    return Arm(side=side, capture=capture, path=path, runs=runs)
