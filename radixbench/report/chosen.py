"""The one run of each arm that is shown in detail: the cell with the most reuse, the seed in the middle.

Both arms show the same cell and seed, so that they were asked the same prompts. The middle is that of the
first arm's median times to first token: neither its best nor its worst run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from radixbench.capture.model import CellValue, Run
from radixbench.report.cells import arm_at, cell_order
from radixbench.report.evidence import Evidence


class Chosen(NamedTuple):
    """A cell and a seed."""

    cell: dict[str, CellValue]
    seed: int

    def run_of(self, side: Evidence) -> Run | None:
        """The arm's run of them; ``None`` where it has none."""
        runs = side.capture.runs
        return next((run for run in runs if run.cell == self.cell and run.seed == self.seed), None)

    @property
    def note(self) -> str:
        """Which run is shown, in words."""
        return f"Shown is {arm_at(f'seed {self.seed}', self.cell)}, the seed in the middle by time to first token."


def chosen(sides: Sequence[Evidence], has: Callable[[Run], bool]) -> Chosen | None:
    """Among runs that have what is to be shown; of the first arm if it has such runs, else of any."""
    candidates = [(summary, run) for side in sides[:1] for run, summary in side.pairs() if has(run)] or [
        (summary, run) for side in sides for run, summary in side.pairs() if has(run)
    ]
    if not candidates:
        return None
    cell = max((summary.cell for summary, _ in candidates), key=cell_order)
    ranked = sorted(
        (
            figure.value if (figure := summary.figures.get("ttft_p50")) and figure.value is not None else 0.0,
            summary.seed,
        )
        for summary, _ in candidates
        if summary.cell == cell
    )
    return Chosen(cell, ranked[len(ranked) // 2][1])
