"""Parts of a text that has to stay short: of the later ones rows are left out, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: ``rows`` may be cut, ``head`` and ``tail`` stand around them; no rows, no block."""

    head: tuple[str, ...]
    rows: tuple[str, ...]
    tail: tuple[str, ...] = ("",)


def within(blocks: Iterable[Block], limit: int) -> list[str]:
    """The blocks' lines, the first blocks and rows first, in at most ``limit`` characters with their line ends."""
    lines: list[str] = []
    left = limit
    for block in blocks:
        taken = _taken(block, left)
        lines += taken
        left -= _length(taken)
    return lines


def _taken(block: Block, room: int) -> list[str]:
    """As much of a block as fits: all, or its first rows with a note of how many are missing, or nothing."""
    whole = [*block.head, *block.rows, *block.tail]
    if not block.rows or _length(whole) <= room:
        return whole if block.rows else []
    left = room - _length([*block.head, *block.tail, *_note(len(block.rows))])
    kept: list[str] = []
    for row in block.rows:
        left -= _length([row])
        if left < 0:
            break
        kept.append(row)
    if not kept:
        return []
    return [*block.head, *kept, *_note(len(block.rows) - len(kept)), *block.tail]


def _note(missing: int) -> list[str]:
    return ["", f"… and {missing:,} more lines: see the report"]


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)
