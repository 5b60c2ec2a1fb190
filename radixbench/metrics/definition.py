"""What a metric is: a name, a unit, a direction, a formula in words, and how to compute it from a run.

Figures travel as ``RunFigure``: either a value or the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from radixbench.metrics.answers import Answers
from radixbench.metrics.figure import CacheAccount, RunFigure
from radixbench.stats.sample import Absent

Unit = Literal["s", "tokens/s", "requests/s", "ratio", "tokens"]
Better = Literal["lower", "higher"]
Aggregate = Literal["geometric", "arithmetic"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number and how many values went into it."""

    value: float | Absent
    n_values: int


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the registry.

    ``compute`` takes it from the run's answers or, where it is none, ``explain`` from the account of cached tokens.
    ``better`` is ``None`` for a figure that explains and is no quality: it is compared as a difference,
    without a verdict. ``aggregate`` is the mean over runs. ``few`` is the number of values below which
    the figure of a run hangs on a handful of them. ``warning`` says how the figure is misread.
    ``like_modes_only``: a quality between arms with the same cache mode; between a cache that is on
    and one that is off it has a factor but no verdict. ``on_request``: there is one only where it was asked for.
    """

    name: str
    title: str
    unit: Unit
    better: Better | None
    aggregate: Aggregate
    formula: str
    compute: Callable[[Answers], Measured] | None = None
    explain: Callable[[CacheAccount], Measured] | None = None
    few: int = 1
    warning: str | None = None
    like_modes_only: bool = False
    on_request: bool = False

    def figure(self, answers: Answers, account: CacheAccount) -> RunFigure:
        """The metric's value in one run, or why there is none."""
        if self.compute is not None:
            measured = self.compute(answers)
        else:
            assert self.explain is not None, f"{self.name} is computed from nothing"
            measured = self.explain(account)
        if isinstance(measured.value, Absent):
            return RunFigure(
                metric=self.name, value=None, n_values=measured.n_values, reason=measured.value.reason
            )
        return RunFigure(metric=self.name, value=measured.value, n_values=measured.n_values)
