"""Logs as one self-contained page: its timeline first, then every figure, table and note."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench import __version__
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report import page
from radixbench.report.logs.model import LogPage, SideBySide
from radixbench.report.logs.side_by_side import build_side_by_side
from radixbench.report.logs.timeline import timeline
from radixbench.report.logs.view import build_log_view

MAX_ROWS = 1000
"""Rows of the table over time on a page."""


def render(summaries: Sequence[LogSummary]) -> str:
    """The whole page: one log, or several with a section each below the table that holds them side by side."""
    several = len(summaries) > 1
    anchors = [f"log-{place}-" if several else "" for place in range(1, len(summaries) + 1)]
    parts = [
        LogPage(anchor, build_log_view(summary, most_windows=MAX_ROWS), timeline(summary, anchor))
        for anchor, summary in zip(anchors, summaries, strict=True)
    ]
    side = build_side_by_side([part.view for part in parts]) if several else None
    return page.fill(
        "logs.html.j2",
        [part.timeline for part in parts],
        title=_title(parts, side),
        styles=("style.css", "logs.css"),
        parts=[(part, page.drawn(part.timeline)) for part in parts],
        side=side,
        footer=_footer(),
    )


def _title(parts: Sequence[LogPage], side: SideBySide | None) -> str:
    names = [parts[0].view.file] if side is None else list(side.names)
    return f"radixbench logs: {', '.join(names)}"


def _footer() -> tuple[str, ...]:
    return (f"Rendered by radixbench {__version__} from the log alone; the same file gives the same page.",)
