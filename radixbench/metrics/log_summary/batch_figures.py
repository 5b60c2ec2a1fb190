"""The figures of a log of SGLang's or of our own server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from radixbench.metrics.log_summary.batch_log import BatchLog
from radixbench.metrics.log_summary.figures import (
    Group,
    decode_figures,
    prefill_figures,
    pressure,
    versions_of,
)
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.model import RankFigures, RequestFigures, Role
from radixbench.metrics.log_summary.reading import Figures
from radixbench.metrics.log_summary.requests import RequestBook, quantiles
from radixbench.metrics.log_summary.speed import throughput
from radixbench.metrics.log_summary.version import Span
from radixbench.metrics.log_summary.windows import Lane

_PREFILL_SIDE = frozenset(
    {"bootstrap_req", "inflight_req", "unbootstrapped_req", "transferring_req", "optimistic_req"}
)
_DECODE_SIDE = frozenset({"preallocated_usage", "transfer_req", "retracted_req"})

NO_REQUESTS = (
    "no lines about single requests (--log-requests or --enable-request-time-stats-logging prints them)"
)
NO_TTFT = "Finish lines hold the time to first token only with --enable-metrics (0.5.10 and later)"
NO_LATENCY = "ReqTimeStats lines hold queue and forward time, neither time to first token nor latency"


def batch_figures(kept: Kept, log: BatchLog) -> Figures:
    """Everything that the log's batch and request lines come to."""
    counted = log.counted()
    stated = kept.server.version
    versions = (
        Span(stated, stated)
        if stated
        else versions_of(counted, [*kept.happenings.counts, *kept.happenings.forms])
    )
    group = Group(counted, kept.retractions, kept.server.page_size, versions)
    ranks = tuple(
        _rank(replace(group, ledgers=[ledger], whole=False), ledger, counts) for ledger, counts in log.ranks()
    )
    finished, timed = log.request_books()
    return Figures(
        role=role_of(kept, counted),
        prefill=prefill_figures(group),
        decode=decode_figures(group),
        requests=request_figures(finished, timed),
        throughput=throughput(group),
        pressure=pressure(group, kept.server.pool_tokens),
        ranks=ranks,
        lanes=tuple(_lane(group, ledger, kept.server.decode_interval) for ledger in counted),
        main_pool="full" if any(ledger.full_pool for ledger in counted) else "token",
        group=group,
    )


def role_of(kept: Kept, ledgers: list[Ledger]) -> Role:
    """As the arguments state it, else as the keys of the lines have it."""
    if kept.server.role is not None:
        return kept.server.role
    found = sides(ledgers)
    if found.prefill == found.decode:
        return "unified"
    return "prefill" if found.prefill else "decode"


class Sides(NamedTuple):
    """Whether lines have keys that only one side of a prefill/decode pair prints."""

    prefill: bool
    decode: bool


def sides(ledgers: Sequence[Ledger]) -> Sides:
    """Which sides of a pair wrote these lines."""
    return Sides(
        any(_PREFILL_SIDE & ledger.signs.prefill_keys for ledger in ledgers),
        any(_DECODE_SIDE & ledger.signs.decode_keys for ledger in ledgers),
    )


def request_figures(finished: RequestBook, timed: RequestBook) -> RequestFigures:
    """Each figure from the lines that hold it: tokens and latency from ``Finish:`` lines, queueing from ``ReqTimeStats``."""
    if not finished.n and not timed.n:
        return RequestFigures(reason=NO_REQUESTS)
    main = finished if finished.n else timed
    ttft = quantiles(finished.ttft) or quantiles(timed.ttft)
    e2e = quantiles(finished.e2e) or quantiles(timed.e2e)
    reused = finished if finished.known else timed
    reasons = []
    if e2e is None:
        reasons.append(
            NO_LATENCY
            if not finished.n
            else "the Finish lines hold no e2e_latency (0.4.4 and later print it)"
        )
    elif ttft is None:
        reasons.append(NO_TTFT)
    if not reused.known:
        reasons.append("no line tells a request's cached tokens")
    return RequestFigures(
        n=max(finished.n, timed.n),
        prompt_tokens=main.prompt_tokens if main.prompt_known else None,
        cached_tokens=reused.cached_tokens if reused.known else None,
        output_tokens=main.output_tokens if main.output_known else None,
        hit_rate=reused.hit_rate,
        ttft=ttft,
        e2e=e2e,
        queue=quantiles(timed.queue) or quantiles(finished.queue),
        prefill=quantiles(timed.prefill),
        decode=quantiles(timed.decode),
        forward=quantiles(timed.forward),
        known_prompt_tokens=reused.known_prompt_tokens if reused.known else None,
        reason="; ".join(reasons) or None,
    )


def _rank(group: Group, ledger: Ledger, counts: bool) -> RankFigures:
    return RankFigures(
        rank=ledger.rank.label,
        counted=counts,
        prefill=prefill_figures(group),
        decode=decode_figures(group),
        throughput=throughput(group),
        pressure=pressure(group, None),
    )


def _lane(group: Group, ledger: Ledger, interval: int) -> Lane:
    sums = partial(ledger.sums, repeated=group.repeats(ledger))
    unit = 1.0 if ledger.exact.steps else float(interval)
    return Lane(ledger.course, sums, unit, source=ledger.rank.source)
