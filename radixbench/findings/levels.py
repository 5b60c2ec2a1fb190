"""How the hit rate goes with concurrency, over the runs of one capture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from radixbench.capture.model import Capture, CellValue, Run
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.findings.words import percent
from radixbench.metrics.figure import RunSummary

AXIS = "max_concurrency"
FELL = 0.10
_EQUAL = 0.01


@dataclass(frozen=True, slots=True)
class Level:
    """All seeds of one concurrency: hit rates measured and expected at least, and the highest usage told."""

    concurrency: int
    hit_rate: float
    expected: float
    peak_usage: float | None


def peak_usage(run: Run) -> float | None:
    """The highest share of the KV pool in use, by the log or the engine's own steps."""
    if run.log is not None and run.log.peak_token_usage is not None:
        return run.log.peak_token_usage
    return max((step.used_slots / step.pool_slots for step in run.steps if step.pool_slots), default=None)


def levels(capture: Capture, summaries: Sequence[RunSummary]) -> dict[CellKey, tuple[Level, ...]]:
    """By cell without its concurrency: the levels in rising order, where there are several."""
    groups: dict[CellKey, dict[int, list[tuple[Run, RunSummary]]]] = {}
    for run, summary in zip(capture.runs, summaries, strict=True):
        value: CellValue | None = run.cell.get(AXIS)
        account = summary.cache
        if not isinstance(value, int) or account.cached_tokens is None or not account.prompt_tokens:
            continue
        rest = cell_key({axis: at for axis, at in run.cell.items() if axis != AXIS})
        groups.setdefault(rest, {}).setdefault(value, []).append((run, summary))
    return {
        rest: tuple(_level(value, by_level[value]) for value in sorted(by_level))
        for rest, by_level in groups.items()
        if len(by_level) > 1
    }


def _level(concurrency: int, runs: Sequence[tuple[Run, RunSummary]]) -> Level:
    prompt = sum(summary.cache.prompt_tokens or 0 for _, summary in runs)
    return Level(
        concurrency,
        hit_rate=sum(summary.cache.cached_tokens or 0 for _, summary in runs) / prompt,
        expected=sum(summary.cache.expected_low for _, summary in runs) / prompt,
        peak_usage=max((used for run, _ in runs if (used := peak_usage(run)) is not None), default=None),
    )


def level_findings(capture: Capture, summaries: Sequence[RunSummary]) -> Iterator[Finding]:
    """A hit rate that falls as more requests are at work at once."""
    for rest, found in levels(capture, summaries).items():
        best = max(found, key=lambda level: level.hit_rate)
        worst = min(
            (level for level in found if level.concurrency > best.concurrency), key=_rate, default=None
        )
        if worst is None or best.hit_rate - worst.hit_rate <= FELL:
            continue
        told = ", ".join(f"{percent(level.hit_rate)} at {level.concurrency}" for level in found)
        usages = [level.peak_usage for level in found if level.peak_usage is not None]
        usage = f"peak usage of the pool {percent(max(usages))}" if usages else "usage of the pool unknown"
        explained = worst.hit_rate >= worst.expected - _EQUAL
        yield Finding(
            "fell-with-concurrency",
            "info" if explained else "warning",
            f"the hit rate fell with concurrency: {told} ({usage}; an unlimited cache gives at least"
            f" {percent(worst.expected)} at {worst.concurrency}{': requests that arrive together explain it' if explained else ''})",
            "with a full pool raise --max-total-tokens; with room left, requests that arrive together can't reuse each"
            " other's prefix: prime it",
            place=cell_name(rest) if rest else "",
            metrics=frozenset({"hit_rate", "cached_tokens", "hit_efficiency"}),
        )


def _rate(level: Level) -> float:
    return level.hit_rate
