"""A table as a CSV file that a spreadsheet may open: text from a server never becomes a formula.

A cell of text that begins as a formula does (``=``, ``+``, ``-``, ``@``, also wide ones or behind blanks) gets a ``'`` before it, which
spreadsheets show as plain text; a character that a terminal would obey is replaced. Numbers stay numbers, with a minus too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from radixbench.capture.output import replacing

Cell = str | int | float | bool | None

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


_OBEYED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal or a line's direction follows; tabs and ends of lines are text to a spreadsheet."""


def written(path: Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Path:
    """Write the table to ``path``, whole or not at all, and say where; UTF-8, rows end in CR LF."""
    with replacing(path) as file:
        table = csv.writer(_Utf8(file))
        table.writerow([harmless(name) for name in header])
        table.writerows([harmless(cell) for cell in row] for row in rows)
    return path


def harmless(cell: Cell) -> str | int | float:
    """A cell as it is written: empty for the unknown, ``true`` and ``false``, text that is only text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if not isinstance(cell, str):
        return cell
    is_formula = cell.lstrip().startswith(_FORMULA) or cell[:1] in ("\t", "\r", "\n")
    quiet = _OBEYED.sub("\ufffd", cell)
    return f"'{quiet}" if is_formula else quiet


@dataclass(frozen=True, slots=True)
class _Utf8:
    """Takes text and writes bytes; half characters come out as escapes."""

    file: BinaryIO

    def write(self, text: str) -> int:
        """As a text file does."""
        return self.file.write(text.encode("utf-8", errors="backslashreplace"))
