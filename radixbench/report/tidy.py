"""The tables of an export: a row a run, a row a request, a row a figure of a comparison.

Every row names its capture, arm, cell and seed, so that tables of several sweeps can be put together and joined.
Seconds are told from the run's start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from radixbench.capture.model import Capture, CellValue, Run
from radixbench.compare.change import Change, Comparison
from radixbench.compare.gate import judged
from radixbench.compare.verdict import HEADLINE
from radixbench.metrics import latency
from radixbench.metrics.answers import prompt_length, sort_out
from radixbench.metrics.flat import flat_run
from radixbench.metrics.goodput import good, mean_gap
from radixbench.metrics.registry import METRICS
from radixbench.metrics.summary import summarise
from radixbench.records import RequestRecord
from radixbench.report.cells import by_axis
from radixbench.report.sheet import Cell
from radixbench.scenario.model import GoodputSpec
from radixbench.units import seconds

Captures = Sequence[tuple[str, Capture]]
Table = tuple[Sequence[str], Iterable[Sequence[Cell]]]
"""The header, and the rows as they are asked for."""

_PLACE = ("capture", "mode")
_RUN = ("seed", "order", "status", "requested", "answered")
_REQUEST = (
    *("seed", "request", "conversation", "turn", "group", "status"),
    *("due_s", "send_s", "first_token_s", "last_token_s", "end_s"),
    *("ttft_s", "tpot_s", "itl_mean_s", "e2e_s"),
    *("prompt_tokens", "cached_tokens", "output_tokens", "events", "met_goodput"),
    *("finish_reason", "http_status", "error"),
)
_CHANGE = (
    *("metric", "unit", "better"),
    *(f"{side}_{name}" for side in ("a", "b") for name in ("value", "low", "high", "runs", "values")),
    *("factor", "factor_low", "factor_high", "difference", "difference_low", "difference_high"),
    *("verdict", "verdict_together", "detectable", "bound", "reason", "caveats"),
)
_LATENCIES = (latency.ttft, latency.tpot, mean_gap, latency.e2e)


def runs_table(captures: Captures) -> Table:
    """A row a run: every registered metric with its unit, then the flat keys."""
    axes = _axes(run.cell for _, capture in captures for run in capture.runs)
    metrics = [_with_unit(name, metric.unit) for name, metric in METRICS.items()]
    flat = _flat_names(captures, {*_PLACE, *axes, *_RUN})
    return (*_PLACE, *axes, *_RUN, *metrics, *flat), _run_rows(captures, axes, flat)


def requests_table(captures: Captures) -> Table:
    """A row a request; one that didn't count has its stamps and no latency."""
    axes = _axes(run.cell for _, capture in captures for run in capture.runs)
    return (*_PLACE, *axes, *_REQUEST), _request_rows(captures, axes)


def factors_table(*comparisons: Comparison, gate: Collection[str] = HEADLINE) -> Table:
    """A row a metric and cell of a comparison, as its JSON document has them; of several, each with its candidate's file.

    ``verdict`` is a row's own, ``verdict_together`` that among all rows of the metrics in ``gate``, which others lack.
    """
    changes = [(one, change) for one in comparisons for change in one.changes]
    together = {id(row.own): row.change.verdict for one in comparisons for row in judged(one, gate)}
    axes = _axes(change.cell for _, change in changes)
    named = len(comparisons) > 1
    rows = (
        (
            *((one.a.path,) if named else ()),
            *_at(change.cell, axes),
            *_change_row(change, together.get(id(change))),
        )
        for one, change in changes
    )
    return (*(("candidate",) if named else ()), *axes, *_CHANGE), rows


def _axes(cells: Iterable[Mapping[str, CellValue]]) -> tuple[str, ...]:
    """Every axis that any cell has, in the order in which axes are told."""
    found: dict[str, CellValue] = {}
    for cell in cells:
        found |= cell
    return tuple(axis for axis, _ in by_axis(found))


def _with_unit(name: str, unit: str) -> str:
    """``goodput_requests_per_s``; a name that says its unit keeps it."""
    suffix = f"_{unit.replace('/', '_per_')}"
    return name if name.endswith(suffix) else name + suffix


def _at(cell: Mapping[str, CellValue], axes: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(cell.get(axis) for axis in axes)


def _flat_names(captures: Captures, taken: set[str]) -> tuple[str, ...]:
    """The flat keys that no other column tells already."""
    first = next(((run, capture) for _, capture in captures for run in capture.runs), None)
    if first is None:
        return ()
    run, capture = first
    bare = flat_run(replace(run, requests=()), capture.scenario)
    return tuple(name for name in bare if name not in taken and name not in run.cell)


def _run_rows(
    captures: Captures, axes: Sequence[str], flat_names: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    for name, capture in captures:
        for run in capture.runs:
            summary = summarise(run, goodput=capture.scenario.goodput)
            flat = flat_run(run, capture.scenario)
            own = (run.seed, run.order, run.status, run.requested, summary.answered)
            figures = (summary.figures[metric].value for metric in METRICS)
            yield (
                *(name, run.mode, *_at(run.cell, axes), *own),
                *figures,
                *(flat.get(key) for key in flat_names),
            )


def _request_rows(captures: Captures, axes: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for name, capture in captures:
        targets = capture.scenario.goodput
        for run in capture.runs:
            place = (name, run.mode, *_at(run.cell, axes), run.seed)
            timed = {id(request) for request in sort_out(run).timed}
            for request in run.requests:
                yield (*place, *_request_row(request, run, targets, counts=id(request) in timed))


def _request_row(request: RequestRecord, run: Run, targets: GoodputSpec, *, counts: bool) -> tuple[Cell, ...]:
    def moment(at_ns: int | None) -> float | None:
        return None if at_ns is None else seconds(at_ns - run.start_ns)

    last = request.chunk_ns[-1] if request.chunk_ns else None
    return (
        *(request.prompt, request.conversation, request.turn, request.group, request.status),
        *map(moment, (request.due_ns, request.send_ns, request.first_token_ns, last, request.end_ns)),
        *(figure(request) if counts else None for figure in _LATENCIES),
        *(prompt_length(request), request.cached_tokens, request.output_tokens, len(request.chunk_ns)),
        (good(request, targets) if counts else False) if targets else None,
        *(request.finish_reason, request.http_status, request.error),
    )


def _change_row(change: Change, together: str | None) -> tuple[Cell, ...]:
    factor, difference = change.factor, change.difference
    sides = (
        value
        for side in (change.a, change.b)
        for value in (side.value, side.low, side.high, side.n_runs, side.n_values)
    )
    return (
        *(change.metric, change.unit, change.better),
        *sides,
        *((None,) * 3 if factor is None else (factor.value, factor.low, factor.high)),
        *((None,) * 3 if difference is None else (difference.value, difference.low, difference.high)),
        *(change.verdict, together, change.detectable, change.bound, change.reason, " ".join(change.caveats)),
    )
