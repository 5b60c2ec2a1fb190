"""Two captures compared: from raw records to verdicts, each step a value.

A is the candidate, B the reference; a factor above 1 means A is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from radixbench.capture.model import Capture
from radixbench.compare.allow import allow as override
from radixbench.compare.allow import allow_findings
from radixbench.compare.arm import Arm, gather
from radixbench.compare.bound import paces
from radixbench.compare.cache_caveats import control_findings, output_findings, untold_findings
from radixbench.compare.change import Change, Comparison, Difference
from radixbench.compare.clock_caveats import clock_findings
from radixbench.compare.clocks import cell_clocks
from radixbench.compare.eligible import differences, why_not
from radixbench.compare.equality import sampled
from radixbench.compare.family import corrected
from radixbench.compare.finding import caveats, codes
from radixbench.compare.identity_caveats import identity_findings, parted_findings
from radixbench.compare.law import bend_findings, laws
from radixbench.compare.null import is_null_test, null_findings
from radixbench.compare.pairing import CellPairs, pair_up
from radixbench.compare.row import Terms, change
from radixbench.compare.run_caveats import (
    number_findings,
    order_findings,
    settings_findings,
    size_findings,
    unpaired_findings,
)
from radixbench.compare.side_caveats import off_mode_findings, side_findings
from radixbench.compare.targets import unlike_targets, with_goodput
from radixbench.compare.verdict import HEADLINE, THRESHOLD
from radixbench.findings.capture import random_weights
from radixbench.findings.model import Finding
from radixbench.metrics.registry import reported
from radixbench.scenario.model import GoodputSpec
from radixbench.stats.sequential import drawn_at


def compare(
    a: Capture,
    b: Capture,
    *,
    a_path: str | None = None,
    b_path: str | None = None,
    threshold: float = THRESHOLD,
    clock_floor_mhz: float | None = None,
    allow: Iterable[str] = (),
    goodput: GoodputSpec | None = None,
) -> Comparison:
    """Every metric in every cell of either capture, with what may be concluded and what speaks against it.

    ``threshold`` is the smallest |factor − 1| that counts; ``clock_floor_mhz`` replaces the default floor of
    half the card's maximum SM clock. ``allow`` names differences that may not forbid a verdict, ``goodput`` targets
    that replace those of the scenarios.
    """
    return compare_arms(
        *(
            gather(side, capture if goodput is None else with_goodput(capture, goodput), path)
            for side, capture, path in (("A", a, a_path), ("B", b, b_path))
        ),
        threshold=threshold,
        clock_floor_mhz=clock_floor_mhz,
        allow=allow,
    )


def compare_arms(
    arm_a: Arm,
    arm_b: Arm,
    *,
    threshold: float = THRESHOLD,
    clock_floor_mhz: float | None = None,
    allow: Iterable[str] = (),
) -> Comparison:
    """Two captures that are summarised already, as ``compare`` does; they are told apart by their ``side``."""
    allowed = override(differences(arm_a, arm_b), allow)
    unlike = allowed.differences
    terms = Terms(
        forbidden=why_not(unlike),
        threshold=threshold,
        like_modes=arm_a.modes == arm_b.modes,
        drawn=max(drawn_at(arm.capture.until) for arm in (arm_a, arm_b)),
        unlike_metrics=unlike_targets(arm_a.capture, arm_b.capture),
    )
    cells = pair_up(arm_a, arm_b)
    changes = tuple(row for cell in cells for row in _rows(cell, terms))
    null_test = is_null_test(arm_a, arm_b, cells)
    found_laws = laws(cells, comparable=terms.forbidden is None, drawn=terms.drawn)
    findings = (
        *allow_findings(allowed),
        *_findings((arm_a, arm_b), cells, changes, unlike, clock_floor_mhz),
        *bend_findings(found_laws, sides=(arm_a.side, arm_b.side)),
        *_null_findings(null_test, changes, arm_a),
    )
    return Comparison(
        a=arm_a.introduce(),
        b=arm_b.introduce(),
        eligible=terms.forbidden is None,
        differences=unlike,
        changes=tuple(replace(row, caveats=codes(row, findings)) for row in changes),
        caveats=caveats(findings),
        threshold=threshold,
        allowed=allowed.names,
        clocks=tuple(cell_clocks(cell) for cell in cells),
        laws=found_laws,
        null_test=null_test,
        sides=(arm_a.side, arm_b.side),
        findings=findings,
    )


def _null_findings(null_test: bool, changes: tuple[Change, ...], arm: Arm) -> Iterator[Finding]:
    if null_test:
        yield from null_findings(corrected(row for row in changes if row.metric in HEADLINE), arm.side)


def _rows(cell: CellPairs, terms: Terms) -> Iterator[Change]:
    pace = paces(cell)
    runs = (one.summary for one in (*cell.a_runs, *cell.b_runs))
    return (change(cell, metric, pace, terms) for metric in reported(runs))


def _findings(
    arms: tuple[Arm, Arm],
    cells: tuple[CellPairs, ...],
    changes: tuple[Change, ...],
    unlike: tuple[Difference, ...],
    clock_floor_mhz: float | None,
) -> Iterator[Finding]:
    headline = corrected(row for row in changes if row.metric in HEADLINE)
    eligible = not any(difference.forbids for difference in unlike)
    greedy = not any(sampled(arm.capture.scenario) for arm in arms)
    for arm in arms:
        yield from side_findings(arm)
    yield from off_mode_findings(*arms)
    yield from identity_findings(*arms)
    yield from parted_findings(unlike)
    for cell in cells:
        yield from clock_findings(cell, paces(cell), clock_floor_mhz)
        yield from untold_findings(cell)
        if eligible and greedy:
            yield from output_findings(cell)
        if eligible:
            yield from control_findings(cell, tuple(row for row in headline if row.cell == dict(cell.key)))
    yield from order_findings(cells)
    yield from number_findings(cells)
    yield from unpaired_findings(cells)
    yield from size_findings(changes)
    yield from settings_findings(unlike, complete=all(arm.is_complete for arm in arms))
    yield from random_weights(arm.capture for arm in arms)
