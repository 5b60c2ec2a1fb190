"""Cells of a sweep: what they are called, how they are ordered and looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from radixbench.report import text

CellKey = tuple[tuple[str, int | float | str], ...]

EVERYTHING = "all requests"
"""What a cell without axes is called: it is the whole workload."""

_FEW = 3

_COUNTED = {
    "shared_tokens": ("shared token", "shared tokens"),
    "turns": ("turn", "turns"),
    "groups": ("group", "groups"),
}
_NAMED = {
    "max_concurrency": "concurrency",
    "question_len": "question",
    "output_len": "answer",
    "schedule_policy": "policy",
    "page_size": "page size",
    "chunked_prefill_size": "prefill chunk",
    "max_total_tokens": "pool",
}
_ORDER = (
    "shared_tokens",
    "turns",
    "max_concurrency",
    "request_rate",
    "question_len",
    "output_len",
    "groups",
    "schedule_policy",
    "page_size",
    "chunked_prefill_size",
    "max_total_tokens",
)


def cell_title(cell: Mapping[str, int | float | str]) -> str:
    """``4,096 shared tokens, 4 turns, concurrency 8``; a cell without axes is ``all requests``."""
    return ", ".join(_part(key, value) for key, value in by_axis(cell)) or EVERYTHING


def by_axis(cell: Mapping[str, int | float | str]) -> list[tuple[str, int | float | str]]:
    """A cell's values in the order in which axes are always told, whatever order they come in."""
    known = [key for key in _ORDER if key in cell]
    return [(key, cell[key]) for key in (*known, *(key for key in cell if key not in _ORDER))]


def at_cell(cell: Mapping[str, int | float | str]) -> str:
    """Where something is in a sentence: ``at 4,096 shared tokens``, ``over all requests``."""
    return f"at {cell_title(cell)}" if cell else f"over {EVERYTHING}"


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


def _part(key: str, value: int | float | str) -> str:
    shown = shown_value(value)
    if key in _COUNTED:
        one, many = _COUNTED[key]
        return f"{shown} {one if value == 1 else many}"
    if key == "request_rate":
        return f"rate {shown}/s"
    if key in _NAMED:
        return f"{_NAMED[key]} {shown}"
    name = key.replace("_", " ")
    if isinstance(value, int):
        return f"{shown} {name.removesuffix('s') if value == 1 else name}"
    return f"{name} {shown}"


def shown_value(value: int | float | str) -> str:
    """A cell's value on one axis as text: ``4,096``, ``12.5``, ``lpm``."""
    if isinstance(value, str):
        return value
    return text.count(value) if isinstance(value, int) else f"{value:,.10g}"


def cell_order(cell: Mapping[str, int | float | str]) -> tuple[tuple[int, float, str], ...]:
    """Sorts cells by their axes, numbers by size and before words."""
    return tuple((1, 0.0, v) if isinstance(v, str) else (0, float(v), "") for _, v in by_axis(cell))


def cell_key(cell: Mapping[str, int | float | str]) -> CellKey:
    """A cell as something to look up by, whatever the order of its axes."""
    return tuple(sorted(cell.items()))


def shared_tokens(cell: Mapping[str, int | float | str]) -> int | None:
    """The shared length of a cell, where it has one."""
    value = cell.get("shared_tokens")
    return value if isinstance(value, int) else None
