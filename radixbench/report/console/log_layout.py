"""Facts and tables of a log within the width of a terminal, so that no figure is ever cut or broken.

Sentences are wrapped below themselves. A table that is too wide loses its least telling columns first,
and says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from radixbench.report import text
from radixbench.report.console.plain import clean
from radixbench.report.logs.model import Column, Fact, LogTable, Section

_GAP = "  "
_WIDEST_VALUE = 24
_LEAST_TEXT = 16


def section_lines(section: Section, console: Console) -> Iterator[Text]:
    """The section's title, its facts with their notes, and its sentences."""
    yield Text(section.title, style="bold")
    titles = max((cell_len(clean(fact.title)) for fact in section.facts), default=0)
    short = [cell_len(clean(fact.value)) for fact in section.facts]
    values = max((n for n in short if n <= _WIDEST_VALUE), default=0)
    for fact in section.facts:
        yield from _fact(fact, titles, values, console)
    for note in section.notes:
        yield from hanging(_GAP, Text(clean(note), style="dim"), console)


def _fact(fact: Fact, titles: int, values: int, console: Console) -> Iterator[Text]:
    title, value = clean(fact.title), clean(fact.value)
    head = f"{_GAP}{title}{' ' * (titles - cell_len(title))}{_GAP}"
    if cell_len(value) > _WIDEST_VALUE:
        yield from hanging(head, Text(value), console)
        return
    head += " " * (values - cell_len(value)) + value
    if fact.note:
        yield from hanging(head + _GAP, Text(clean(fact.note), style="dim"), console)
    else:
        yield Text(head)


def hanging(head: str, words: Text, console: Console) -> Iterator[Text]:
    """``words`` beside ``head``, their further lines below the first; below the head where there is no room."""
    indent = cell_len(head)
    if console.width - indent < min(words.cell_len, _LEAST_TEXT):
        yield Text(head.rstrip())
        head = _GAP * 2
        indent = len(head)
    for place, line in enumerate(words.wrap(console, max(console.width - indent, 1))):
        line.rstrip()
        yield Text(" " * indent if place else head).append_text(line)


def table_lines(table: LogTable, console: Console) -> Iterator[Text]:
    """The table with as many columns as fit, least telling ones left out."""
    yield Text(table.title, style="bold")
    shown = _fitting(table, console.width)
    columns = [table.columns[i] for i in shown]
    rows = [[clean(row[i]) for i in shown] for row in table.rows]
    total = [clean(table.total[i]) for i in shown] if table.total else []
    widths = _widths(columns, [*rows, total] if total else rows)
    flowing = bool(columns) and not columns[-1].numeric
    yield _placed([column.title for column in columns], columns, widths, style="dim")
    for row in rows:
        yield from _row(row, columns, widths, console) if flowing else [_placed(row, columns, widths)]
    if total:
        yield _placed(total, columns, widths, style="bold")
    left_out = [column.title for i, column in enumerate(table.columns) if i not in shown]
    if left_out:
        words = f"not shown for want of width: {text.several(left_out)}"
        yield from hanging(_GAP, Text(words, style="dim"), console)
    for note in table.notes:
        yield from hanging(_GAP, Text(clean(note), style="dim"), console)


def _fitting(table: LogTable, width: int) -> list[int]:
    """The places of the columns to show. The last one, if it holds words, may be wrapped and needs little room."""
    shown = list(range(len(table.columns)))
    everything = [*table.rows, table.total] if table.total else list(table.rows)
    while True:
        columns = [table.columns[i] for i in shown]
        widths = _widths(columns, [[clean(row[i]) for i in shown] for row in everything])
        if columns and not columns[-1].numeric:
            widths[-1] = min(widths[-1], _LEAST_TEXT)
        droppable = [i for i in shown if table.columns[i].rank]
        if sum(widths) + len(_GAP) * len(widths) <= width or not droppable:
            return shown
        shown.remove(max(droppable, key=lambda i: (table.columns[i].rank, i)))


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max([cell_len(column.title), *(cell_len(row[i]) for row in rows)]) for i, column in enumerate(columns)
    ]


def _placed(row: Sequence[str], columns: Sequence[Column], widths: Sequence[int], style: str = "") -> Text:
    """Figures to the right of their columns, words to the left."""
    cells = [
        value.rjust(room - cell_len(value) + len(value)) if column.numeric else _padded(value, room)
        for value, column, room in zip(row, columns, widths, strict=True)
    ]
    return Text((_GAP + _GAP.join(cells)).rstrip(), style=style)


def _padded(value: str, room: int) -> str:
    return value + " " * (room - cell_len(value))


def _row(
    row: Sequence[str], columns: Sequence[Column], widths: Sequence[int], console: Console
) -> Iterator[Text]:
    """A row whose last column holds words and may take several lines."""
    if not row[-1]:
        yield _placed(row, columns, widths)
        return
    head = _placed([*row[:-1], ""], columns, [*widths[:-1], 0]).plain
    room = sum(widths[:-1]) + len(_GAP) * len(widths)
    yield from hanging(_padded(head, room), Text(row[-1]), console)
