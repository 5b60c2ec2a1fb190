"""What a sweep lost: runs that were planned and left nothing, and why; whether servers changed under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from radixbench.capture.model import Capture, CellFailure
from radixbench.report import text
from radixbench.report.cells import CellKey, cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement

_TITLE = "What is missing"
_HEADER = ("cell", "arm", "seeds", "why")


def failures_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` where every planned run was made, by one server for each of its settings."""
    told: dict[Statement, list[str]] = {}
    for side in sides:
        for one in _says(side.capture):
            told.setdefault(one, []).append(side.arm.name)
    says = tuple(replace(one, text=f"{_names(arms)}: {one.text}") for one, arms in told.items())
    if not says:
        return None
    rows = tuple(row for side in sides for row in _rows(side))
    grids = (("Runs that left nothing or are incomplete", Grid(_HEADER, rows)),) if rows else ()
    return Section("failures", _TITLE, says, grids)


def _names(arms: list[str]) -> str:
    return text.several(arms) + (", each" if len(arms) > 1 else "")


def _says(capture: Capture) -> Iterator[Statement]:
    """What one arm lost; what arms have in common is said of them together."""
    if capture.interrupted or capture.planned_runs > len(capture.runs):
        yield _cut(capture)
    elif capture.failures:
        yield Statement(f"{text.plural(len(capture.failures), 'run')} failed.", "worse", "missing")
    broken = sum(run.status != "completed" for run in capture.runs)
    if broken:
        yield Statement(f"{text.plural(broken, 'saved run')} did not complete.", "caution", "incomplete")
    servers = _servers(capture)
    if servers > 1:
        yield Statement(
            f"{servers} server processes answered its runs one after the other: the sweep was resumed, or a "
            "server was started anew.",
            "neutral",
            "resumed",
        )


def _cut(capture: Capture) -> Statement:
    """What is missing of one arm, whether by an interrupt, a limit or failures: one sentence."""
    missing = max(capture.planned_runs - len(capture.runs), 0)
    of = text.plural(capture.planned_runs, "planned run")
    lost = f"{text.count(missing)} of {of} {'is' if missing == 1 else 'are'} missing"
    if capture.failures:
        lost += f", {text.count(len(capture.failures))} of them failed"
    if capture.interrupted:
        cut = f"the sweep was interrupted; {lost}" if missing else "the sweep was interrupted"
        return Statement(f"{cut}; --resume goes on with it.", "worse", "stopped")
    return Statement(f"{lost}.", "worse", "missing")


def _servers(capture: Capture) -> int:
    """The most processes of ours that answered runs of one and the same setting."""
    processes: dict[str, set[int]] = {}
    for run in capture.runs:
        if run.server.pid is not None:
            processes.setdefault(repr(run.server.args), set()).add(run.server.pid)
    return max(map(len, processes.values()), default=0)


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
