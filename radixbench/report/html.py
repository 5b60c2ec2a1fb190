"""A ``ReportView`` as one self-contained HTML file that works offline, from ``file://`` and in an e-mail."""

from __future__ import annotations

from radixbench.report import page
from radixbench.report.model import FigureKey, ReportView, SectionKey

_SHORT_TITLES: dict[FigureKey, str] = {
    "ttft": "TTFT",
    "throughput": "Throughput",
    "levels": "Hit rate",
    "cached": "Cached tokens",
    "shortfall": "Efficiency",
    "turns": "Turns",
    "clocks": "Clocks",
    "prefill": "Prefill",
}
_SECTION_TITLES: dict[SectionKey, str] = {
    "failures": "Missing",
    "sources": "Witnesses",
    "client": "Client",
    "corpus": "Traffic",
    "slowest": "Slowest",
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
        section_titles=_SECTION_TITLES,
    )
