"""Cells of a sweep: what they are called, how they are ordered and looked up."""

from __future__ import annotations

from collections.abc import Mapping

from radixbench.report import text

CellKey = tuple[tuple[str, int | str], ...]


def cell_title(cell: Mapping[str, int | str]) -> str:
    """``4,096 shared tokens, 4 turns``; a cell without axes is ``all requests``."""
    parts: list[str] = []
    for key, value in cell.items():
        shown = text.count(value) if isinstance(value, int) else value
        name = key.replace("_", " ")
        parts.append(
            f"{shown} {_one(name) if value == 1 else name}" if isinstance(value, int) else f"{name} {shown}"
        )
    return ", ".join(parts) if parts else "all requests"


def _one(name: str) -> str:
    return name.removesuffix("s")


def cell_order(cell: Mapping[str, int | str]) -> tuple[tuple[int, float, str], ...]:
    """Sorts cells by their axes, numbers by size and before words."""
    return tuple((0, float(v), "") if isinstance(v, int) else (1, 0.0, v) for v in cell.values())


def cell_key(cell: Mapping[str, int | str]) -> CellKey:
    """A cell as something to look up by, whatever the order of its axes."""
    return tuple(sorted(cell.items()))


def shared_tokens(cell: Mapping[str, int | str]) -> int | None:
    """The shared length of a cell, where it has one."""
    value = cell.get("shared_tokens")
    return value if isinstance(value, int) else None
