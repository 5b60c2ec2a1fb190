"""What a sweep lost: runs that were planned and left nothing, and why; whether it was resumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.capture.model import CellFailure
from radixbench.report import text
from radixbench.report.cells import CellKey, cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement

_TITLE = "What is missing"
_HEADER = ("cell", "arm", "seeds", "why")


def failures_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` where every planned run was made in one go."""
    says = tuple(statement for side in sides for statement in _says(side))
    if not says:
        return None
    rows = tuple(row for side in sides for row in _rows(side))
    grids = (("Runs that left nothing or are incomplete", Grid(_HEADER, rows)),) if rows else ()
    return Section("failures", _TITLE, says, grids)


def _says(side: Evidence) -> Iterator[Statement]:
    capture, name = side.capture, side.arm.name
    missing = max(capture.planned_runs - len(capture.runs), 0)
    if missing:
        lost = f"{text.count(len(capture.failures))} of them failed"
        yield Statement(
            f"{name}: {text.count(missing)} of {text.plural(capture.planned_runs, 'planned run')} "
            f"{'is' if missing == 1 else 'are'} missing{f', {lost}' if capture.failures else ''}.",
            "worse",
            "missing",
        )
    elif capture.failures:
        yield Statement(f"{name}: {text.plural(len(capture.failures), 'run')} failed.", "worse", "missing")
    if capture.interrupted:
        yield Statement(f"{name}: the sweep was interrupted; --resume goes on with it.", "caution", "stopped")
    broken = sum(run.status != "completed" for run in capture.runs)
    if broken:
        yield Statement(
            f"{name}: {text.plural(broken, 'saved run')} did not complete.", "caution", "incomplete"
        )
    if "--resume" in capture.environment.argv:
        yield Statement(
            f"{name}: the sweep was resumed; its runs were not all measured in one go.", "neutral", "resumed"
        )


def _rows(side: Evidence) -> Iterator[tuple[str, str, str, str]]:
    """Failures that tell the same story in one row for each cell."""
    broken = [
        CellFailure(run.cell, run.seed, run.mode, run.error or run.status)
        for run in side.capture.runs
        if run.status != "completed"
    ]
    groups: dict[tuple[CellKey, str], list[CellFailure]] = {}
    for one in sorted((*side.capture.failures, *broken), key=lambda one: cell_order(one.cell)):
        groups.setdefault((cell_key(one.cell), one.reason), []).append(one)
    for (_, reason), failures in groups.items():
        seeds = text.ranges([one.seed for one in failures])
        yield cell_title(failures[0].cell), side.arm.name, seeds, reason
