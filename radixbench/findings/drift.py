"""Drift: a run whose like requests took longer and longer, and a sweep whose runs did.

In an open loop whose backlog grows, latency says nothing but how long the run was: that is told as overload.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from radixbench.capture.model import Capture, Run
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.findings.words import duration, percent, several
from radixbench.metrics.answers import Answers
from radixbench.metrics.drift import FALSE_ALARMS, LEAST_CHANGE, Drift, DriftFigure, drifts
from radixbench.metrics.figure import RunSummary
from radixbench.stats.sample import Absent
from radixbench.stats.trend import Trend, trend

MIN_RUNS = 8
"""Runs of one cell and arm from which on a drift over the sweep can be told."""

NAMES: Mapping[DriftFigure, str] = {
    "ttft": "TTFT of like requests",
    "e2e": "E2E latency of like requests",
    "tpot": "TPOT of like requests",
    "step": "the server's time for like decode steps",
}
_TOUCHED: Mapping[DriftFigure, frozenset[str]] = {
    "ttft": frozenset({"ttft_p50", "ttft_p99", "e2e_p50"}),
    "e2e": frozenset({"e2e_p50", "output_throughput", "request_throughput", "duration"}),
    "tpot": frozenset({"tpot_p50", "itl_p50", "e2e_p50"}),
    "step": frozenset({"tpot_p50", "itl_p50", "e2e_p50", "output_throughput"}),
}
_SWEEP_FIGURES: Mapping[str, str] = {"ttft_p50": "the median TTFT", "output_throughput": "output throughput"}

_OVERLOAD = "lower --request-rate until the backlog stays level, or cap it with --max-concurrency"
_SLOWER = "look at the clocks and at what else runs on the machine; warm up longer, so that the card is as hot as it gets"
_FASTER = "warm up longer: the beginning of the run was slower than the rest of it"
_SWEEP = "keep the arms interleaved, so that both drift alike; let the machine come to rest before the sweep"


def drift_findings(answers: Answers) -> Iterator[Finding]:
    """At most one for a run: every figure that drifted, and the growing backlog that explains it, if one does."""
    trends = drifts(answers)
    found = [] if isinstance(trends, Absent) else [one for one in trends if one.found]
    if not found:
        return
    backlog = next((one.backlog for one in found if one.backlog is not None), None)
    told = ", ".join(_told(one) for one in found)
    rose = found[0].change > 0.0
    remedy = _SLOWER if rose else _FASTER
    if backlog is not None:
        told = (
            f"more was asked than the server can do: from {backlog[0]:.0f} to {backlog[1]:.0f} requests were due and"
            f" unanswered, and {told}"
        )
        remedy = _OVERLOAD
    yield Finding(
        "drift",
        "warning",
        told,
        remedy,
        metrics=frozenset().union(*(_TOUCHED[one.figure] for one in found)),
    )


def sweep_drift(capture: Capture, summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """Figures of runs of one cell and arm that rise or fall in the order the runs were made."""
    groups: dict[tuple[str, CellKey], list[tuple[Run, RunSummary]]] = {}
    for run, summary in zip(capture.runs, summaries, strict=True):
        groups.setdefault((run.mode, cell_key(run.cell)), []).append((run, summary))
    for (mode, cell), runs in groups.items():
        for name, words in _SWEEP_FIGURES.items():
            found = run_trend(runs, name)
            if found is None:
                continue
            yield Finding(
                "drift",
                "warning",
                f"{words} {_way(found.change)} by {percent(abs(found.change))} of its median over"
                f" {several(found.n, 'run')} in the order they were made",
                _SWEEP,
                place=f"{cell_name(cell)}, cache {mode}",
                cell=cell,
                metrics=frozenset({name}),
            )


def run_trend(runs: Sequence[tuple[Run, RunSummary]], metric: str) -> Trend | None:
    """The trend of a figure over the order of at least ``MIN_RUNS`` runs, if it is large and too orderly for chance."""
    points = [
        (float(run.order), value)
        for run, summary in runs
        if (value := summary.figures[metric].value) is not None
    ]
    if len(points) < MIN_RUNS:
        return None
    found = trend([order for order, _ in points], [value for _, value in points])
    if isinstance(found, Absent) or abs(found.change) < LEAST_CHANGE:
        return None
    return found if found.p < FALSE_ALARMS / len(_SWEEP_FIGURES) else None


def _told(one: Drift) -> str:
    return (
        f"{NAMES[one.figure]} {_way(one.change)} from {duration(one.first)} to {duration(one.last)} over the run"
        f" (by {percent(abs(one.change))} of its median)"
    )


def _way(change: float) -> str:
    return "rose" if change > 0.0 else "fell"
