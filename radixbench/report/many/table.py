"""Captures side by side: the rows of every candidate's own table of factors, put next to one another."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.compare.many import Many
from radixbench.report import text
from radixbench.report.cells import cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.many.model import Cell, Column, Row
from radixbench.report.model import FactorCell, FactorRow, Value
from radixbench.report.table import factor_cells, single_cells

Key = tuple[str, str]
"""A cell's title and a metric."""

EXPLAINS = "explains"
_ALONE = Value(text.MISSING, note="no run of this cell")


def side_by_side(many: Many, sides: Sequence[Evidence], gate: Sequence[str]) -> tuple[Cell, ...]:
    """Every metric of every cell of any capture, cells in the order of their axes, gated rows first.

    The reference's figure is the mean over its runs that were paired; where candidates pair with unlike runs of it, the
    mean over all of them, and each candidate's column tells the one that its factor is made of.
    """
    tables = [_rows(factor_cells(comparison, gate)) for comparison in many.comparisons]
    whole = {key: row.a for key, row in _rows(single_cells(sides[-1], gate)).items()}
    cells = {cell_title(c.cell): c.cell for comparison in many.comparisons for c in comparison.changes}
    titles = sorted(cells, key=lambda title: cell_order(cells[title]))
    return tuple(
        Cell(title, tuple(_row((title, metric), tables, whole) for metric in _metrics(title, tables)))
        for title in titles
    )


def _rows(cells: Sequence[FactorCell]) -> dict[Key, FactorRow]:
    return {(cell.title, row.metric): row for cell in cells for row in cell.rows}


def _metrics(title: str, tables: Sequence[dict[Key, FactorRow]]) -> list[str]:
    found = {metric: row for table in tables for (cell, metric), row in table.items() if cell == title}
    return sorted(found, key=lambda metric: not found[metric].gated)


def _row(key: Key, tables: Sequence[dict[Key, FactorRow]], whole: dict[Key, Value]) -> Row:
    found = [table.get(key) for table in tables]
    known = next(row for row in found if row is not None)
    values = list(dict.fromkeys(row.b for row in found if row is not None))
    shared = values[0] if len(values) == 1 else whole.get(key, _ALONE)
    return Row(
        metric=known.metric,
        title=known.title,
        gated=known.gated,
        columns=(*(_column(row, shared) for row in found), Column(shared)),
        note=known.note,
        formula=known.formula,
    )


def _column(row: FactorRow | None, reference: Value) -> Column:
    if row is None:
        return Column(_ALONE)
    absent = row.factor.value == text.MISSING
    notes = [row.verdict_note] if row.verdict_note else []
    if row.b != reference and row.b.value != text.MISSING:
        notes.append(f"against {row.b.whole} over the seeds that both have")
    return Column(
        value=row.a,
        factor=None if absent else row.factor,
        verdict="" if absent and row.verdict == EXPLAINS else row.verdict,
        tone=row.tone,
        note="; ".join(notes),
        caveats=row.caveats,
    )
