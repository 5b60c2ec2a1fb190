"""How commands print: one JSON document on stdout, or a view; files announced on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radixbench.cli.stderr import say
from radixbench.errors import OutputError
from radixbench.report.cells import at_cell

if TYPE_CHECKING:
    from radixbench.compare.change import Change
    from radixbench.compare.many_gate import Candidate
    from radixbench.report.model import ReportView

_MARKS = {"ok": "✓", "note": "•", "fault": "✗"}


def print_json(document: dict[str, Any]) -> None:
    """Exactly one JSON document on stdout."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def print_line(line: str) -> None:
    """A line of a result, such as the command to go on with."""
    sys.stdout.write(f"{line}\n")


def print_check(state: str, name: str, text: str, remedy: str | None) -> None:
    """One line of a checklist on stdout, with its remedy where it needs one."""
    tail = f" ({remedy})" if remedy and state != "ok" else ""
    sys.stdout.write(f"{_MARKS[state]} {name}: {text}{tail}\n")


def say_gate(failing: Sequence[Change], withdrawn: Sequence[Change], conclusion: str) -> None:
    """How the gate of a CI run ended, and which rows it judged otherwise than they look by themselves."""
    for row in withdrawn:
        say(
            f"gate: {row.metric} {at_cell(row.cell)} is {row.verdict} by itself, which doesn't hold when"
            " all gated rows are judged together"
        )
    for row in failing:
        say(f"gate: {row.metric} {at_cell(row.cell)} is {row.verdict}")
    say(f"gate: {conclusion}")


def say_gate_of_many(failing: Sequence[Candidate], withdrawn: Sequence[Candidate], conclusion: str) -> None:
    """``say_gate`` where each row is a candidate's."""
    for one in withdrawn:
        say(
            f"gate: {one.name}: {one.change.metric} {at_cell(one.change.cell)} is {one.change.verdict} by itself,"
            " which doesn't hold when all gated rows of all candidates are judged together"
        )
    for one in failing:
        say(f"gate: {one.name}: {one.change.metric} {at_cell(one.change.cell)} is {one.change.verdict}")
    say(f"gate: {conclusion}")


def markdown_file(target: str | None) -> tuple[Path, ...]:
    """The file ``--markdown`` names; none for stdout."""
    return () if target is None or target == "-" else (Path(target),)


def check_outputs(inputs: Sequence[Path], *outputs: Path) -> None:
    """Refuse, before any work, outputs that couldn't be written or would destroy an input or each other."""
    from radixbench.capture.output import SUFFIXES, check_folder, refuse_same_file

    refuse_same_file(*{path.resolve(): path for path in inputs}.values(), *outputs)
    for path in outputs:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise OutputError(f"{path}: is no regular file", remedy="name a file")
        check_folder(path)
        if path.exists() and path.name.endswith(SUFFIXES):
            raise OutputError(
                f"{path}: exists and may be a capture", remedy="name a file that ends otherwise"
            )


def write_text(path: Path, text: str) -> None:
    """Write a result file whole or not at all."""
    from radixbench.capture.output import replacing

    with replacing(path) as file:
        file.write(text.encode())


def write_report(path: Path, view: ReportView) -> None:
    """The view as one HTML file."""
    from radixbench.report.html import render

    write_text(path, render(view))


def write_markdown(target: str, view: ReportView, *, tell: bool = True) -> None:
    """The view as Markdown, to a file, which is told unless ``tell`` forbids it, or to stdout for ``-``."""
    from radixbench.report.markdown import render

    write_result(target, render(view), tell=tell)


def write_result(target: str, markdown: str, *, tell: bool = True) -> None:
    """Markdown to a file, or to stdout for ``-``."""
    if target == "-":
        sys.stdout.write(markdown)
        return
    write_text(Path(target), markdown)
    if tell:
        say(f"markdown: {target}")


def refuse_two_on_stdout(*, as_json: bool, markdown: str | None) -> None:
    """Stdout takes one document."""
    if as_json and markdown == "-":
        raise OutputError("--json and --markdown - both want stdout", remedy="give --markdown a file name")
