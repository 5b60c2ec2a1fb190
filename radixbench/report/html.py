"""A ``ReportView`` as one self-contained HTML file that works offline, from ``file://`` and in an e-mail."""

from __future__ import annotations

from radixbench.report import page
from radixbench.report.chapters import chapters
from radixbench.report.model import ReportView


def render(view: ReportView) -> str:
    """The whole page."""
    return page.fill("report.html.j2", view.figures, title=view.title, view=view, chapters=chapters(view))
