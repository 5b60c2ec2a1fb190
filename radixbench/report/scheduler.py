"""What the scheduler did in one run of each arm: prefill batches, running and waiting requests, the pool.

The run is the one whose requests the Gantt shows, and the time axis begins where that one's does, so that a
bar there can be found here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.records import StepRecord
from radixbench.report import readings, text
from radixbench.report.batches import Bar, bars_of, batches_panel
from radixbench.report.cells import cell_order, cell_title
from radixbench.report.channels import thinned
from radixbench.report.chosen import Chosen, chosen
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row

MAX_POINTS = 120
MAX_MOMENTS = 60
INSET = 44
RUNNING, WAITING, POOL = "running", "waiting", "pool in use"
_MARKS = "eviction or retraction"
_NS = 1e9
_HEADROOM = 1.15
_TITLE = "The scheduler over time"
_X_TITLE = "seconds since the first request was due"
_HEADER = (
    "cell",
    "arm",
    "seed",
    "prefill batches",
    "tokens computed",
    "tokens cached",
    "decode steps",
    "time in prefill",
    "most running",
    "longest queue",
    "peak pool",
    "evicted",
    "retracted",
)


class Track(NamedTuple):
    """The steps of the run shown on one arm, between its first send and its last answer.

    ``origin_ns`` is where the axis begins: the first request's due time, or the first step of a run without requests.
    """

    side: Evidence
    run: Run
    steps: list[StepRecord]
    origin_ns: int

    @property
    def end(self) -> float:
        """The end of the last step, in seconds on the axis."""
        return self.at(self.steps[-1].end_ns)

    def at(self, moment_ns: int) -> float:
        """Seconds on the axis, never before it begins."""
        return max(float(f"{(moment_ns - self.origin_ns) / _NS:.5g}"), 0.0)


def scheduler_figure(sides: Sequence[Evidence]) -> Figure:
    """Panels for each arm that has steps; absent where no server told any."""
    found = chosen(sides, lambda run: bool(run.steps))
    if found is None:
        return Figure("scheduler", _TITLE, readings.SCHEDULER, (), absent=_why_no_steps(sides))
    tracks = [
        Track(side, run, steps, min((one.due_ns for one in run.requests), default=steps[0].start_ns))
        for side in sides
        if (run := found.run_of(side)) is not None and (steps := within(run))
    ]
    if not tracks:
        return Figure("scheduler", _TITLE, readings.SCHEDULER, (), absent=_why_no_steps(sides))
    bars = [bars_of(track.steps, track.origin_ns) for track in tracks]
    top = float(max((bar.computed + bar.cached for one in bars for bar in one), default=1))
    panels = tuple(
        panel for track, one in zip(tracks, bars, strict=True) for panel in _panels(track, one, top)
    )
    return Figure(
        "scheduler",
        _TITLE,
        readings.SCHEDULER,
        panels,
        _grid(sides),
        notes=(found.note, *_gaps(sides, found)),
    )


def within(run: Run) -> list[StepRecord]:
    """Steps between the first send and the last answer: neither warm-up nor probe."""
    if not run.requests:
        return list(run.steps)
    first = min(request.send_ns for request in run.requests)
    last = max(request.end_ns for request in run.requests)
    return [step for step in run.steps if first <= step.end_ns and step.start_ns <= last]


def _why_no_steps(sides: Sequence[Evidence]) -> str:
    runs = [run for side in sides for run in side.capture.runs]
    engines = list(dict.fromkeys(run.server.engine for run in runs))
    why = f"The captures hold no scheduler steps: {text.several(engines) or 'the server'} told none."
    lines = sum(run.log.prefill_lines + run.log.decode_lines for run in runs if run.log is not None)
    if not lines:
        return why
    return (
        f"{why} Of its log, {text.plural(lines, 'scheduler line')} were counted but not kept one by one: "
        "radixbench logs draws them over time."
    )


def _gaps(sides: Sequence[Evidence], found: Chosen) -> list[str]:
    return [
        f"{side.arm.name}: the server's log lines don't hold every step of this run, so steps are missing here."
        for side in sides
        if (run := found.run_of(side)) is not None and not run.steps_complete
    ]


def _panels(track: Track, bars: Sequence[Bar], top: float) -> Iterator[Panel]:
    if bars:
        end = max(track.end, bars[-1].end)
        yield batches_panel(track.side, bars, x_title=_X_TITLE, end=end, top=top, inset=INSET)
    load = {
        RUNNING: [(s.start_ns, float(running(s))) for s in track.steps],
        WAITING: [(s.start_ns, float(s.queue_req)) for s in track.steps],
    }
    yield _lines(track, "load", "requests running and waiting", "requests", load)
    pool = [(s.start_ns, 100 * s.used_slots / s.pool_slots) for s in track.steps if s.pool_slots]
    if pool:
        yield _lines(track, "pool", "pool in use by running requests", "% of the pool", {POOL: pool})


def running(step: StepRecord) -> int:
    """Requests in a step: those that decode, and those whose prompt is computed."""
    return step.running_req + step.new_seq


def _lines(
    track: Track, key: str, title: str, y_title: str, series: dict[str, list[tuple[int, float]]]
) -> Panel:
    name = f"{track.side.arm.name}: {title}"
    told = "; ".join(
        f"{word} {text.number(max(value for _, value in values))} at most" for word, values in series.items()
    )
    highest = max(value for values in series.values() for _, value in values)
    moments = tuple(_moments(track))
    return Panel(
        key=f"scheduler-{key}-{track.side.arm.slot}",
        kind="lines",
        title=name,
        summary=f"{name}, over time: {told}.",
        x_title=_X_TITLE,
        y_title=y_title,
        series=tuple(series),
        slots=(),
        rows=tuple(row for word, values in series.items() for row in _points(track, word, values)),
        marks=moments,
        marks_word=_MARKS if moments else "",
        x_domain=(0.0, track.end),
        y_top=_HEADROOM * highest or 1.0,
        inset=INSET,
    )


def _points(track: Track, word: str, values: Sequence[tuple[int, float]]) -> Iterator[Row]:
    for at_ns, value in thinned(values, MAX_POINTS):
        told = f"{text.number(value)} %" if word == POOL else text.number(value, 0)
        yield {
            "t": track.at(at_ns),
            "y": float(f"{value:.4g}"),
            "series": word,
            "run": word,
            "tip": f"{word}: {told}",
        }


def _moments(track: Track) -> Iterator[Row]:
    """Steps that dropped cached tokens or sent requests back; the gravest where there are many."""
    hit = [step for step in track.steps if step.evicted_tokens or step.retracted_req]
    gravest = sorted(hit, key=lambda step: (step.retracted_req, step.evicted_tokens), reverse=True)
    for step in sorted(gravest[:MAX_MOMENTS], key=lambda step: step.start_ns):
        told = (
            f"{text.plural(step.evicted_tokens, 'token')} evicted, "
            f"{text.plural(step.retracted_req, 'request')} sent back"
        )
        yield {"t": track.at(step.start_ns), "tip": told}


def _grid(sides: Sequence[Evidence]) -> Grid:
    """Every run in figures, so that the run shown can be held against the others."""
    rows = [
        _grid_row(side, run)
        for side in sides
        for run in sorted(side.capture.runs, key=lambda run: (cell_order(run.cell), run.seed))
    ]
    return Grid(_HEADER, tuple(rows))


def _grid_row(side: Evidence, run: Run) -> tuple[str, ...]:
    named = (cell_title(run.cell), side.arm.name, str(run.seed))
    steps = within(run)
    if not steps:
        return (*named, *(text.MISSING for _ in _HEADER[len(named) :]))
    prefills = [step for step in steps if step.phase == "prefill"]
    spent = sum(step.end_ns - step.start_ns for step in prefills)
    pools = [step.used_slots / step.pool_slots for step in steps if step.pool_slots]
    return (
        *named,
        text.count(len(prefills)),
        text.count(sum(step.new_tokens for step in prefills)),
        text.count(sum(step.cached_tokens for step in prefills)),
        text.count(len(steps) - len(prefills)),
        text.percent(spent / max(sum(step.end_ns - step.start_ns for step in steps), 1)),
        text.count(max(running(step) for step in steps)),
        text.count(max(step.queue_req for step in steps)),
        text.percent(max(pools)) if pools else text.MISSING,
        text.count(sum(step.evicted_tokens for step in steps)),
        text.count(sum(step.retracted_req for step in steps)),
    )
