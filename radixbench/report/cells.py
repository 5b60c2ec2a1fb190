"""Cells of a sweep in reports: what they are called, how they are ordered and looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from radixbench.findings.cell import (
    EVERYTHING,
    CellKey,
    at_cell,
    by_axis,
    cell_key,
    cell_title,
    shown_value,
)

__all__ = [
    "EVERYTHING",
    "CellKey",
    "arm_at",
    "arm_cell",
    "at_cell",
    "by_axis",
    "cell_key",
    "cell_order",
    "cell_title",
    "cells_title",
    "shared_tokens",
    "shown_value",
]

_FEW = 3


def arm_cell(arm: str, cell: Mapping[str, int | float | str]) -> str:
    """``A (cache on), 4,096 shared tokens``; the arm alone where a cell has no axes."""
    return f"{arm}, {cell_title(cell)}" if cell else arm


def arm_at(arm: str, cell: Mapping[str, int | float | str]) -> str:
    """``A (cache on) at 4,096 shared tokens``; the arm alone where a cell has no axes."""
    return f"{arm} {at_cell(cell)}" if cell else arm


def cells_title(cells: Sequence[Mapping[str, int | float | str]], every: int) -> str:
    """Some of ``every`` cells in a few words: by their titles while they are few, else by what they have in common."""
    if len(cells) <= _FEW:
        return "; ".join(cell_title(cell) for cell in cells)
    if len(cells) == every:
        return f"all {every} cells"
    alike = {key: value for key, value in by_axis(cells[0]) if all(cell.get(key) == value for cell in cells)}
    return f"{len(cells)} of {every} cells{f', {cell_title(alike)}' if alike else ''}"


def cell_order(cell: Mapping[str, int | float | str]) -> tuple[tuple[int, float, str], ...]:
    """Sorts cells by their axes, numbers by size and before words."""
    return tuple((1, 0.0, v) if isinstance(v, str) else (0, float(v), "") for _, v in by_axis(cell))


def shared_tokens(cell: Mapping[str, int | float | str]) -> int | None:
    """The shared length of a cell, where it has one."""
    value = cell.get("shared_tokens")
    return value if isinstance(value, int) else None
