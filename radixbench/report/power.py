"""What this many seeds could have shown, whether or not they showed anything: the spread between pairs, the smallest
effect with a good chance of a verdict, and how many seeds a small one would take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radixbench.compare.change import Change, Comparison, Power
from radixbench.compare.gate import judged
from radixbench.compare.verdict import MIN_PAIRS
from radixbench.report import text
from radixbench.report.cells import cell_title
from radixbench.report.model import Grid, Section, Statement
from radixbench.report.words import metric_title
from radixbench.stats.power import POWER, chance

_TITLE = "What these seeds could have shown"
_CAPTION = "Every gated row, at the level at which it is judged among all of them"
_EFFECTS = (0.05, 0.10, 0.20)
_TARGET = 0.05
_TRIED = (3, 5, 10, 20, 50, 100)
"""Numbers of seeds to try before looking between them."""

_HEADER = (
    "cell",
    "metric",
    "pairs",
    "spread of the pairs",
    f"shown with {text.share(POWER)} chance",
    *(f"chance to see {text.share(effect)}" for effect in _EFFECTS),
    f"seeds to show {text.share(_TARGET)}",
)


class Row(NamedTuple):
    """A gated row with its power at the level at which it is judged among all of them."""

    change: Change
    power: Power
    alpha: float


def gated_power(comparison: Comparison, gate: Sequence[str]) -> tuple[Row, ...]:
    """The gated rows that have pairs with a spread."""
    return tuple(
        Row(one.change, one.change.power, one.own.alpha if one.alpha is None else one.alpha)
        for one in judged(comparison, gate)
        if one.change.power is not None
    )


def power_section(comparison: Comparison, gate: Sequence[str]) -> Section | None:
    """``None`` where no gated row has pairs with a spread."""
    rows = gated_power(comparison, gate)
    if not rows:
        return None
    grid = Grid(_HEADER, tuple(_row(row, comparison.threshold) for row in rows))
    says = (power_statement(rows), Statement(_what_counts(comparison.threshold)))
    return Section("power", _TITLE, says, ((_CAPTION, grid),))


def power_statement(rows: Sequence[Row]) -> Statement:
    """The effect that every gated row had a good chance to show."""
    worst = detectable_everywhere(rows)
    seeds = f"With {text.plural(min(row.power.n_pairs for row in rows), 'pair')} of runs a cell"
    if worst is None:
        return Statement(
            f"{seeds}, in some gated row no effect of any size had a chance of {text.share(POWER)} of a verdict.",
            "caution",
            "blind",
        )
    return Statement(
        f"{seeds}, a true change of {text.effect(worst)} or more had a chance of at least {text.share(POWER)} of a verdict"
        " in every gated row; smaller ones may have been missed."
    )


def detectable_everywhere(rows: Sequence[Row]) -> float | None:
    """The largest of the rows' detectable effects; ``None`` where one could have shown nothing."""
    effects = [row.power.detectable for row in rows]
    known = [effect for effect in effects if effect is not None]
    return max(known) if known and len(known) == len(effects) else None


def _what_counts(threshold: float) -> str:
    return (
        f"A verdict needs an interval that excludes 1 and a change of at least {text.share(threshold)}. The gated rows are judged together (Holm). The spread is the "
        "standard deviation of the paired log-ratios over seeds; the chances follow from it by Student's t, as if it were "
        "the true one, which few seeds can't promise."
    )


def _row(row: Row, threshold: float) -> tuple[str, ...]:
    change, power, alpha = row
    return (
        cell_title(change.cell),
        metric_title(change.metric),
        text.count(power.n_pairs),
        text.percent(power.spread),
        text.MISSING if power.detectable is None else f"≥ {text.effect(power.detectable)}",
        *(_share(power.chance.get(effect)) for effect in _EFFECTS),
        _seeds(power.spread, threshold, alpha),
    )


def _share(value: float | None) -> str:
    if value is None:
        return "none"
    if value > 0.995:
        return "> 99 %"
    return "< 1 %" if value < 0.005 else f"{100 * value:.0f} %"


def _seeds(sd: float, threshold: float, alpha: float) -> str:
    """The fewest seeds with a good chance to show the target, at this spread."""
    if threshold >= _TARGET:
        return "never: below the threshold"

    def shows(n: int) -> bool:
        return chance(_TARGET, sd=sd, n=n, threshold=threshold, alpha=alpha) >= POWER

    enough = next((n for n in _TRIED if shows(n)), None)
    if enough is None:
        return f"more than {_TRIED[-1]}"
    fewer = max((n for n in _TRIED if n < enough), default=MIN_PAIRS - 1)
    return text.count(next(n for n in range(fewer + 1, enough + 1) if shows(n)))
