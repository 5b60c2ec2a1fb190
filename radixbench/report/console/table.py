"""The rows of a view, laid out for the width of a terminal so that no figure is ever cut or broken.

Three layouts, the first that fits: a line for each row; each interval below its figure; the figures of
a row below one another. Titles of cells and notes have lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from radixbench.report.console.plain import clean
from radixbench.report.model import FactorRow, ReportView, Tone, Value

STYLES: dict[Tone, str] = {
    "better": "green",
    "worse": "red",
    "neutral": "dim",
    "caution": "yellow",
    "refused": "magenta",
}
_GAP = "  "
Line = tuple[Text, ...]


def table_lines(view: ReportView, width: int) -> Iterator[Text]:
    """The table as lines of at most ``width`` columns, apart from notes, which may be wrapped."""
    header = _header(view)
    for folded in (False, True):
        body = [line for cell in view.cells for row in cell.first for line in _row(view, row, folded)]
        widths = [max(line[i].cell_len for line in [header, *body]) for i in range(len(header))]
        if sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
            yield from _tabulated(view, header, widths, folded=folded)
            return
    yield from _stacked(view)


def _header(view: ReportView) -> Line:
    names = [clean(arm.name) for arm in view.arms]
    if view.kind == "comparison":
        names += ["Factor", "Verdict"]
    return (Text(""), *(Text(name, style="bold") for name in names))


def _tabulated(view: ReportView, header: Line, widths: Sequence[int], *, folded: bool) -> Iterator[Text]:
    yield _placed(view, header, widths)
    yield Text("─" * (sum(widths) + len(_GAP) * (len(widths) - 1)), style="dim")
    for cell in view.cells:
        yield Text(clean(cell.title), style="bold")
        for row in cell.first:
            for line in _row(view, row, folded):
                yield _placed(view, line, widths)
            yield from _notes(view, row)


def _placed(view: ReportView, line: Line, widths: Sequence[int]) -> Text:
    """A line with figures to the right of their columns, names and verdicts to the left."""
    last = len(line) - 1 if view.kind == "comparison" else len(line)
    placed = Text()
    for i, (text, room) in enumerate(zip(line, widths, strict=True)):
        space = Text(" " * (room - text.cell_len))
        parts = (text, space) if i in {0, last} else (space, text)
        placed = placed.append_text(Text(_GAP if i else "")).append_text(parts[0]).append_text(parts[1])
    placed.rstrip()
    return placed


def _row(view: ReportView, row: FactorRow, folded: bool) -> list[Line]:
    """One row as one line, or as two with the intervals on the second."""
    values = _values(view, row)
    verdict = [_verdict(row)] if view.kind == "comparison" else []
    name = Text(f"  {row.title}")
    if not folded:
        return [(name, *(_whole(value) for _, value in values), *verdict)]
    lines: list[Line] = [(name, *(Text(clean(value.value)) for _, value in values), *verdict)]
    if any(value.span for _, value in values):
        lines.append((Text(""), *(_span(value) for _, value in values), *(Text("") for _ in verdict)))
    return lines


def _values(view: ReportView, row: FactorRow) -> list[tuple[str, Value]]:
    """The figures of a row with their names."""
    named = [(clean(arm.name), value) for arm, value in zip(view.arms, (row.a, row.b), strict=False)]
    return [*named, ("Factor", row.factor)] if view.kind == "comparison" else named


def _whole(value: Value) -> Text:
    text = Text(clean(value.value))
    return text.append(" ").append_text(_span(value)) if value.span else text


def _span(value: Value) -> Text:
    return Text(f"({clean(value.span)})" if value.span else "", style="dim")


def _verdict(row: FactorRow) -> Text:
    verdict = Text(row.verdict, style=STYLES[row.tone])
    if row.factor.note:
        verdict.append(f" {clean(row.factor.note)}", style="yellow")
    if row.seen:
        verdict.append(f" ({row.seen})", style="dim")
    return verdict


def _notes(view: ReportView, row: FactorRow) -> Iterator[Text]:
    """Why a figure or a verdict is missing, unless the headline has said it."""
    for arm, value in zip(view.arms, (row.a, row.b), strict=False):
        if value.note:
            yield Text(f"    {clean(arm.name)}: {clean(value.note)}", style="yellow")
    if row.verdict_note and not row.seen and row.verdict_note not in view.headline.sentence:
        yield Text(f"    {clean(row.verdict_note)}", style="yellow")


def _stacked(view: ReportView) -> Iterator[Text]:
    for cell in view.cells:
        yield Text(clean(cell.title), style="bold")
        for row in cell.first:
            line = Text(f"  {row.title}")
            yield line.append(_GAP).append_text(_verdict(row)) if view.kind == "comparison" else line
            values = _values(view, row)
            room = max(cell_len(name) for name, _ in values)
            for name, value in values:
                padding = " " * (room - cell_len(name))
                yield Text(f"    {name}{padding}{_GAP}").append_text(_whole(value))
            yield from _notes(view, row)
