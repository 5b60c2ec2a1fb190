"""Cached tokens as the server counted them, beside what an unlimited cache would have reused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.metrics.summary import RunSummary
from radixbench.report import readings, text
from radixbench.report.axes import ARMS, MAX_PANELS, Axis, in_table_only, label, main_axis, place
from radixbench.report.cells import arm_cell, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row

_CACHED_TITLE = "Cached tokens: measured against expected"


def cached_figure(sides: Sequence[Evidence]) -> Figure:
    """Panels for each arm that reused anything; an arm that reused nothing is told in the table."""
    found = [_cached_panels(side) for side in sides]
    most = MAX_PANELS // max(sum(map(bool, found)), 1)
    panels = tuple(panel for own in found for panel in own[:most])
    grid = _cached_grid(sides)
    absent = "" if panels else _why_no_hits(sides)
    return Figure(
        "cached",
        _CACHED_TITLE,
        readings.CACHED,
        panels,
        grid,
        absent,
        (*_untold(sides), *in_table_only(sum(map(len, found)) - len(panels))),
    )


def _untold(sides: Sequence[Evidence]) -> Iterator[str]:
    """Runs that are to be expected to reuse something and don't say what they did: a bar without a mark."""
    for side in sides:
        told = [summary.cache.cached_tokens for summary in side.summaries if expects(summary)]
        if None in told:
            yield (
                f"{side.arm.name}: {told.count(None)} of {text.plural(len(told), 'run')} didn't tell what was cached, "
                "and have a bar without a mark."
            )


def ordered(side: Evidence) -> list[RunSummary]:
    """The runs of an arm in the order of their cells and seeds."""
    return sorted(side.summaries, key=lambda s: (cell_order(s.cell), s.seed))


def expects(summary: RunSummary) -> bool:
    """Whether reuse is to be expected at all: never with the cache off."""
    return summary.mode == "on"


def _cached_panels(side: Evidence) -> list[Panel]:
    """A panel for each combination of axes other than the main one."""
    axis = main_axis(side.cells())
    facets: dict[str, list[RunSummary]] = {}
    for summary in ordered(side):
        if summary.cache.cached_tokens or expects(summary):
            facet = place(axis, summary.cell, "").facet if axis is not ARMS else ""
            facets.setdefault(facet, []).append(summary)
    keys = [f"cached-{side.arm.slot}{f'-{number}' if number else ''}" for number in range(len(facets))]
    return [
        _cached_panel(side, axis, key, facet, runs)
        for key, (facet, runs) in zip(keys, facets.items(), strict=True)
    ]


def _cached_panel(side: Evidence, axis: Axis, key: str, facet: str, runs: Sequence[RunSummary]) -> Panel:
    title = f"{side.arm.name}, {facet}" if facet else side.arm.name
    return Panel(
        key=key,
        kind="expected",
        title=title,
        summary=f"Cached tokens of {title}, measured and expected: {_spoken(runs)}.",
        x_title="a column for each seed" if axis is ARMS else f"{axis.title}, a column for each seed",
        y_title="cached tokens in a run",
        series=(side.arm.name,),
        slots=(side.arm.slot,),
        rows=tuple(_cached_row(side, axis, summary) for summary in runs),
    )


def _cached_row(side: Evidence, axis: Axis, summary: RunSummary) -> Row:
    low, high = _expected(summary)
    return {
        "cell": label(axis, summary.cell),
        "seed": f"seed {summary.seed}",
        "measured": summary.cache.cached_tokens,
        "low": low,
        "high": high,
        "series": side.arm.name,
        "tip": f"{arm_cell(side.arm.name, summary.cell)}, seed {summary.seed}: {_told(summary)}",
    }


def _expected(summary: RunSummary) -> tuple[int, int]:
    return (summary.cache.expected_low, summary.cache.expected_high) if expects(summary) else (0, 0)


def _told(summary: RunSummary) -> str:
    low, high = _expected(summary)
    cached = summary.cache.cached_tokens
    measured = "not told by the server" if cached is None else f"{text.count(cached)} cached"
    return f"{measured}, expected {between(low, high)}"


def between(low: int, high: int) -> str:
    """An expectation as text: a number, or ``low–high``."""
    return text.count(low) if low == high else f"{text.count(low)}–{text.count(high)}"


def _spoken(runs: Sequence[RunSummary]) -> str:
    return "; ".join(f"{cell_title(one.cell)} seed {one.seed} {_told(one)}" for one in runs[:6])


def _cached_grid(sides: Sequence[Evidence]) -> Grid:
    rows = [
        (
            cell_title(summary.cell),
            side.arm.name,
            str(summary.seed),
            text.count(summary.cache.prompt_tokens),
            text.count(summary.cache.cached_tokens),
            between(*_expected(summary)),
            _judged(summary),
        )
        for side in sides
        for summary in ordered(side)
    ]
    header = ("cell", "arm", "seed", "prompt tokens", "cached, measured", "cached, expected", "reading")
    return Grid(header, tuple(rows))


def _judged(summary: RunSummary) -> str:
    cached = summary.cache.cached_tokens
    low, high = _expected(summary)
    if cached is None:
        return "unknown"
    if cached > high:
        return "above the maximum"
    return "as expected" if cached >= low else "below expected"


def _why_no_hits(sides: Sequence[Evidence]) -> str:
    if not any(side.summaries for side in sides):
        return "No run was saved."
    return "No tokens were cached, and none were expected: the prefix cache was off in every run."
