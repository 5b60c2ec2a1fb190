"""Two captures compared: from raw records to verdicts, each step a value.

A is the candidate, B the reference; a factor above 1 means A is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from radixbench.capture.model import Capture
from radixbench.compare.arm import Arm, gather
from radixbench.compare.bound import paces
from radixbench.compare.cache_caveats import control_findings, output_findings, untold_findings
from radixbench.compare.change import Change, Comparison, Difference
from radixbench.compare.clock_caveats import clock_findings
from radixbench.compare.eligible import differences, why_not
from radixbench.compare.finding import caveats, codes
from radixbench.compare.pairing import CellPairs, pair_up
from radixbench.compare.row import Terms, change
from radixbench.compare.run_caveats import number_findings, order_findings, settings_findings, size_findings
from radixbench.compare.side_caveats import off_mode_findings, side_findings
from radixbench.compare.verdict import THRESHOLD
from radixbench.findings.capture import random_weights
from radixbench.findings.model import Finding
from radixbench.metrics.registry import METRICS


def compare(
    a: Capture,
    b: Capture,
    *,
    a_path: str | None = None,
    b_path: str | None = None,
    threshold: float = THRESHOLD,
    clock_floor_mhz: float | None = None,
) -> Comparison:
    """Every metric in every cell of either capture, with what may be concluded and what speaks against it.

    ``threshold`` is the smallest |factor − 1| that counts; ``clock_floor_mhz`` replaces the default floor of
    half the card's maximum SM clock.
    """
    arm_a, arm_b = gather("A", a, a_path), gather("B", b, b_path)
    unlike = differences(arm_a, arm_b)
    terms = Terms(forbidden=why_not(unlike), threshold=threshold, like_modes=arm_a.modes == arm_b.modes)
    cells = pair_up(arm_a, arm_b)
    changes = tuple(row for cell in cells for row in _rows(cell, terms))
    findings = tuple(_findings((arm_a, arm_b), cells, changes, unlike, clock_floor_mhz))
    return Comparison(
        a=arm_a.introduce(),
        b=arm_b.introduce(),
        eligible=terms.forbidden is None,
        differences=unlike,
        changes=tuple(replace(row, caveats=codes(row, findings)) for row in changes),
        caveats=caveats(findings),
        threshold=threshold,
    )


def _rows(cell: CellPairs, terms: Terms) -> Iterator[Change]:
    pace = paces(cell)
    return (change(cell, metric, pace, terms) for metric in METRICS.values())


def _findings(
    arms: tuple[Arm, Arm],
    cells: tuple[CellPairs, ...],
    changes: tuple[Change, ...],
    unlike: tuple[Difference, ...],
    clock_floor_mhz: float | None,
) -> Iterator[Finding]:
    eligible = all(difference.allowed for difference in unlike)
    for arm in arms:
        yield from side_findings(arm)
    yield from off_mode_findings(*arms)
    for cell in cells:
        yield from clock_findings(cell, paces(cell), clock_floor_mhz)
        yield from untold_findings(cell)
        if eligible:
            yield from output_findings(cell)
            yield from control_findings(cell, tuple(row for row in changes if row.cell == dict(cell.key)))
    yield from order_findings(cells)
    yield from number_findings(cells)
    yield from size_findings(changes)
    yield from settings_findings(unlike, complete=all(arm.is_complete for arm in arms))
    yield from random_weights(arm.capture for arm in arms)
