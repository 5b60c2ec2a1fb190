"""Figures of logs on a terminal or as plain lines: one log in full, several side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report.console.log_side import print_side_by_side
from radixbench.report.console.log_view import print_log
from radixbench.report.logs.side_by_side import build_side_by_side
from radixbench.report.logs.view import build_log_view


def print_logs(summaries: Sequence[LogSummary], console: Console | None = None) -> None:
    """In brief on a terminal, all of it elsewhere; on stdout unless told otherwise."""
    console = console or Console()
    views = [build_log_view(summary, brief=console.is_terminal) for summary in summaries]
    if len(views) == 1:
        print_log(views[0], console)
    else:
        print_side_by_side(build_side_by_side(views), console)
