"""One run, summarised: every registered metric's figure, and the account of its cached tokens."""

from __future__ import annotations

from radixbench.capture.model import Run
from radixbench.metrics.answers import Answers, sort_out
from radixbench.metrics.cache import cache_account
from radixbench.metrics.figure import CacheAccount, RunFigure, RunSummary
from radixbench.metrics.reconcile import reconcile
from radixbench.metrics.registry import METRICS
from radixbench.scenario.model import GoodputSpec

__all__ = ["CacheAccount", "RunFigure", "RunSummary", "summarise", "summary_of"]


def summarise(run: Run, *, goodput: GoodputSpec | None = None) -> RunSummary:
    """Recompute everything from the run's raw records; ``goodput`` are the targets of its scenario, or others."""
    return summary_of(sort_out(run, goodput))


def summary_of(answers: Answers) -> RunSummary:
    """The summary of a run whose requests are sorted out already."""
    run, account = answers.run, cache_account(answers)
    return RunSummary(
        cell=run.cell,
        seed=run.seed,
        mode=run.mode,
        order=run.order,
        requested=run.requested,
        completed=len(answers.completed),
        figures={name: metric.figure(answers, account) for name, metric in METRICS.items()},
        cache=account,
        answered=len(answers.timed),
        excluded=answers.excluded,
        reconciliation=reconcile(answers, account),
    )
