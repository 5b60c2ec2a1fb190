"""Pictures of several captures: each candidate's factors on one common axis, and all of them over the swept axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from radixbench.compare.gate import gated
from radixbench.compare.many import Many
from radixbench.report import readings
from radixbench.report.curves import THROUGHPUT, TTFT, Means, curve, means_of
from radixbench.report.evidence import Evidence
from radixbench.report.forest import common_domain, forest_figure
from radixbench.report.model import Arm, Figure, Grid, Panel

_TITLE = "Factors by candidate and cell"
_COMMON = (
    "All panels have one axis, so that candidates can be compared by eye; the reference is the line at 1×."
)
_WHO = (
    "A row is one cell of a candidate. Its point is how many times better the candidate did there than the reference,"
    " the line its interval over the seeds; right of 1 it is better, left of it worse. The axis is logarithmic: twice as"
    " good and half as good lie equally far from 1."
)
_READING = (_WHO, *readings.FOREST[1:], _COMMON)


def many_figures(many: Many, sides: Sequence[Evidence], gate: Sequence[str]) -> tuple[Figure, ...]:
    """The forest plot, then time to first token and throughput of every capture."""
    means: Means = {key: mean for side in sides for key, mean in means_of(side).items()}
    arms = [side.arm for side in sides]
    return (_forest(many, arms, gate), curve(TTFT, sides, means), curve(THROUGHPUT, sides, means))


def _forest(many: Many, arms: Sequence[Arm], gate: Sequence[str]) -> Figure:
    """A panel for each metric and candidate, candidates of a metric below one another."""
    judged = [gated(c, gate) if c.eligible else () for c in many.comparisons]
    domain = common_domain([row for rows in judged for row in rows], many.threshold)
    found = [
        (arm, forest_figure(rows, many.threshold, gate, domain))
        for arm, rows in zip(arms, judged, strict=False)
        if rows
    ]
    refused = [
        arm for arm, comparison in zip(arms, many.comparisons, strict=False) if not comparison.eligible
    ]
    notes = tuple(f"{arm.name} has no factor: it can't be compared with the reference." for arm in refused)
    if not found:
        absent = "No candidate can be compared with the reference: there is no factor to draw."
        return Figure("forest", _TITLE, _READING, (), absent=absent)
    panels = [_of(arm, panel) for arm, figure in found for panel in figure.panels]
    metrics = list(dict.fromkeys(gate))
    panels.sort(key=lambda panel: metrics.index(panel.key.partition("-forest-")[2].replace("-", "_")))
    grids = [(arm, figure.grid) for arm, figure in found if figure.grid is not None]
    return Figure(
        "forest",
        _TITLE,
        _READING,
        tuple(panels),
        Grid(
            ("candidate", *grids[0][1].header),
            tuple((arm.name, *row) for arm, grid in grids for row in grid.rows),
        ),
        notes=(*notes, *dict.fromkeys(note for _, figure in found for note in figure.notes)),
    )


def _of(arm: Arm, panel: Panel) -> Panel:
    return replace(
        panel,
        key=f"{arm.slot}-{panel.key}",
        title=f"{panel.title}: {arm.name}",
        summary=f"{arm.name}. {panel.summary}",
    )
