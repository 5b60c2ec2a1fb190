"""Whether the client, and not the server, set the numbers: lateness, stalls, CPU, coalesced reads, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.capture.model import Capture, Run
from radixbench.findings.model import Finding, Severity
from radixbench.findings.words import duration, percent, several
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.latency import COALESCED_SHARE
from radixbench.records import ClientRecord
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.units import seconds

CLIENT_LAG = "client-lag"
"""The code of all that says a client was late."""

NOTICEABLE = 0.05
"""The share of the median TTFT from which on a client's own time counts."""

_LEAST_S = 0.001
_BUSY = 0.7
_FULL = 0.9
"""The share of a core from which on a client has no time to spare: its lateness is the figure."""

_OFTEN = 0.05
_RARELY = 0.01
_LONG = 0.5
_FEWEST_LOOKS = 20
"""Looks at the event loop from which on a share of them that stalled says anything."""

_FEWEST_STALLS = 2
_LATENCIES = frozenset({"ttft_p50", "ttft_p99", "e2e_p50"})


def client_findings(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """What the client's record of one run says against its latencies."""
    yield from _late(run, summary)
    if run.client is not None:
        yield from _stalled(run.client, summary)
        yield from _busy(run, run.client)
        yield from _coalesced(run.client)


def calibration_findings(capture: Capture, summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """What the client's error against a mock means for the capture's TTFTs."""
    measured = capture.calibration
    if measured is None:
        return
    values = (summary.figures["ttft_p50"].value for summary in summaries)
    ttft = median(Sample(tuple(value for value in values if value is not None)))
    error = seconds(measured.ttft_error_p50_ns)
    late = seconds(measured.late_p99_ns)
    if isinstance(ttft, Absent) or error <= max(NOTICEABLE * ttft, _LEAST_S):
        return
    beside = f"; but the mock itself was up to {duration(late)} late" if late > error else ""
    yield Finding(
        CLIENT_LAG,
        _gravity(error / ttft),
        f"against a mock server at {measured.streams} streams the client saw first tokens {duration(error)} late (median),"
        f" {percent(error / ttft)} of the median TTFT here{beside}",
        "give the client cores of its own, or lower the concurrency",
        metrics=_LATENCIES,
    )


def _gravity(share: float) -> Severity:
    """From half the median TTFT on, a client's own time is as much of the figure as the server's."""
    return "serious" if share >= _LONG else "warning"


def _late(run: Run, summary: RunSummary) -> Iterator[Finding]:
    """Waiting for a free place under a cap is lateness too, so only that of a busy client is surely its own."""
    late, ttft = (summary.figures[name].value for name in ("lateness_p99", "ttft_p50"))
    if late is None or ttft is None or late <= max(NOTICEABLE * ttft, _LEAST_S):
        return
    yield Finding(
        CLIENT_LAG,
        _gravity(late / ttft) if _share_of_core(run) > _BUSY else "warning",
        f"requests were sent up to {duration(late)} (p99) after they were due, {percent(late / ttft)} of the median TTFT,"
        " which counts it",
        "lower the rate or raise --max-concurrency, whose cap makes requests wait; give the client cores of its own",
        metrics=_LATENCIES,
    )


def _stalled(client: ClientRecord, summary: RunSummary) -> Iterator[Finding]:
    """Often enough to move a median, or long enough to make a p99."""
    ttft = summary.figures["ttft_p50"].value
    if client.ticks < _FEWEST_LOOKS or client.stalls < _FEWEST_STALLS or ttft is None:
        return
    worst, share = seconds(client.stall_max_ns), client.stalls / client.ticks
    often = share >= _OFTEN and worst > NOTICEABLE * ttft
    long = share >= _RARELY and worst > _LONG * ttft
    if often or long:
        yield Finding(
            CLIENT_LAG,
            _gravity(worst / ttft) if often else "info",
            f"the client's event loop stalled {several(client.stalls, 'time')} in {client.ticks:,} looks, up to"
            f" {duration(worst)} (median TTFT {duration(ttft)}): nothing was sent or stamped meanwhile",
            "leave the machine idle otherwise, and give the client cores of its own",
            metrics=frozenset({"ttft_p50", "ttft_p99"} if often else {"ttft_p99"}),
        )


def _busy(run: Run, client: ClientRecord) -> Iterator[Finding]:
    share = _share_of_core(run)
    if share > _BUSY:
        per_chunk = (
            f", {duration(seconds(client.cpu_ns // client.chunks))} per chunk" if client.chunks else ""
        )
        yield Finding(
            CLIENT_LAG,
            "serious" if share >= _FULL else "warning",
            f"the client used {percent(share)} of a core{per_chunk}: it may be what limits the throughput",
            "lower the concurrency, or have the server send fewer and larger events",
            metrics=_LATENCIES | {"itl_p50", "tpot_p50", "output_throughput", "request_throughput"},
        )


def _share_of_core(run: Run) -> float:
    span = run.end_ns - run.start_ns
    return 0.0 if run.client is None or span <= 0 else run.client.cpu_ns / span


def _coalesced(client: ClientRecord) -> Iterator[Finding]:
    if client.chunks and client.coalesced_chunks > COALESCED_SHARE * client.chunks:
        yield Finding(
            "coalesced-reads",
            "warning",
            f"{percent(client.coalesced_chunks / client.chunks)} of {client.chunks:,} chunks came in one read with the one"
            " before: how they were spaced is unknown, and ITL isn't told",
            "give the client cores of its own; a server that writes several events at once does the same",
            metrics=frozenset({"itl_p50"}),
        )
