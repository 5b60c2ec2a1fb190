"""The slowest requests one by one, with each its own pace: what the quantiles of a run are made of.

A request that came in one event, or of one token, has no time per token, and one whose server says nothing
of cached tokens has none of those: such places hold a dash, never a 0. Where the card's event reasons were read, each
request says for how much of its time the card was held back.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.metrics.answers import prompt_length
from radixbench.metrics.latency import e2e, tpot, ttft
from radixbench.metrics.residency import most_throttled, throttle_lines
from radixbench.records import RequestRecord
from radixbench.report import text
from radixbench.report.cells import cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement

_TITLE = "The slowest requests"
_HEADER: tuple[str, ...] = (
    "arm",
    "cell",
    "seed",
    "request",
    "TTFT",
    "TPOT",
    "E2EL",
    "prompt",
    "cached",
    "answer",
)
_MOST = 5


class _Slow(NamedTuple):
    seconds: float
    run: Run
    request: RequestRecord


def slowest_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` where no request was answered."""
    rows: list[tuple[str, ...]] = []
    held: list[float | None] = []
    says: list[Statement] = []
    for side in sides:
        answered = list(_answered(side))
        slow = heapq.nlargest(_MOST, answered, key=lambda one: one.seconds)
        rows += [_row(side, one) for one in slow]
        held += _held_back(slow)
        if slow:
            of = text.plural(len(answered), "answered request")
            says.append(Statement(f"{side.arm.name}: the {len(slow)} that took longest of {of}, by E2EL."))
    if not rows:
        return None
    header, caption = _HEADER, "TTFT, TPOT and E2EL of single requests; lengths in tokens"
    if any(share is not None for share in held):
        header, caption = (*_HEADER, "throttled"), f"{caption}; throttled: of its time"
        rows = [(*row, _share(share)) for row, share in zip(rows, held, strict=True)]
    return Section("slowest", _TITLE, tuple(says), ((caption, Grid(header, tuple(rows))),))


def _held_back(slow: Sequence[_Slow]) -> Iterator[float | None]:
    """For how much of each request's time its card was held back, where anything tells."""
    lines = {one.run.order: throttle_lines(one.run) for one in slow}
    for one in slow:
        yield most_throttled(lines[one.run.order], one.request.send_ns, one.request.end_ns)


def _share(share: float | None) -> str:
    return text.MISSING if share is None else text.percent(share)


def _answered(side: Evidence) -> Iterator[_Slow]:
    """The requests of an arm that have possible times, in the order of its runs."""
    for answers in side.answers:
        yield from (_Slow(e2e(request), answers.run, request) for request in answers.timed)


def _row(side: Evidence, slow: _Slow) -> tuple[str, ...]:
    request = slow.request
    pace = tpot(request)
    return (
        side.arm.name,
        cell_title(slow.run.cell),
        str(slow.run.seed),
        str(request.prompt),
        text.duration(ttft(request)),
        text.MISSING if pace is None else text.duration(pace),
        text.duration(slow.seconds),
        text.count(prompt_length(request)),
        text.count(request.cached_tokens),
        text.count(request.output_tokens),
    )
