"""A log's figures on a terminal; off a terminal, plain lines that tools can read.

What a log says was written by others: it is printed as text, never as markup, and without control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from radixbench.report.console.log_layout import hanging, section_lines, table_lines
from radixbench.report.console.plain import clean
from radixbench.report.logs.model import LogTable, LogView, Section


def print_log(view: LogView, console: Console | None = None) -> None:
    """Everything about one log, its notes last; on stdout unless told otherwise."""
    console = console or Console()
    if console.is_terminal:
        _print_rich(view, console)
        return
    write_lines(plain_lines(view), console)


def write_lines(lines: Iterable[str], console: Console) -> None:
    """Lines as they are, past all layout: there may be thousands."""
    console.file.writelines(f"{line}\n" for line in lines)


def plain_lines(view: LogView) -> Iterator[str]:
    """One line for each thing to say."""
    return (clean(line) for line in _plain(view))


def head_lines(view: LogView) -> Iterator[Text]:
    """Which log it is, and which part of it."""
    yield Text(clean(view.head))
    if view.part:
        yield Text(clean(view.part), style="bold")


def hit_panel(view: LogView) -> Panel:
    """The hit rate with the tokens it is made of, in a box."""
    body = Text(clean(view.hit.sentence), style="bold")
    for detail in view.hit.details:
        body.append(f"\n{clean(detail)}", style="dim not bold")
    return Panel(body, border_style="green" if view.hit.known else "yellow")


def note_lines(view: LogView, console: Console) -> Iterator[Text]:
    """Each note under its code."""
    for note in view.notes:
        yield Text(f"! {clean(note.code)}", style="bold yellow")
        yield from hanging("  ", Text(clean(note.text)), console)


def _print_rich(view: LogView, console: Console) -> None:
    for line in head_lines(view):
        console.print(line)
    console.print(hit_panel(view))
    for section in view.figures:
        _print_block(section_lines(section, console), console)
    for table in view.tables:
        _print_block(table_lines(table, console), console)
    if view.settings is not None:
        _print_block(section_lines(view.settings, console), console)
    if view.notes:
        _print_block(note_lines(view, console), console)


def _print_block(lines: Iterator[Text], console: Console) -> None:
    console.print()
    for line in lines:
        console.print(line)


def _plain(view: LogView) -> Iterator[str]:
    yield view.head
    if view.part:
        yield view.part
    yield view.hit.sentence
    yield from view.hit.details
    for section in view.figures:
        yield from _plain_section(section)
    for table in view.tables:
        yield from _plain_table(table)
    if view.settings is not None:
        yield from _plain_section(view.settings)
    for note in view.notes:
        yield f"note {note.code}: {note.text}"


def _plain_section(section: Section) -> Iterator[str]:
    for fact in section.facts:
        yield " | ".join(part for part in (section.title, fact.title, fact.value, fact.note) if part)
    for note in section.notes:
        yield f"{section.title} | {note}"


def _plain_table(table: LogTable) -> Iterator[str]:
    yield table.title
    for row in (*table.rows, table.total):
        cells = [
            f"{column.word} {value}" if column.word else value
            for column, value in zip(table.columns, row, strict=False)
            if value
        ]
        if cells:
            yield " | ".join((table.name, *cells))
    yield from table.notes
