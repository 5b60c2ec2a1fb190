"""Cached tokens as the server counted them, beside what an unlimited cache would have reused."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.metrics.summary import CacheAccount, RunSummary
from radixbench.report import readings, text
from radixbench.report.cells import cell_order, cell_title, shared_tokens
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row

_CACHED_TITLE = "Cached tokens: measured against expected"
_TURNS_TITLE = "Hits per turn"


def cached_figure(sides: Sequence[Evidence]) -> Figure:
    """One panel for each arm that reused anything; an arm that reused nothing is told in the table."""
    panels = tuple(panel for side in sides if (panel := _cached_panel(side)) is not None)
    grid = _cached_grid(sides)
    absent = "" if panels else _why_no_hits(sides)
    return Figure("cached", _CACHED_TITLE, readings.CACHED, panels, grid, absent)


def _ordered(side: Evidence) -> list[RunSummary]:
    return sorted(side.summaries, key=lambda s: (cell_order(s.cell), s.seed))


def _expects(summary: RunSummary) -> bool:
    """Whether reuse is to be expected at all: never with the cache off."""
    return summary.mode == "on"


def _cached_panel(side: Evidence) -> Panel | None:
    rows: list[Row] = []
    lengths_only = all(set(cell) == {"shared_tokens"} for cell in side.cells())
    for summary in _ordered(side):
        cache = summary.cache
        if not cache.cached_tokens and not _expects(summary):
            continue
        low, high = _expected(summary)
        rows.append(
            {
                "cell": text.count(shared_tokens(summary.cell)) if lengths_only else cell_title(summary.cell),
                "seed": f"seed {summary.seed}",
                "measured": cache.cached_tokens,
                "low": low,
                "high": high,
                "series": side.arm.name,
                "tip": f"{side.arm.name}, {cell_title(summary.cell)}, seed {summary.seed}: {_told(summary)}",
            }
        )
    if not rows:
        return None
    return Panel(
        key=f"cached-{side.arm.slot}",
        kind="expected",
        title=side.arm.name,
        summary=f"Cached tokens of {side.arm.name}, measured and expected: {_spoken(side)}.",
        x_title="shared prefix (tokens), a column for each seed"
        if lengths_only
        else "a column for each seed",
        y_title="cached tokens in a run",
        series=(side.arm.name,),
        slots=(side.arm.slot,),
        rows=tuple(rows),
    )


def _expected(summary: RunSummary) -> tuple[int, int]:
    return (summary.cache.expected_low, summary.cache.expected_high) if _expects(summary) else (0, 0)


def _told(summary: RunSummary) -> str:
    low, high = _expected(summary)
    cached = summary.cache.cached_tokens
    measured = "not told by the server" if cached is None else f"{text.count(cached)} cached"
    return f"{measured}, expected {_between(low, high)}"


def _between(low: int, high: int) -> str:
    return text.count(low) if low == high else f"{text.count(low)}–{text.count(high)}"


def _spoken(side: Evidence) -> str:
    return "; ".join(
        f"{cell_title(summary.cell)} seed {summary.seed} {_told(summary)}" for summary in _ordered(side)[:6]
    )


def _cached_grid(sides: Sequence[Evidence]) -> Grid:
    rows = [
        (
            cell_title(summary.cell),
            side.arm.name,
            str(summary.seed),
            text.count(summary.cache.prompt_tokens),
            text.count(summary.cache.cached_tokens),
            _between(*_expected(summary)),
            _judged(summary),
        )
        for side in sides
        for summary in _ordered(side)
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


def turns_figure(sides: Sequence[Evidence]) -> Figure | None:
    """Hit rate by turn, a panel for each arm and cell with more than one turn; ``None`` without turns."""
    panels = [
        panel
        for side in sides
        for place, cell in enumerate(side.cells())
        if (panel := _turn_panel(side, place, [s for s in _ordered(side) if s.cell == cell])) is not None
    ]
    if not panels:
        return None
    return Figure("turns", _TURNS_TITLE, readings.TURNS, tuple(panels), _turn_grid(sides))


def _has_turns(cache: CacheAccount) -> bool:
    return len(cache.turns) > 1


def _turn_panel(side: Evidence, place: int, runs: Sequence[RunSummary]) -> Panel | None:
    rows: list[Row] = []
    for summary in runs:
        if not _has_turns(summary.cache) or not (_expects(summary) or summary.cache.cached_tokens):
            continue
        for turn, prompt, cached, low, high in summary.cache.turns:
            if prompt is None or prompt == 0 or cached is None:
                continue
            rows.append(
                {
                    "turn": turn + 1,
                    "seed": f"seed {summary.seed}",
                    "measured": round(100 * cached / prompt, 2),
                    "low": round(100 * low / prompt, 2),
                    "high": round(100 * high / prompt, 2),
                    "series": side.arm.name,
                    "tip": f"{side.arm.name}, turn {turn + 1}, seed {summary.seed}: {text.percent(cached / prompt)} "
                    f"({text.count(cached)} of {text.count(prompt)} tokens, expected {_between(low, high)})",
                }
            )
    if not rows:
        return None
    title = f"{side.arm.name}, {cell_title(runs[0].cell)}"
    first, last = rows[0], rows[-1]
    return Panel(
        key=f"turns-{side.arm.slot}-{place}",
        kind="turns",
        title=title,
        summary=f"Hit rate by turn of {title}: {first['measured']} % in turn {first['turn']}, "
        f"{last['measured']} % in turn {last['turn']}.",
        x_title="turn of the conversation",
        y_title="hit rate (% of prompt tokens)",
        series=(side.arm.name,),
        slots=(side.arm.slot,),
        rows=tuple(rows),
    )


def _turn_grid(sides: Sequence[Evidence]) -> Grid:
    rows = [
        (
            cell_title(summary.cell),
            side.arm.name,
            str(summary.seed),
            str(turn + 1),
            text.count(prompt),
            text.count(cached),
            _between(low, high) if _expects(summary) else text.count(0),
        )
        for side in sides
        for summary in _ordered(side)
        if _has_turns(summary.cache)
        for turn, prompt, cached, low, high in summary.cache.turns
    ]
    header = ("cell", "arm", "seed", "turn", "prompt tokens", "cached, measured", "cached, expected")
    return Grid(header, tuple(rows))
