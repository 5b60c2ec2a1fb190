"""What curves are drawn against: an axis of the sweep along which cells differ, the rest in panels of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from radixbench.report.cells import cell_title, shown_value

Cell = Mapping[str, int | float | str]

MAX_PANELS = 6
"""What a figure of a grid draws at most: a page stays small, and the table has every cell."""


class Axis(NamedTuple):
    """``key`` of the cells, "" for the arms side by side where no axis varies."""

    key: str
    noun: str
    title: str


LENGTH = Axis("shared_tokens", "shared length", "shared prefix (tokens)")
TURNS = Axis("turns", "turns", "turns of a conversation")
CONCURRENCY = Axis("max_concurrency", "concurrency", "requests in flight at most")
RATE = Axis("request_rate", "request rate", "conversations started per second")
ARMS = Axis("", "arm", "a column for each arm")

_AXES = (
    LENGTH,
    TURNS,
    CONCURRENCY,
    RATE,
    Axis("groups", "groups", "groups, each with a prefix of its own"),
    Axis("question_len", "question length", "question (tokens)"),
    Axis("output_len", "answer length", "answer (tokens)"),
    Axis("page_size", "page size", "page size (tokens)"),
    Axis("chunked_prefill_size", "prefill chunk", "prefill chunk (tokens)"),
    Axis("max_total_tokens", "pool size", "pool (tokens)"),
    Axis("schedule_policy", "schedule policy", "schedule policy"),
)


class Place(NamedTuple):
    """Where a cell lies on an axis, and the title of everything else."""

    x: int | float | str
    facet: str


def varies(axis: Axis, cells: Iterable[Cell]) -> bool:
    """Whether the cells differ along the axis, all of them having it."""
    values = [cell.get(axis.key) for cell in cells]
    return None not in values and len(set(values)) > 1


def main_axis(cells: Sequence[Cell]) -> Axis:
    """The first axis along which cells differ; numbers before words; the arms where none does."""
    for axis in _AXES:
        if varies(axis, cells):
            return axis
    for key in dict.fromkeys(key for cell in cells for key in cell):
        other = Axis(key, key.replace("_", " "), key.replace("_", " "))
        if varies(other, cells):
            return other
    return ARMS


def place(axis: Axis, cell: Cell, arm: str) -> Place:
    """The cell's place on the axis; the arms are places of their own where no axis varies."""
    if not axis.key:
        return Place(arm, cell_title(cell) if cell else "")
    value = cell.get(axis.key)
    if value is None:
        return Place(cell_title(cell), "")
    rest = {key: other for key, other in cell.items() if key != axis.key}
    return Place(value, cell_title(rest) if rest else "")


def label(axis: Axis, cell: Cell) -> str:
    """The cell's place on the axis as text; its whole title where no axis varies."""
    value = cell.get(axis.key)
    return cell_title(cell) if value is None else shown_value(value)


def in_table_only(left_out: int) -> tuple[str, ...]:
    """The note of a figure that draws not all it has panels for; none where it does."""
    if left_out <= 0:
        return ()
    return (f"{left_out} more {'panel is' if left_out == 1 else 'panels are'} not drawn: see the table.",)
