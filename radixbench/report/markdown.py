"""A ``ReportView`` as GitHub-flavoured Markdown, fit for the body of a pull request.

Names come from files and servers. Whatever Markdown or HTML would read in them is escaped, so that a
model's name can't break a table, mention people or load a picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from radixbench.report.model import CaveatView, FactorRow, ReportView, Statement

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
_MENTION = re.compile(r"@(?=\w)")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_SCHEME = re.compile(r"\b(https?)://", re.IGNORECASE)


def render(view: ReportView) -> str:
    """Verdict, table of the rows that decide and explain it, caveats, one line of environment."""
    return "\n".join(_lines(view)) + "\n"


def escape(text: str) -> str:
    """Text as text: on one line, with everything that Markdown, HTML or GitHub would act on made inert."""
    flat = _SPACE.sub(" ", text).strip()
    for character, entity in _HTML.items():
        flat = flat.replace(character, entity)
    inert = _SPECIAL.sub(r"\\\1", flat)
    return _SCHEME.sub("\\1:\u200b//", _MENTION.sub("@\u200b", inert))


def _lines(view: ReportView) -> Iterator[str]:
    yield f"**{escape(view.headline.label)}.** {escape(view.headline.sentence)}"
    yield ""
    for detail in view.headline.details:
        yield f"- {escape(detail)}"
    yield ""
    yield from _table(view)
    yield from _formulas(view)
    if view.brief:
        yield ""
        yield from (_statement(one) for one in view.brief)
    if view.told or view.also:
        yield ""
        yield "**Caveats**"
        yield ""
        yield from (_caveat(caveat) for caveat in view.told)
        if view.also:
            yield f"- {escape(view.also)}"
    yield ""
    yield f"<sub>{_setting(view)}</sub>"


def _table(view: ReportView) -> Iterator[str]:
    arms = [escape(arm.name) for arm in view.arms]
    comparison = view.kind == "comparison"
    header = ["cell", "metric", *arms, *(["factor (interval)", "verdict"] if comparison else [])]
    aligned = ["---", "---", *(["---:"] * len(arms)), *(["---:", "---"] if comparison else [])]
    yield _row(header)
    yield _row(aligned)
    for cell in view.cells:
        for row in cell.first:
            yield _row([escape(value) for value in _values(cell.title, row, comparison=comparison)])


def _values(cell: str, row: FactorRow, *, comparison: bool) -> list[str]:
    values = [cell, row.title, row.a.whole]
    if comparison:
        verdict = f"{row.verdict} ({row.verdict_note})" if row.verdict_note else row.verdict
        values += [row.b.whole, row.factor.whole, verdict]
    return values


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _formulas(view: ReportView) -> Iterator[str]:
    """How the throughputs in the table are made, each once."""
    made = {row.title: row.formula for cell in view.cells for row in cell.first if row.formula}
    if made:
        yield ""
        yield f"<sub>{'; '.join(f'{escape(title)}: {escape(formula)}' for title, formula in made.items())}</sub>"


def _statement(one: Statement) -> str:
    word = f"**{escape(one.word)}:** " if one.word else ""
    return f"- {word}{escape(one.text)}"


def _caveat(caveat: CaveatView) -> str:
    return f"- **{caveat.severity}: {escape(caveat.code)}** {escape(caveat.text)}. *Remedy:* {escape(caveat.remedy)}."


def _setting(view: ReportView) -> str:
    """The chips as one line."""
    return " · ".join(f"{escape(chip.label)}: {escape(chip.value)}" for chip in view.chips)
