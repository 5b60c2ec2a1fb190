"""A ``ManyView`` as GitHub-flavoured Markdown: a verdict for each candidate, then one table with a column for each capture."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.report.blocks import Block, within
from radixbench.report.many.model import Across, Candidate, Column, Concern, ManyView, Row
from radixbench.report.markdown import LIMIT, MARKS, caveat_line, escape, folded, prose, table_row

_BREAK = "<br>"


def render(view: ManyView) -> str:
    """Verdicts, the rows that decide and explain them, caveats; folded away, all else. Fits a pull request's body."""
    blocks = [
        prose([f"**{escape(view.sentence)}**"]),
        prose(_verdict(one) for one in view.candidates),
        _table(view, [(cell.title, row) for cell in view.cells for row in cell.first]),
        _caveats(view),
        prose([f"<sub>{' · '.join(f'{escape(c.label)}: {escape(c.value)}' for c in view.chips)}</sub>"]),
        folded("What limits each verdict", prose(_details(view))),
        _rest(view),
        folded(f"{len(view.differences):,} differences from the reference", _differences(view)),
    ]
    return "\n".join(within(blocks, LIMIT)).rstrip("\n") + "\n"


def _verdict(one: Candidate) -> str:
    headline = one.headline
    return f"- **{MARKS[headline.tone]} {escape(one.arm.name)}: {escape(headline.label)}.** {escape(headline.sentence)}"


def _details(view: ManyView) -> list[str]:
    return [f"- {escape(one.arm.name)}: {escape(d)}" for one in view.candidates for d in one.headline.details]


def _table(view: ManyView, rows: Sequence[tuple[str, Row]]) -> Block:
    arms = [escape(arm.name) for arm in view.arms]
    head = (table_row(["cell", "metric", *arms]), table_row(["---", "---", *["---:"] * len(arms)]))
    told = (
        table_row([escape(cell), escape(row.title), *(_column(one) for one in row.columns)])
        for cell, row in rows
    )
    return Block(head, tuple(told))


def _column(one: Column) -> str:
    """The figure; below it the factor and the verdict, and why there is none."""
    lines = [escape(one.value.whole)]
    if one.verdict:
        factor = "" if one.factor is None else f"{escape(one.factor.whole)} "
        lines.append(f"{factor}{escape(one.verdict)}")
    if one.note:
        lines.append(f"<sub>{escape(one.note)}</sub>")
    return _BREAK.join(lines)


def _rest(view: ManyView) -> Block:
    rest = [(cell.title, row) for cell in view.cells for row in cell.rows if row not in cell.first]
    return folded(f"{len(rest):,} more figures, which inform and decide nothing", _table(view, rest))


def _caveats(view: ManyView) -> Block:
    also = [f"- {escape(view.also)}"] if view.also else []
    return Block(("**Caveats**", ""), (*(_caveat(one) for one in view.told), *also))


def _caveat(one: Concern) -> str:
    return f"{caveat_line(one.caveat)} ({escape(one.who)})"


def _differences(view: ManyView) -> Block:
    names = [escape(arm.name) for arm in view.arms]
    head = (table_row(["difference", *names, "status"]), table_row(["---"] * (len(names) + 2)))
    return Block(head, tuple(_difference(one) for one in view.differences))


def _difference(one: Across) -> str:
    return table_row([escape(value) for value in (one.name, *one.values, one.status)])
