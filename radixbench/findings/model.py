"""A finding: what speaks against a figure, where it was found, and what would mend it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from radixbench.capture.model import Run
from radixbench.findings.cell import CellKey, cell_key, run_name

Severity = Literal["info", "warning", "serious"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``place`` says in words where (a run, a cell, a side); "" where the text itself does.

    ``cell`` and ``metrics`` say which rows are touched; ``None`` means all of them.
    """

    code: str
    severity: Severity
    text: str
    remedy: str
    place: str = ""
    cell: CellKey | None = None
    metrics: frozenset[str] | None = None

    @property
    def told(self) -> str:
        """The text with its place before it."""
        return f"{self.place}: {self.text}" if self.place else self.text

    def on_side(self, side: str) -> Finding:
        """The same, found on one side of a comparison."""
        return replace(self, place=f"{side}, {self.place}" if self.place else side)

    def of_run(self, run: Run) -> Finding:
        """The same, found in this run: it touches the rows of the run's cell."""
        return replace(self, place=run_name(run), cell=cell_key(run.cell))
