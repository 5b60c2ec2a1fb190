"""A ``ReportView`` on a terminal; off a terminal, plain lines that tools can read.

Names come from files and servers: they are printed as text, never as markup, and without control
characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from radixbench.report.console.plain import clean
from radixbench.report.model import FactorRow, ReportView, Tone

ALWAYS_SHOWN = frozenset({"e2e_p50", "hit_rate"})
_STYLES: dict[Tone, str] = {
    "better": "green",
    "worse": "red",
    "neutral": "dim",
    "caution": "yellow",
    "refused": "magenta",
}


def print_view(view: ReportView, console: Console | None = None) -> None:
    """The headline, the rows that decide it, and the caveats; on stdout unless told otherwise."""
    console = console or Console()
    if console.is_terminal:
        _print_rich(view, console)
        return
    for line in plain_lines(view):
        console.print(Text(line), soft_wrap=True)


def print_command(command: str, console: Console | None = None) -> None:
    """A command to type next, on a line of its own, unbroken so that it can be copied."""
    (console or Console()).print(Text(clean(command)), soft_wrap=True)


def plain_lines(view: ReportView) -> Iterator[str]:
    """One line for each thing to say."""
    return (clean(line) for line in _plain(view))


def _plain(view: ReportView) -> Iterator[str]:
    yield f"{view.headline.label}: {view.headline.sentence}"
    yield from view.headline.details
    for cell in view.cells:
        for row in shown_rows(cell.rows):
            yield f"{cell.title} | {row.title} | {' | '.join(_plain_values(view, row))}"
    for caveat in view.caveats:
        yield f"{caveat.severity} {caveat.code}: {caveat.text} ({caveat.remedy})"


def _plain_values(view: ReportView, row: FactorRow) -> Iterator[str]:
    if view.kind == "single":
        yield row.a.whole
        return
    for arm, value in zip(view.arms, (row.a, row.b), strict=True):
        yield f"{arm.name} {value.whole}"
    yield row.factor.whole
    yield f"{row.verdict} ({row.verdict_note})" if row.verdict_note else row.verdict


def shown_rows(rows: Iterable[FactorRow]) -> list[FactorRow]:
    """The rows that fit a terminal: gated ones, and those that explain them."""
    return [row for row in rows if row.gated or row.metric in ALWAYS_SHOWN]


def _print_rich(view: ReportView, console: Console) -> None:
    style = _STYLES[view.headline.tone]
    body = Text(clean(view.headline.sentence))
    for detail in view.headline.details:
        body.append(f"\n{clean(detail)}", style="dim")
    console.print(
        Panel(
            body,
            title=Text(view.headline.label, style=f"bold {style}"),
            title_align="left",
            border_style=style,
        )
    )
    if view.cells:
        console.print(_table(view))
    for caveat in view.caveats:
        line = Text(f"{caveat.mark} {caveat.code} ", style=f"bold {_STYLES[caveat.tone]}")
        line.append(clean(caveat.text), style="default not bold")
        line.append(f"\n  {clean(caveat.remedy)}", style="dim not bold")
        console.print(line)


def _table(view: ReportView) -> Table:
    comparison = view.kind == "comparison"
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for arm in view.arms:
        table.add_column(Text(clean(arm.name)), justify="right", style="default")
    if comparison:
        table.add_column("Factor", justify="right")
        table.add_column("Verdict")
    for cell in view.cells:
        table.add_row(Text(clean(cell.title), style="bold"))
        for row in shown_rows(cell.rows):
            table.add_row(*_cells(row, comparison=comparison))
    return table


def _cells(row: FactorRow, *, comparison: bool) -> Iterator[Text]:
    yield Text(f"  {row.title}")
    yield _value(row.a.value, row.a.span, row.a.note)
    if not comparison:
        return
    yield _value(row.b.value, row.b.span, row.b.note)
    yield _value(row.factor.value, row.factor.span, "")
    verdict = Text(row.verdict, style=_STYLES[row.tone])
    for note, style in ((row.factor.note, "yellow"), (row.verdict_note, "dim")):
        if note:
            verdict.append(f" {clean(note)}", style=style)
    yield verdict


def _value(value: str, span: str, note: str) -> Text:
    text = Text(clean(value))
    if span:
        text.append(f" ({span})", style="dim")
    if note:
        text.append(f" {clean(note)}", style="yellow")
    return text
