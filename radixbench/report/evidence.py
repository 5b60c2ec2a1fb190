"""One side's capture with its run summaries, and what it says about its setting.

A run, its summary and its answers are matched by their place: ``summaries[i]`` is of ``capture.runs[i]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from radixbench.capture.model import Capture, CellValue, Run
from radixbench.findings.alone import disturbed
from radixbench.findings.state import state_fault
from radixbench.metrics.answers import Answers, sort_out
from radixbench.metrics.summary import RunSummary
from radixbench.report.cells import cell_key, cell_order
from radixbench.report.model import Arm
from radixbench.report.words import known
from radixbench.stats.sequential import drawn_at


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one arm left behind, under the name the report gives it; answers that aren't given are sorted out here."""

    arm: Arm
    capture: Capture
    summaries: tuple[RunSummary, ...]
    answers: tuple[Answers, ...] = ()

    def __post_init__(self) -> None:
        if not self.answers:
            targets = self.capture.scenario.goodput
            found = tuple(sort_out(run, targets) for run in self.capture.runs)
            object.__setattr__(self, "answers", found)

    def pairs(self) -> Iterator[tuple[Run, RunSummary]]:
        """Every run with its summary."""
        return zip(self.capture.runs, self.summaries, strict=True)

    @property
    def drawn(self) -> float:
        """The level of Student's t that intervals over its runs are drawn at."""
        return drawn_at(self.capture.until)

    def cells(self) -> list[dict[str, CellValue]]:
        """The distinct cells, in the order of their axes."""
        found = {cell_key(run.cell): run.cell for run in self.capture.runs}
        return sorted(found.values(), key=cell_order)

    def counted(self, cell: dict[str, CellValue]) -> list[RunSummary]:
        """The runs of a cell that a comparison would count by themselves; all of them where none would be."""
        runs = [(run, summary) for run, summary in self.pairs() if run.cell == cell]
        sound = [summary for run, summary in runs if not disturbed(run) and state_fault(run, summary) is None]
        return sound or [summary for _, summary in runs]

    def identity(self, name: str) -> list[str]:
        """What the servers of the runs said of one thing that decides the output."""
        return known(run.server.identity.get(name) for run in self.capture.runs)

    @property
    def random_weights(self) -> bool:
        """Whether any run was served with random weights."""
        return any(run.server.identity.get("random_weights") is True for run in self.capture.runs)

    @property
    def model(self) -> str:
        """The model as the servers named it, or as the scenario asked for it."""
        names = known(run.server.model for run in self.capture.runs)
        return " / ".join(names) if names else self.capture.scenario.model.name

    @property
    def device(self) -> str:
        """The device the servers resolved to; "" where servers that answered don't tell it, and before any
        did the one asked for.
        """
        return " / ".join(self.identity("device")) or self._asked(self.capture.scenario.model.device)

    @property
    def hardware(self) -> str:
        """The device with the name of its hardware, where the server tells it."""
        names = [name for name in self.identity("device_name") if name != self.device]
        return f"{self.device} ({' / '.join(names)})" if names and self.device else self.device

    @property
    def dtype(self) -> str:
        """The precision the servers resolved to, as ``device``."""
        return " / ".join(self.identity("dtype")) or self._asked(self.capture.scenario.model.dtype)

    def _asked(self, value: str) -> str:
        """What the scenario asks for says nothing of a server that somebody else started."""
        return value if not self.capture.runs or value != "auto" else ""

    @property
    def modes(self) -> list[str]:
        """The cache modes of the runs: one for an arm of a sweep."""
        return known(run.mode for run in self.capture.runs)


def setting(sides: tuple[Evidence, ...]) -> str:
    """Model and device for the end of the headline: ``tiny (random weights), cpu``; each once, and what is known."""
    models = known(f"{side.model}{' (random weights)' if side.random_weights else ''}" for side in sides)
    devices = known(side.device if side.device == "cpu" else side.hardware for side in sides)
    named = (" against ".join(models), " against ".join(device for device in devices if device))
    return ", ".join(dict.fromkeys(name for name in named if name))
