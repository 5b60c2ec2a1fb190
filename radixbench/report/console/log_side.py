"""Several logs next to each other on a terminal; off a terminal, a line for each figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from radixbench.report.console.log_layout import hanging
from radixbench.report.console.log_view import head_lines, hit_panel, note_lines, write_lines
from radixbench.report.console.plain import clean
from radixbench.report.logs.model import SideBySide, SideRow

_GAP = "  "
_WIDEST = 30
_NO_VERDICT = "No verdict: what the servers were asked is not in their logs."


def print_side_by_side(side: SideBySide, console: Console | None = None) -> None:
    """Each log's hit rate, a row for each figure, then each log's notes; on stdout unless told otherwise."""
    console = console or Console()
    if console.is_terminal:
        _print_rich(side, console)
        return
    write_lines(plain_side_lines(side), console)


def plain_side_lines(side: SideBySide) -> Iterator[str]:
    """One line for each thing to say."""
    return (clean(line) for line in _plain(side))


def _plain(side: SideBySide) -> Iterator[str]:
    for view in side.views:
        yield view.head
        if view.part:
            yield view.part
        yield view.hit.sentence
        yield from view.hit.details
    for block in side.blocks:
        for row in block.rows:
            cells = (f"{name} {value}" for name, value in zip(side.names, row.values, strict=True))
            yield " | ".join((block.title, row.title, *cells))
        for note in block.notes:
            yield f"{block.title} | {note}"
    for name, view in zip(side.names, side.views, strict=True):
        yield from (f"note {note.code} ({name}): {note.text}" for note in view.notes)
    yield _NO_VERDICT


def _print_rich(side: SideBySide, console: Console) -> None:
    for view in side.views:
        for line in head_lines(view):
            console.print(line)
        console.print(hit_panel(view))
    console.print()
    for line in side_lines(side, console):
        console.print(line)
    for name, view in zip(side.names, side.views, strict=True):
        if view.notes:
            console.print()
            console.print(Text(f"Notes on {clean(name)}", style="bold"))
            for line in note_lines(view, console):
                console.print(line)
    console.print()
    console.print(Text(_NO_VERDICT, style="dim"))


def side_lines(side: SideBySide, console: Console) -> Iterator[Text]:
    """The table with a column for each log. A row that is too wide has its logs below one another; so have all where none fits."""
    rows = [row for block in side.blocks for row in block.rows]
    titles = _room(row.title for row in rows)
    widths = [
        max(cell_len(clean(name)), _room(row.values[i] for row in rows)) for i, name in enumerate(side.names)
    ]
    fits = len(_GAP) + titles + sum(widths) + len(_GAP) * len(widths) <= console.width
    if fits:
        yield _line("", side.names, titles, widths, style="bold")
    for block in side.blocks:
        yield Text(block.title, style="bold")
        for row in block.rows:
            cells = zip((row.title, *row.values), (titles, *widths), strict=True)
            if fits and all(cell_len(clean(value)) <= room for value, room in cells):
                yield _line(row.title, row.values, titles, widths)
            else:
                yield from _stacked(side, row, console)
        for note in block.notes:
            yield from hanging(_GAP, Text(clean(note), style="dim"), console)


def _room(values: Iterable[str]) -> int:
    """The width of the widest value that isn't a sentence."""
    widths = (cell_len(clean(value)) for value in values)
    return max((width for width in widths if width <= _WIDEST), default=0)


def _line(title: str, values: Sequence[str], titles: int, widths: Sequence[int], style: str = "") -> Text:
    shown = [clean(value) for value in values]
    cells = [" " * (room - cell_len(value)) + value for value, room in zip(shown, widths, strict=True)]
    head = clean(title)
    return Text(_GAP + _GAP.join([head + " " * (titles - cell_len(head)), *cells]), style=style)


def _stacked(side: SideBySide, row: SideRow, console: Console) -> Iterator[Text]:
    names = [clean(name) for name in side.names]
    room = max(cell_len(name) for name in names)
    yield Text(f"{_GAP}{clean(row.title)}")
    for name, value in zip(names, row.values, strict=True):
        head = f"{_GAP * 2}{name}{' ' * (room - cell_len(name))}{_GAP}"
        yield from hanging(head, Text(clean(value)), console)
