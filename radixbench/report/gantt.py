"""The requests of one run of each arm as bars in time: waiting to be sent, to the first token, to the last.

A request takes the first lane that is free when it is due, so that the lanes count the requests in flight.
At most ``MAX_REQUESTS`` are drawn, from the first on: that is where a cold cache fills.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.metrics.answers import prompt_length
from radixbench.metrics.residency import request_throttle
from radixbench.records import RequestRecord
from radixbench.report import readings, text
from radixbench.report.cells import cell_order, cell_title
from radixbench.report.chosen import chosen
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row
from radixbench.report.reused import SHARES, reused

MAX_REQUESTS = 160
MAX_LANES = 64

_NS = 1e9
_TITLE = "Requests over time"
_HEADER = ("cell", "arm", "seed", "requests", *SHARES, "failed", "most in flight", "longest wait to be sent")


class Shown(NamedTuple):
    """The requests of a run that are drawn, each with its lane; ``of`` is how many there are.

    ``held`` is the share of a request's time for which the card was held back, by its place in the workload.
    """

    requests: tuple[tuple[RequestRecord, int], ...]
    of: int
    held: Mapping[int, float] = MappingProxyType({})

    @property
    def lanes(self) -> int:
        """How many requests are in flight together."""
        return 1 + max(lane for _, lane in self.requests)


def gantt_figure(sides: Sequence[Evidence]) -> Figure:
    """A panel for each arm that has requests in the run shown."""
    found = chosen(sides, lambda run: bool(run.requests))
    if found is None:
        return Figure("gantt", _TITLE, readings.GANTT, (), absent="No request was recorded.")
    drawn = [
        (side, _with_held(shown(run.requests), run))
        for side in sides
        if (run := found.run_of(side)) is not None and run.requests
    ]
    panels = tuple(_panel(side, one) for side, one in drawn)
    notes = (
        found.note,
        *(_left_out(side, one) for side, one in drawn if len(one.requests) < one.of),
        *(_held_back(side, one) for side, one in drawn if any(one.held.values())),
    )
    return Figure("gantt", _TITLE, readings.GANTT, panels, _grid(sides), notes=notes)


def shown(requests: Sequence[RequestRecord]) -> Shown:
    """The first requests by due time, as many as lanes and marks allow."""
    ordered = sorted(requests, key=lambda one: (one.due_ns, one.send_ns, one.prompt))
    placed: list[tuple[RequestRecord, int]] = []
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    for request in ordered[:MAX_REQUESTS]:
        while busy and busy[0][0] <= request.due_ns:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        if lane >= MAX_LANES:
            break
        heapq.heappush(busy, (_end(request), lane))
        placed.append((request, lane))
    return Shown(tuple(placed), len(ordered))


def _with_held(one: Shown, run: Run) -> Shown:
    drawn = tuple(request for request, _ in one.requests)
    return one._replace(held=request_throttle(replace(run, requests=drawn)))


def most_in_flight(requests: Sequence[RequestRecord]) -> int:
    """The most requests that were due and not yet answered at one moment."""
    moments = sorted([(one.due_ns, 1) for one in requests] + [(_end(one), -1) for one in requests])
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


def _end(request: RequestRecord) -> int:
    last = request.chunk_ns[-1] if request.chunk_ns else request.end_ns
    return max(last, request.end_ns if request.status != "completed" else last, request.due_ns + 1)


def _panel(side: Evidence, one: Shown) -> Panel:
    origin = min(request.due_ns for request, _ in one.requests)
    end = max(_end(request) for request, _ in one.requests)
    part = "" if len(one.requests) == one.of else f" of {text.count(one.of)}"
    title = (
        f"{side.arm.name}: {text.count(len(one.requests))}{part} requests within "
        f"{text.duration((end - origin) / _NS)}, at most {one.lanes} in flight"
    )
    rows = tuple(_row(request, lane, origin, one.held.get(request.prompt)) for request, lane in one.requests)
    counted = {name: sum(row["series"] == name for row in rows) for name in SHARES}
    told = ", ".join(f"{n} {name}" for name, n in counted.items() if n)
    failed = sum(row["failed"] is True for row in rows)
    return Panel(
        key=f"gantt-{side.arm.slot}",
        kind="gantt",
        title=title,
        summary=f"Requests over time, {title}: {told}{f'; {failed} failed' if failed else ''}.",
        x_title="seconds since the first request was due",
        y_title="requests in flight",
        series=SHARES,
        slots=(),
        rows=rows,
        x_domain=(0.0, _seconds(end - origin)),
        y_top=float(one.lanes),
    )


def _seconds(ns: int) -> float:
    return float(f"{ns / _NS:.5g}")


def _row(request: RequestRecord, lane: int, origin: int, held: float | None) -> Row:
    failed = request.status != "completed"
    end = _seconds(_end(request) - origin)
    first = request.first_token_ns
    return {
        "t": _seconds(request.due_ns - origin),
        "send": _seconds(request.send_ns - origin),
        "first": end if first is None else _seconds(first - origin),
        "end": end,
        "lane": lane,
        "series": reused(request),
        "failed": failed,
        "tip": _tip(request, held),
    }


def _tip(request: RequestRecord, held: float | None) -> str:
    prompt = prompt_length(request)
    cached = "?" if request.cached_tokens is None else text.count(request.cached_tokens)
    parts = [f"prompt {request.prompt}: {cached} of {text.count(prompt)} tokens cached"]
    if request.send_ns > request.due_ns:
        parts.append(f"waited {text.duration((request.send_ns - request.due_ns) / _NS)} to be sent")
    if request.first_token_ns is not None:
        parts.append(f"first token after {text.duration((request.first_token_ns - request.due_ns) / _NS)}")
        parts.append(f"last after {text.duration((request.chunk_ns[-1] - request.due_ns) / _NS)}")
    if held:
        parts.append(f"the card was held back for {text.percent(held)} of it")
    if request.status != "completed":
        parts.append(f"{request.status}: {request.error or 'no reason was told'}")
    return "; ".join(parts)


def _left_out(side: Evidence, one: Shown) -> str:
    return (
        f"{side.arm.name}: the first {text.count(len(one.requests))} of {text.count(one.of)} requests are drawn; "
        "the table counts all."
    )


def _held_back(side: Evidence, one: Shown) -> str:
    held = sum(share > 0 for share in one.held.values())
    return f"{side.arm.name}: the card was held back while {text.count(held)} of the requests drawn were at work."


def _grid(sides: Sequence[Evidence]) -> Grid:
    rows = [
        _grid_row(side, run)
        for side in sides
        for run in sorted(side.capture.runs, key=lambda run: (cell_order(run.cell), run.seed))
    ]
    return Grid(_HEADER, tuple(rows))


def _grid_row(side: Evidence, run: Run) -> tuple[str, ...]:
    requests = run.requests
    kinds = [reused(request) for request in requests]
    waits = [request.send_ns - request.due_ns for request in requests]
    return (
        cell_title(run.cell),
        side.arm.name,
        str(run.seed),
        text.count(len(requests)),
        *(text.count(kinds.count(name)) for name in SHARES),
        text.count(sum(request.status != "completed" for request in requests)),
        text.count(most_in_flight(requests)) if requests else text.MISSING,
        text.duration(max(waits) / _NS) if waits else text.MISSING,
    )
