"""A ``ManyView`` as one self-contained HTML file, on the frame that every page shares."""

from __future__ import annotations

from radixbench.report import page
from radixbench.report.many.model import ManyView


def render(view: ManyView) -> str:
    """The whole page."""
    return page.fill(
        "many.html.j2",
        view.figures,
        title=view.title,
        styles=("style.css", "many.css"),
        view=view,
        figures=[page.drawn(figure) for figure in view.figures],
    )
