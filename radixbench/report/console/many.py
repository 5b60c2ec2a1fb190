"""Several captures on a terminal: a verdict for each candidate, then a column for each capture, or a line where columns don't fit.

Off a terminal, one plain line for each thing to say. Names come from files and servers and are printed as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from radixbench.report.console.plain import clean
from radixbench.report.console.table import STYLES
from radixbench.report.many.model import Column, Concern, ManyView, Row
from radixbench.report.model import Arm

_GAP = "  "
Lines = tuple[Text, ...]


def print_many(view: ManyView, console: Console | None = None) -> None:
    """The verdicts, the rows that decide them, and the caveats; on stdout unless told otherwise."""
    console = console or Console()
    if not console.is_terminal:
        for line in plain_lines(view):
            console.print(Text(line), soft_wrap=True)
        return
    console.print(Text(clean(view.sentence), style="bold"))
    for one in view.candidates:
        style = STYLES[one.headline.tone]
        console.print()
        console.print(Text(f"{clean(one.arm.name)}: {clean(one.headline.label)}", style=f"bold {style}"))
        console.print(Text(clean(one.headline.sentence)))
        for detail in one.headline.details:
            console.print(Text(clean(detail), style="dim"))
    console.print()
    for drawn in table_lines(view, console.width):
        console.print(drawn)
    console.print()
    for told in view.told:
        console.print(_caveat(told))
    if view.also:
        console.print(Text(clean(view.also), style="dim"))


def plain_lines(view: ManyView) -> Iterator[str]:
    """One line for each thing to say, without control characters."""
    return (clean(line) for line in _plain(view))


def _plain(view: ManyView) -> Iterator[str]:
    yield view.sentence
    for one in view.candidates:
        yield f"{one.arm.name}: {one.headline.label}: {one.headline.sentence}"
        yield from (f"{one.arm.name}: {detail}" for detail in one.headline.details)
    for cell in view.cells:
        for row in cell.first:
            columns = (_told(arm, column) for arm, column in zip(view.arms, row.columns, strict=True))
            yield f"{cell.title} | {row.title} | {' | '.join(columns)}"
    for told in view.told:
        caveat = told.caveat
        yield f"{caveat.severity} {caveat.code} ({told.who}): {caveat.text} ({caveat.remedy})"
    if view.also:
        yield view.also


def _told(arm: Arm, column: Column) -> str:
    parts = [f"{arm.name} {column.value.whole}"]
    if column.verdict:
        factor = "" if column.factor is None else f"{column.factor.whole} "
        parts.append(f"{factor}{column.verdict}")
    return f"{', '.join(parts)} ({column.note})" if column.note else ", ".join(parts)


def table_lines(view: ManyView, width: int) -> Iterator[Text]:
    """The table as lines of at most ``width`` columns where that is possible; notes may be wrapped."""
    names = [Text(clean(arm.name), style="bold") for arm in view.arms]
    rows = [row for cell in view.cells for row in cell.first]
    blocks = [[_column(column) for column in row.columns] for row in rows]
    label = max((len(row.title) + 2 for row in rows), default=0)
    widths = [
        max([name.cell_len, *(line.cell_len for block in blocks for line in block[place])])
        for place, name in enumerate(names)
    ]
    if label + sum(widths) + len(_GAP) * len(widths) > width:
        yield from _stacked(view)
        return
    yield _placed(Text(" " * label), names, widths)
    yield Text("─" * (label + sum(widths) + len(_GAP) * len(widths)), style="dim")
    for cell in view.cells:
        yield Text(clean(cell.title), style="bold")
        for row in cell.first:
            yield from _tabulated(row, label, widths)
            yield from _notes(view, row)


def _column(column: Column) -> Lines:
    """The figure, its interval, the factor with its verdict, the factor's interval: each on a line of its own."""
    value = Text(clean(column.value.value))
    if column.value.span:
        value.append(f" ({clean(column.value.span)})", style="dim")
    if not column.verdict:
        return (value,)
    verdict = Text("" if column.factor is None else f"{clean(column.factor.value)} ")
    verdict.append(clean(column.verdict), style=STYLES[column.tone])
    if column.factor is None or not column.factor.span:
        return value, verdict
    span = Text(f"({clean(column.factor.span)})", style="dim")
    if column.factor.note:
        span.append(f" {clean(column.factor.note)}", style="yellow")
    return value, verdict, span


def _tabulated(row: Row, label: int, widths: Sequence[int]) -> Iterator[Text]:
    columns = [_column(column) for column in row.columns]
    for place in range(max(map(len, columns))):
        lines = [column[place] if place < len(column) else Text("") for column in columns]
        title = f"  {row.title}" if place == 0 else ""
        yield _placed(Text(f"{title:<{label}}"), lines, widths)


def _placed(label: Text, lines: Sequence[Text], widths: Sequence[int]) -> Text:
    placed = label.copy()
    for line, room in zip(lines, widths, strict=True):
        placed.append(_GAP + " " * (room - line.cell_len)).append_text(line)
    placed.rstrip()
    return placed


def _stacked(view: ManyView) -> Iterator[Text]:
    """A line for each capture, for narrow terminals and many captures."""
    room = max(len(clean(arm.name)) for arm in view.arms)
    for cell in view.cells:
        yield Text(clean(cell.title), style="bold")
        for row in cell.first:
            yield Text(f"  {row.title}")
            for arm, column in zip(view.arms, row.columns, strict=True):
                line = Text(f"    {clean(arm.name):<{room}}")
                for part in _column(column):
                    line.append(_GAP).append_text(part)
                yield line
            yield from _notes(view, row)


def _notes(view: ManyView, row: Row) -> Iterator[Text]:
    """Why a figure or a verdict is missing, unless a headline has said it."""
    said = " ".join(one.headline.sentence for one in view.candidates)
    for arm, column in zip(view.arms, row.columns, strict=True):
        for note in (column.value.note, column.note):
            if note and note not in said:
                yield Text(f"    {clean(arm.name)}: {clean(note)}", style="yellow")


def _caveat(one: Concern) -> Text:
    line = Text(f"{one.caveat.mark} {clean(one.caveat.code)} ", style=f"bold {STYLES[one.caveat.tone]}")
    line.append(f"({clean(one.who)}) {clean(one.caveat.text)}", style="default not bold")
    return line.append(f"\n  {clean(one.caveat.remedy)}", style="dim not bold")
