"""Options that several commands share, spelled once; each is named as most benchmark tools name it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radixbench.errors import UsageError

_OUTPUT = "Output"
_COURSE = "Course of the sweep"

KeepText = Annotated[
    bool,
    typer.Option("--keep-text", help="Keep the answers' text in the captures.", rich_help_panel=_OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document on stdout, all else on stderr.", rich_help_panel=_OUTPUT
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write the HTML report here.", rich_help_panel=_OUTPUT)
]
Html = Annotated[Path | None, typer.Option("--html", hidden=True)]
"""``--report`` by the name that it has in ``radixbench logs``."""

Markdown = Annotated[
    str | None,
    typer.Option(
        "--markdown", help="Write a table for a PR body to a file, or - for stdout.", rich_help_panel=_OUTPUT
    ),
]
Gate = Annotated[str, typer.Option("--gate", help="The metrics that the verdict and a CI gate look at.")]
GATE = "ttft_p50,output_throughput"
THRESHOLD = 0.03
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        help="Changes smaller than this are no better and no worse.",
        min=0.0,
        max=0.5,
        rich_help_panel=_OUTPUT,
    ),
]
ClockFloor = Annotated[
    float | None,
    typer.Option("--clock-floor", help="SM clock in MHz below which a caveat is due.", min=0.0),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help="Give a verdict although this differs, as named under differences; said in every output."
        " Repeat it, or put commas between several.",
        metavar="FIELD",
    ),
]
Null = Annotated[
    bool,
    typer.Option(
        "--null",
        help="Measure the arm without reuse against itself: this machine's noise.",
        rich_help_panel=_COURSE,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with what --out holds: finished runs are kept.", rich_help_panel=_COURSE
    ),
]
MaxTime = Annotated[
    str | None,
    typer.Option(
        "--max-time",
        help="Begin no run after this long: 30m, 2h; --resume goes on later.",
        metavar="TIME",
        rich_help_panel=_COURSE,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help="Add seeds (5 to 50) until TTFT and throughput are within 5% of their values. Intervals are drawn wider for"
        " it: they hold in 95 % of cases at least.",
        metavar="PERCENT",
        rich_help_panel=_COURSE,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Nothing on stderr but errors.", rich_help_panel=_OUTPUT),
]
NoCalibrate = Annotated[
    bool,
    typer.Option(
        "--no-calibrate",
        help="Skip measuring the client itself before the first run.",
        rich_help_panel=_COURSE,
    ),
]
ServerArgument = Annotated[list[str] | None, typer.Option("--server-argument", hidden=True)]


def report_path(report: Path | None, html: Path | None) -> Path | None:
    """Where the report goes, by whichever of its two names it was asked for."""
    if report is not None and html is not None:
        raise UsageError("--report and --html are one option", remedy="give one of them")
    return html if report is None else report
