"""More than two captures for ``compare`` and ``report``: every one but the last a candidate, the last the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from radixbench.cli.stderr import say
from radixbench.errors import EXIT_OK, EXIT_VERDICT, UsageError

if TYPE_CHECKING:
    from radixbench.compare.many import Many
    from radixbench.report.many.model import ManyView


@dataclass(frozen=True, slots=True)
class Wanted:
    """What ``compare`` is to write, and the gate that decides its exit code."""

    report: Path | None
    markdown: str | None
    as_json: bool
    fail_on: tuple[str, ...] | None
    gate: tuple[str, ...]


def check_captures(paths: Sequence[Path]) -> None:
    """Refuse, before anything is read, too many captures, and one file as two of more than two."""
    if len(paths) < 3:
        return
    from radixbench.compare.many import LETTERS, check_number

    check_number(len(paths))
    seen: dict[Path, str] = {}
    for letter, path in zip(LETTERS, paths, strict=False):
        first = seen.setdefault(path.resolve(), letter)
        if first != letter:
            raise UsageError(
                f"{path}: is named twice, as {first} and as {letter}", remedy="name each capture once"
            )


def compare_several(many: Many, wanted: Wanted) -> int:
    """Write and print what is wanted of the comparisons; 1 where a gated row of any candidate fails."""
    from radixbench.cli import output
    from radixbench.compare.many_document import many_document
    from radixbench.compare.many_gate import many_conclusion, many_gate, many_withdrawn

    fail_on = wanted.fail_on or ()
    failing = many_gate(many, fail_on, wanted.gate)
    if wanted.as_json:
        output.print_json(many_document(many, gate=wanted.gate, fail_on=wanted.fail_on))
    if wanted.report is not None or wanted.markdown is not None or not wanted.as_json:
        from radixbench.report.many.view import build_many_view

        view = build_many_view(many, gate=wanted.gate)
        write_view(view, page=wanted.report, markdown=wanted.markdown)
        if not wanted.as_json and wanted.markdown != "-":
            show(view)
    if wanted.fail_on is not None:
        withdrawn = many_withdrawn(many, fail_on, wanted.gate)
        output.say_gate_of_many(failing, withdrawn, many_conclusion(many, fail_on, wanted.gate))
    return EXIT_VERDICT if failing else EXIT_OK


def write_view(view: ManyView, *, page: Path | None, markdown: str | None) -> None:
    """The view as a page and as Markdown, as far as either is wanted."""
    from radixbench.cli import output

    if page is not None:
        from radixbench.report.many.html import render

        output.write_text(page, render(view))
        say(f"report: {page}")
    if markdown is not None:
        from radixbench.report.many.markdown import render as as_markdown

        output.write_result(markdown, as_markdown(view))


def show(view: ManyView) -> None:
    """The view on the terminal."""
    from radixbench.report.console.many import print_many

    print_many(view)
