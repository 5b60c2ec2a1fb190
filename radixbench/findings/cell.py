"""Cells and runs by name, as findings, comparisons and reports speak of them."""

from __future__ import annotations

from collections.abc import Mapping

from radixbench.capture.model import CellValue, Run

CellKey = tuple[tuple[str, CellValue], ...]

EVERYTHING = "all requests"
"""What a cell without axes is called: it is the whole workload."""

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


def cell_key(cell: Mapping[str, CellValue]) -> CellKey:
    """A cell as a dictionary key, whatever the order of its axes."""
    return tuple(sorted(cell.items()))


def by_axis(cell: Mapping[str, CellValue]) -> list[tuple[str, CellValue]]:
    """A cell's values in the order in which axes are always told, whatever order they come in."""
    known = [key for key in _ORDER if key in cell]
    return [(key, cell[key]) for key in (*known, *(key for key in cell if key not in _ORDER))]


def cell_title(cell: Mapping[str, CellValue]) -> str:
    """``4,096 shared tokens, 4 turns, concurrency 8``; a cell without axes is ``all requests``."""
    return ", ".join(_part(key, value) for key, value in by_axis(cell)) or EVERYTHING


def cell_name(cell: CellKey) -> str:
    """The title of a cell that is told by its key."""
    return cell_title(dict(cell))


def at_cell(cell: Mapping[str, CellValue]) -> str:
    """Where something is in a sentence: ``at 4,096 shared tokens``, ``over all requests``."""
    return f"at {cell_title(cell)}" if cell else f"over {EVERYTHING}"


def run_name(run: Run) -> str:
    """``4,096 shared tokens, seed 2, cache on``."""
    axes = [_part(key, value) for key, value in by_axis(run.cell)]
    return ", ".join([*axes, f"seed {run.seed}", f"cache {run.mode}"])


def _part(key: str, value: CellValue) -> str:
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


def shown_value(value: CellValue) -> str:
    """A cell's value on one axis as text: ``4,096``, ``12.5``, ``lpm``."""
    if isinstance(value, str):
        return value
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else f"{value:,.10g}"
