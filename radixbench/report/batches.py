"""The scheduler's prefill batches of one representative run of each arm: computed against cached tokens.

The run shown is of the cell with the most reuse and the seed whose median time to first token lies in
the middle; both arms show the same cell and seed. Above ``MAX_BATCHES`` batches are added up in equal
stretches of time, and the axis says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radixbench.capture.model import CellValue, Run
from radixbench.records import StepRecord
from radixbench.report import readings, text
from radixbench.report.cells import arm_at, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row

MAX_BATCHES = 250
SERIES = ("computed", "cached")
_NS = 1e9
_TITLE = "Prefill batches over time"


class Bar(NamedTuple):
    """Tokens of one batch, or of a stretch of batches, in seconds since the run's first batch."""

    start: float
    end: float
    computed: int
    cached: int
    batches: int


def prefill_figure(sides: Sequence[Evidence]) -> Figure:
    """A panel for each arm that has steps."""
    chosen = _chosen(sides)
    if chosen is None:
        return Figure(
            "prefill", _TITLE, readings.PREFILL, (), absent="No run with scheduler steps was recorded."
        )
    cell, seed = chosen
    shown = [(side, bars) for side in sides if (bars := _bars(_find(side, cell, seed)))]
    if not shown:
        return Figure("prefill", _TITLE, readings.PREFILL, (), absent=_why_no_steps(sides))
    top = float(max(bar.computed + bar.cached for _, bars in shown for bar in bars))
    panels = tuple(_panel(side, bars, top) for side, bars in shown)
    note = f"Shown is {arm_at(f'seed {seed}', cell)}, the seed in the middle by time to first token."
    return Figure(
        "prefill", _TITLE, readings.PREFILL, panels, _grid(sides), notes=(note, *_gaps(sides, cell, seed))
    )


def _why_no_steps(sides: Sequence[Evidence]) -> str:
    engines = list(dict.fromkeys(run.server.engine for side in sides for run in side.capture.runs))
    return f"The captures hold no prefill steps: {text.several(engines) or 'the server'} told none."


def _chosen(sides: Sequence[Evidence]) -> tuple[dict[str, CellValue], int] | None:
    """The cell with the most reuse that has steps, and its middle seed by median time to first token."""
    candidates = [(summary, run) for side in sides[:1] for run, summary in side.pairs() if run.steps] or [
        (summary, run) for side in sides for run, summary in side.pairs() if run.steps
    ]
    if not candidates:
        return None
    cell = max((summary.cell for summary, _ in candidates), key=cell_order)
    ranked = sorted(
        (
            figure.value if (figure := summary.figures.get("ttft_p50")) and figure.value is not None else 0.0,
            summary.seed,
        )
        for summary, _ in candidates
        if summary.cell == cell
    )
    return cell, ranked[len(ranked) // 2][1]


def _find(side: Evidence, cell: dict[str, CellValue], seed: int) -> Run | None:
    return next((run for run in side.capture.runs if run.cell == cell and run.seed == seed), None)


def _gaps(sides: Sequence[Evidence], cell: dict[str, CellValue], seed: int) -> list[str]:
    return [
        f"{side.arm.name}: the server's log lines don't hold every step of this run, so batches are missing here."
        for side in sides
        if (run := _find(side, cell, seed)) is not None and not run.steps_complete
    ]


def _prefills(run: Run) -> list[StepRecord]:
    """Prefill steps between the first send and the last answer: neither warm-up nor probe."""
    steps = [step for step in run.steps if step.phase == "prefill"]
    if not run.requests:
        return steps
    first = min(request.send_ns for request in run.requests)
    last = max(request.end_ns for request in run.requests)
    return [step for step in steps if first <= step.end_ns and step.start_ns <= last]


def _bars(run: Run | None) -> list[Bar]:
    steps = [] if run is None else _prefills(run)
    if not steps:
        return []
    origin = steps[0].start_ns
    bars = [
        Bar((s.start_ns - origin) / _NS, (s.end_ns - origin) / _NS, s.new_tokens, s.cached_tokens, 1)
        for s in steps
    ]
    return bars if len(bars) <= MAX_BATCHES else _stretched(bars)


def _stretched(bars: Sequence[Bar]) -> list[Bar]:
    width = bars[-1].end / (MAX_BATCHES // 2)
    groups: dict[int, list[Bar]] = {}
    for bar in bars:
        groups.setdefault(int(bar.start / width), []).append(bar)
    return [
        Bar(
            place * width,
            (place + 1) * width,
            sum(bar.computed for bar in group),
            sum(bar.cached for bar in group),
            len(group),
        )
        for place, group in sorted(groups.items())
    ]


def _panel(side: Evidence, bars: Sequence[Bar], top: float) -> Panel:
    computed, cached = sum(bar.computed for bar in bars), sum(bar.cached for bar in bars)
    batches = sum(bar.batches for bar in bars)
    title = (
        f"{side.arm.name}: {text.plural(batches, 'prefill batch', 'prefill batches')} within "
        f"{text.duration(bars[-1].end)}, {text.count(computed)} tokens computed, {text.count(cached)} cached"
    )
    binned = any(bar.batches > 1 for bar in bars)
    return Panel(
        key=f"prefill-{side.arm.slot}",
        kind="batches",
        title=title,
        summary=f"Prefill batches over time, {title}.",
        x_title="seconds since the first prefill batch",
        y_title=f"tokens in batches of {text.duration(bars[0].end - bars[0].start)}"
        if binned
        else "tokens in the batch",
        series=SERIES,
        slots=(),
        rows=tuple(row for bar in bars for row in _bar_rows(bar)),
        x_domain=(0.0, round(bars[-1].end, 4)),
        y_top=top,
    )


def _bar_rows(bar: Bar) -> list[Row]:
    tip = (
        f"{text.duration(bar.end - bar.start)}: {text.count(bar.computed)} computed, {text.count(bar.cached)} cached"
        + (f", {bar.batches} batches" if bar.batches > 1 else "")
    )
    base: Row = {"t": round(bar.start, 4), "t2": round(bar.end, 4), "tip": tip}
    levels = ((0, bar.computed, "computed"), (bar.computed, bar.computed + bar.cached, "cached"))
    return [{**base, "y": low, "y2": high, "series": name} for low, high, name in levels if high > low]


def _grid(sides: Sequence[Evidence]) -> Grid:
    """Batches and tokens of every run, so that the run shown can be held against the others."""
    rows = []
    for side in sides:
        for run in sorted(side.capture.runs, key=lambda run: (cell_order(run.cell), run.seed)):
            steps = _prefills(run)
            rows.append(
                (
                    cell_title(run.cell),
                    side.arm.name,
                    str(run.seed),
                    text.count(len(steps)),
                    text.count(sum(step.new_tokens for step in steps)),
                    text.count(sum(step.cached_tokens for step in steps)),
                )
            )
    return Grid(("cell", "arm", "seed", "prefill batches", "tokens computed", "tokens cached"), tuple(rows))
