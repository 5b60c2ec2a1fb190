"""A ``ReportView`` on a terminal; off a terminal, plain lines that tools can read.

Names come from files and servers: they are printed as text, never as markup, and without control
characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from radixbench.report.console.plain import clean
from radixbench.report.console.table import STYLES, table_lines
from radixbench.report.model import FactorRow, ReportView, Statement, Tone

_MARKS: dict[Tone, str] = {"better": "✓", "worse": "✕", "neutral": "·", "caution": "!", "refused": "✕"}


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
        for row in cell.first:
            yield f"{cell.title} | {row.title} | {' | '.join(_plain_values(view, row))}"
    for title, formula in _formulas(view).items():
        yield f"{title}: {formula}"
    for one in view.brief:
        yield f"{one.word}: {one.text}" if one.word else one.text
    yield from _differences(view)
    for caveat in view.told:
        yield f"{caveat.severity} {caveat.code}: {caveat.text} ({caveat.remedy})"
    if view.also:
        yield view.also


def _differences(view: ReportView) -> Iterator[str]:
    """Everything that differs between the captures, allowed or not, by name."""
    if view.differences:
        yield f"The captures differ in: {', '.join(one.name for one in view.differences)}."


def _formulas(view: ReportView) -> dict[str, str]:
    return {row.title: row.formula for cell in view.cells for row in cell.first if row.formula}


def _plain_values(view: ReportView, row: FactorRow) -> Iterator[str]:
    if view.kind == "single":
        yield row.a.whole
        return
    for arm, value in zip(view.arms, (row.a, row.b), strict=True):
        yield f"{arm.name} {value.whole}"
    yield row.factor.whole
    yield f"{row.verdict} ({row.verdict_note})" if row.verdict_note else row.verdict


def _statement(one: Statement) -> Text:
    mark = Text(f"{_MARKS[one.tone]} ", style=STYLES[one.tone])
    if one.word:
        mark.append(f"{one.word}: ", style=f"bold {STYLES[one.tone]}")
    return mark.append(clean(one.text), style="default")


def _print_rich(view: ReportView, console: Console) -> None:
    style = STYLES[view.headline.tone]
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
        console.print()
        for line in table_lines(view, console.width):
            console.print(line)
        for title, formula in _formulas(view).items():
            console.print(Text(f"{title}: {clean(formula)}", style="dim"))
        console.print()
    for one in view.brief:
        console.print(_statement(one))
    for sentence in _differences(view):
        console.print(Text(f"· {clean(sentence)}"))
    if view.brief and view.caveats:
        console.print()
    _print_caveats(view, console)


def _print_caveats(view: ReportView, console: Console) -> None:
    for caveat in view.told:
        line = Text(f"{caveat.mark} {caveat.code} ", style=f"bold {STYLES[caveat.tone]}")
        line.append(clean(caveat.text), style="default not bold")
        line.append(f"\n  {clean(caveat.remedy)}", style="dim not bold")
        console.print(line)
    if view.also:
        console.print(Text(view.also, style="dim"))
