"""Bars lying on their side, one for each cell, made of what was found cached and of what was not, by cause."""

from __future__ import annotations

import altair as alt

from radixbench.report.encodings import data, tip
from radixbench.report.model import Panel
from radixbench.report.palette import Palette
from radixbench.report.parts import PARTS

_LINES = "split(datum.label, ', ')"
_LINE, _GAP, _LEAST = 15, 12, 40
_LABEL_LIMIT = 150
_COLUMNS = "width < 420 ? 1 : 3"
"""Columns of the legend: one below the other where two would reach beyond a narrow plot."""


def height(panel: Panel) -> int:
    """Pixels for all bars: a cell's title has a line for each of its axes."""
    cells = {str(row["cell"]) for row in panel.rows}
    return len(cells) * max(_LEAST, _GAP + _LINE * _lines(panel))


def _lines(panel: Panel) -> int:
    return max(str(row["cell"]).count(", ") + 1 for row in panel.rows)


def shortfall(panel: Panel, palette: Palette) -> list[alt.Chart]:
    """Percent of all shared tokens along the axis; the parts follow each other in the order of ``PARTS``."""
    colours = dict(
        zip(
            PARTS,
            (
                palette.cached,
                palette.computed,
                palette.raced,
                palette.paged,
                palette.evicted,
                palette.unexplained,
            ),
            strict=True,
        )
    )
    cells = list(dict.fromkeys(str(row["cell"]) for row in panel.rows))
    bar = (
        alt.Chart(data(panel.rows))
        .mark_bar(height=alt.RelativeBandSize(band=0.62), stroke=palette.paper, strokeWidth=1, aria=False)
        .encode(
            x=alt.X(
                "from:Q",
                title=panel.x_title,
                scale=alt.Scale(domain=[0, 100], nice=False),
                axis=alt.Axis(tickCount=5),
            ),
            x2="to:Q",
            y=alt.Y(
                "cell:N",
                title=None,
                scale=alt.Scale(domain=cells),
                axis=alt.Axis(
                    labelExpr=_LINES,
                    labelLineHeight=_LINE,
                    labelOffset=-_LINE * (_lines(panel) - 1) / 2,
                    labelLimit=_LABEL_LIMIT,
                    labelFontSize=12,
                    ticks=False,
                    domain=False,
                ),
            ),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=list(panel.series), range=[colours[part] for part in panel.series]),
                legend=alt.Legend(title=None, orient="top", columns=alt.expr(_COLUMNS), symbolType="square"),
            ),
            tooltip=tip(),
        )
    )
    return [bar]
