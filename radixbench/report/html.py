"""A ``ReportView`` as one self-contained HTML file that works offline, from ``file://`` and in an e-mail."""

from __future__ import annotations

from radixbench.report import page
from radixbench.report.model import FigureKey, ReportView

_SHORT_TITLES: dict[FigureKey, str] = {
    "ttft": "TTFT",
    "throughput": "Throughput",
    "cached": "Cached tokens",
    "turns": "Turns",
    "clocks": "Clocks",
    "prefill": "Prefill",
}


def render(view: ReportView) -> str:
    """The whole page."""
    return page.fill(
        "report.html.j2",
        view.figures,
        title=view.title,
        view=view,
        figures=[page.drawn(figure) for figure in view.figures],
        short_titles=_SHORT_TITLES,
    )
