"""A ``ReportView`` as GitHub-flavoured Markdown, fit for the body of a pull request.

Names come from files and servers. Whatever Markdown or HTML would read in them is escaped, so that a
model's name can't break a table, mention people or load a picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from radixbench.report.blocks import Block, within
from radixbench.report.model import CaveatView, FactorRow, ReportView, Statement, Tone

LIMIT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

MARKS: dict[Tone, str] = {"better": "▲", "worse": "▼", "neutral": "≈", "caution": "?", "refused": "✕"}
_LONGEST = 2_000
_UNSEEN = frozenset({"Cf", "Cs", "Co", "Cn"})
"""Unicode's categories of format marks (bidirectional overrides among them) and of what is no character."""

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
_MENTION = re.compile(r"@(?=\w)")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_SCHEME = re.compile(r"\b(https?)://", re.IGNORECASE)


def render(view: ReportView) -> str:
    """Verdict, table of the rows that decide and explain it, caveats; folded away, every other figure and difference.

    Stays below what a pull request's body and a job's summary take: what doesn't fit is counted.
    """
    blocks = [
        prose([_verdict(view)]),
        prose(f"- {escape(detail)}" for detail in view.headline.details),
        _first_table(view),
        prose(_formulas(view)),
        prose([*(_statement(one) for one in view.brief)]),
        _caveats(view),
        _setting(view),
        _all_figures(view),
        _differences(view),
    ]
    return "\n".join(within(blocks, LIMIT)).rstrip("\n") + "\n"


def escape(text: str) -> str:
    """Text as text: on one line, with everything that Markdown, HTML or GitHub would act on made inert.

    Marks that turn the direction of writing or hide are dropped, since they could make a name read as another; of a
    very long text the beginning is kept.
    """
    flat = _SPACE.sub(" ", "".join(c for c in text if unicodedata.category(c) not in _UNSEEN)).strip()
    flat = flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
    for character, entity in _HTML.items():
        flat = flat.replace(character, entity)
    inert = _SPECIAL.sub(r"\\\1", flat)
    return _SCHEME.sub("\\1:\u200b//", _MENTION.sub("@\u200b", inert))


def _verdict(view: ReportView) -> str:
    """The verdict in a word with its mark, and the sentence."""
    headline = view.headline
    mark = f"{MARKS[headline.tone]} " if view.kind == "comparison" else ""
    return f"**{mark}{escape(headline.label)}.** {escape(headline.sentence)}"


def prose(lines: Iterable[str]) -> Block:
    """Lines that may be cut, without a head."""
    return Block((), tuple(lines))


def _first_table(view: ReportView) -> Block:
    return _table(view, [(cell.title, row) for cell in view.cells for row in cell.first])


def _all_figures(view: ReportView) -> Block:
    """Every figure of every cell but those told above, folded away."""
    rest = [(cell.title, row) for cell in view.cells for row in cell.rows if row not in cell.first]
    what = "figures, which inform and decide nothing" if view.kind == "comparison" else "figures"
    return folded(f"{len(rest):,} more {what}", _table(view, rest))


def _differences(view: ReportView) -> Block:
    """What differs between the captures, allowed or not, folded away."""
    rows = [table_row([escape(v) for v in (one.name, one.a, one.b, one.status)]) for one in view.differences]
    header = (table_row(["difference", "A", "B", "status"]), table_row(["---"] * 4))
    return folded(f"{len(rows):,} differences between the captures", Block(header, tuple(rows)))


def folded(title: str, block: Block) -> Block:
    """A block that a reader opens by its title."""
    return Block(
        (f"<details><summary>{escape(title)}</summary>", "", *block.head),
        block.rows,
        (*block.tail, "</details>", ""),
    )


def _table(view: ReportView, rows: Sequence[tuple[str, FactorRow]]) -> Block:
    arms = [escape(arm.name) for arm in view.arms]
    comparison = view.kind == "comparison"
    header = ["cell", "metric", *arms, *(["factor (interval)", "verdict"] if comparison else [])]
    aligned = ["---", "---", *(["---:"] * len(arms)), *(["---:", "---"] if comparison else [])]
    told = (
        table_row([escape(value) for value in _values(cell, row, comparison=comparison)])
        for cell, row in rows
    )
    return Block((table_row(header), table_row(aligned)), tuple(told))


def _values(cell: str, row: FactorRow, *, comparison: bool) -> list[str]:
    values = [cell, row.title, row.a.whole]
    if comparison:
        verdict = f"{row.verdict} ({row.verdict_note})" if row.verdict_note else row.verdict
        values += [row.b.whole, row.factor.whole, verdict]
    return values


def table_row(values: Sequence[str]) -> str:
    """A line of a table; the values are escaped already."""
    return f"| {' | '.join(values)} |"


def _formulas(view: ReportView) -> Iterator[str]:
    """How the throughputs in the table are made, each once."""
    made = {row.title: row.formula for cell in view.cells for row in cell.first if row.formula}
    if made:
        yield f"<sub>{'; '.join(f'{escape(title)}: {escape(formula)}' for title, formula in made.items())}</sub>"


def _statement(one: Statement) -> str:
    word = f"**{escape(one.word)}:** " if one.word else ""
    return f"- {word}{escape(one.text)}"


def _caveats(view: ReportView) -> Block:
    told = [caveat_line(caveat) for caveat in view.told]
    return Block(("**Caveats**", ""), (*told, *([f"- {escape(view.also)}"] if view.also else [])))


def caveat_line(caveat: CaveatView) -> str:
    """A caveat with its remedy as a list item."""
    return f"- **{caveat.severity}: {escape(caveat.code)}** {escape(caveat.text)}. *Remedy:* {escape(caveat.remedy)}."


def _setting(view: ReportView) -> Block:
    """The chips as one line."""
    told = " · ".join(f"{escape(chip.label)}: {escape(chip.value)}" for chip in view.chips)
    return prose([f"<sub>{told}</sub>"])
