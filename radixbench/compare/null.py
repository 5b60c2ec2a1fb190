"""A null test: an arm against itself, measured as any two arms are, whose every difference is the machine's own.

The captures show it themselves: one scenario that names one mode twice, and runs back to back in one sweep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from radixbench.compare.arm import Arm
from radixbench.compare.change import Change
from radixbench.compare.family import outcome
from radixbench.compare.pairing import CellPairs
from radixbench.compare.run_caveats import back_to_back
from radixbench.findings.cell import at_cell
from radixbench.findings.model import Finding
from radixbench.findings.words import percent
from radixbench.metrics.registry import METRICS
from radixbench.scenario.arms import is_null


def is_null_test(a: Arm, b: Arm, cells: Iterable[CellPairs]) -> bool:
    """Whether these are the two arms of one null test."""
    pairs = [pair for cell in cells for pair in cell.all_pairs]
    both = (a.capture, b.capture)
    if not pairs or not all(is_null(capture.scenario) for capture in both) or a.modes != b.modes:
        return False
    one_host = len({capture.environment.host_id for capture in both}) == 1
    return one_host and all(map(back_to_back, pairs))


def null_findings(judged: Sequence[Change], side: str = "A") -> Iterator[Finding]:
    """A difference between an arm, here ``side``, and itself, by the gated rows judged together."""
    if outcome(judged) not in {"better", "worse", "mixed"}:
        return
    found = [row for row in judged if row.verdict in {"better", "worse"} and row.factor is not None]
    told = "; ".join(_told(row, side) for row in found)
    yield Finding(
        "null-failed",
        "serious",
        f"both arms did the same work and differ all the same: {told}. The machine, or the two server processes,"
        " differ by that much, or it is one of the 5 % of null tests that fail by chance",
        "run it again; where it fails again believe no effect of this size that is measured here, and look for other load,"
        " clocks that change and cores the processes are bound to",
    )


def _told(row: Change, side: str) -> str:
    factor = 1.0 if row.factor is None else row.factor.value
    return f"{METRICS[row.metric].title} {at_cell(row.cell)} is {percent(abs(factor - 1.0))} {row.verdict} in {side}"
