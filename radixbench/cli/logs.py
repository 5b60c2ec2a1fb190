"""``radixbench logs``: what a server's log says about its cache."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.stderr import say
from radixbench.errors import EXIT_INTERRUPTED, EXIT_OK, OutputError, UsageError

if TYPE_CHECKING:
    from radixbench.cli.following import Following
    from radixbench.cli.record_lines import RecordLines
    from radixbench.metrics.log_summary.model import LogSummary
    from radixbench.metrics.log_summary.read import SelectionRequest

_STDIO = "-"
_KNOWN = "SGLang, vLLM, llama.cpp or radixbench"
_WINDOW = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SHORTEST_WINDOW_S = 0.1
_PART = "Which part"
_OUTPUT = "Output"


@app.command()
def logs(
    files: Annotated[
        list[str],
        typer.Argument(
            help="A server's log, also gzip or zstd, or - for stdin; several stand side by side.",
            metavar="FILE|-",
            show_default=False,
        ),
    ],
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on reading as the log grows, until Ctrl-C.")
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Read several files as one rotated log, in the order given.")
    ] = False,
    window: Annotated[
        str | None,
        typer.Option(
            "--window", help="Length of the rows over time: 500ms, 10s, 1m, 1h, 1d.", metavar="LENGTH"
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            help="From here: a time as the log prints it, or +10m after its first line.",
            metavar="TIME",
            rich_help_panel=_PART,
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Up to here.", metavar="TIME", rich_help_panel=_PART)
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(
            "--rank",
            help="Only lines of these ranks: DP1, or DP0,DP1.",
            metavar="WORDS",
            rich_help_panel=_PART,
        ),
    ] = None,
    as_json: options.Json = False,
    records: Annotated[
        str | None,
        typer.Option(
            "--records",
            help="Write one JSON object per recognised line to a file, or - for stdout instead of the summary.",
            metavar="FILE|-",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page with the log's timeline here.", rich_help_panel=_OUTPUT),
    ] = None,
) -> int:
    """Read server logs: the hit rate, where the time went, and what to know about both."""
    from radixbench.cli import output
    from radixbench.cli.following import following
    from radixbench.cli.record_lines import record_lines
    from radixbench.metrics.log_summary.read import SelectionRequest

    groups = _grouped(files, follow=follow, join=join)
    if as_json and records == _STDIO:
        raise OutputError("--json and --records - both want stdout", remedy="give --records a file name")
    pages = () if html is None else (html,)
    output.check_outputs(_paths(files), *pages, *_paths([] if records is None else [records]))
    selection = SelectionRequest(since=since, until=until, ranks=_words(rank))
    window_s = None if window is None else _window(window)
    with (
        record_lines(records, growing=follow) as lines,
        following(follow, stdout_taken=as_json or records == _STDIO) as go_on,
    ):
        summaries = []
        for group in groups:
            summaries.append(_read(group, window_s, selection, _sink(lines, groups, group), go_on))
            if summaries[-1].interrupted:
                break
    if html is not None:
        from radixbench.report.logs.html import render

        output.write_text(html, render(summaries))
        say(f"page: {html}")
    if as_json:
        output.print_json(_document(summaries))
    elif records != _STDIO:
        from radixbench.report.console.logs import print_logs

        print_logs(summaries)
    stopped = (go_on is not None and go_on.stopped) or any(summary.interrupted for summary in summaries)
    return EXIT_INTERRUPTED if stopped else EXIT_OK


def _grouped(files: Sequence[str], *, follow: bool, join: bool) -> list[list[str]]:
    """What is read as one log each."""
    if files.count(_STDIO) > 1:
        raise UsageError("- is named more than once", remedy="stdin can be read once")
    if follow and len(files) > 1:
        raise UsageError(f"--follow: {len(files)} logs given", remedy="follow one at a time")
    return [list(files)] if join else [[file] for file in files]


def _paths(names: Sequence[str]) -> list[Path]:
    return [Path(name) for name in names if name != _STDIO]


def _words(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words:
        raise UsageError("--rank: is empty", remedy="name at least one, such as DP0")
    return words


def _window(text: str) -> float:
    """The length that ``--window`` names, in seconds."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--window: {text!r} is no length of time",
            remedy="write a number and its unit, such as 500ms, 10s, 1m, 1h or 1d",
        )
    seconds = float(found[1]) * _SECONDS[found[2]]
    if not _SHORTEST_WINDOW_S <= seconds < float("inf"):
        raise UsageError(f"--window: {text} is shorter than 100 ms", remedy="logs don't tell more")
    return seconds


def _sink(
    lines: RecordLines | None, groups: Sequence[Sequence[str]], group: Sequence[str]
) -> RecordLines | None:
    """Where the records of one log go; they name it where there are several."""
    return lines if lines is None or len(groups) == 1 else lines.of(group[0])


def _read(
    files: Sequence[str],
    window_s: float | None,
    selection: SelectionRequest,
    lines: RecordLines | None,
    go_on: Following | None,
) -> LogSummary:
    from radixbench.metrics.log_summary.read import read_log

    summary = read_log(
        files,
        stdin=sys.stdin.buffer if _STDIO in files else None,
        window_s=window_s,
        selection=selection,
        on_record=lines,
        follow=go_on,
    )
    if not sum(summary.lines.by_dialect.values()):
        if summary.interrupted:
            raise KeyboardInterrupt
        raise _foreign(summary)
    return summary


def _foreign(summary: LogSummary) -> UsageError:
    """No line is of a known server."""
    from radixbench.report.text import plural

    read, malformed = plural(summary.lines.read, "line"), summary.lines.by_kind["malformed"]
    cut = f"; {plural(malformed, 'line')} of a known form held nothing readable" if malformed else ""
    return UsageError(
        f"{summary.file}: {read} read, and none is a scheduler's or a request's{cut}",
        remedy=f"give the log of {_KNOWN}, with its statistics on",
    )


def _document(summaries: Sequence[LogSummary]) -> dict[str, Any]:
    from radixbench.metrics.log_summary.document import document

    documents = [document(summary) for summary in summaries]
    return documents[0] if len(documents) == 1 else {"schema": documents[0]["schema"], "files": documents}
