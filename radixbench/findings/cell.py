"""Cells and runs by name, as findings and comparisons speak of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from radixbench.capture.model import CellValue, Run

CellKey = tuple[tuple[str, CellValue], ...]


def cell_key(cell: Mapping[str, CellValue]) -> CellKey:
    """A cell as a dictionary key, whatever the order of its axes."""
    return tuple(sorted(cell.items()))


def cell_name(cell: CellKey) -> str:
    """``shared_tokens 4096, turns 4``; a cell without axes is ``all requests``."""
    return ", ".join(_axes(dict(cell))) or "all requests"


def run_name(run: Run) -> str:
    """``shared_tokens 4096, seed 2, on``."""
    return ", ".join([*_axes(run.cell), f"seed {run.seed}", run.mode])


def _axes(cell: Mapping[str, CellValue]) -> Iterator[str]:
    return (f"{axis} {value}" for axis, value in cell.items())
