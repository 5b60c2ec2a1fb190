"""The power of a comparison in a sentence: what it could have shown, whatever it did, and what more seeds would.

Said always, and for the gated rows as they are judged, together: "nothing was found" is worth as much as the smallest
effect that would have been.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.compare.change import Change, Power
from radixbench.compare.verdict import JUDGED
from radixbench.report import text
from radixbench.report.words import metric_prose


def power_words(gated: Sequence[Change], beside: int = 0) -> Iterable[str]:
    """``Power: with 3 paired seeds this comparison could have detected ≥ 4.1 % in ... (spread 1.2 %); ...``.

    Of each metric the cell speaks that could show least. Nothing is said where no row has a spread. ``beside`` is how
    many rows of other candidates are judged with these.
    """
    weakest: dict[str, Power] = {}
    for row in gated:
        if row.power is not None and _least_shown(row.power) >= _least_shown(weakest.get(row.metric)):
            weakest[row.metric] = row.power
    told = [(metric_prose(metric), power) for metric, power in weakest.items()]
    if not told:
        return
    seeds = text.plural(min(power.n_pairs for _, power in told), "paired seed")
    shown = [
        f"{_least(power.detectable)} in {name} (spread {text.percent(power.spread)})" for name, power in told
    ]
    every = sum(row.verdict in JUDGED for row in gated) + beside
    whose = " of all candidates" if beside else ""
    together = f", all {every} gated figures{whose} judged together," if every > 1 else ""
    each = " of each" if len(told) > 1 else ""
    several = f", in the noisiest cell{each}" if len({str(row.cell) for row in gated}) > 1 else ""
    if any(power.detectable is not None for _, power in told):
        yield f"Power: with {seeds}{together} this comparison could have detected {text.several(shown)}{several}{_more(told)}."
    else:
        spreads = [f"{text.percent(power.spread)} in {name}" for name, power in told]
        yield f"Power: {seeds} can detect nothing; at the spread they show ({text.several(spreads)}){_more(told, '')}."


def _least_shown(power: Power | None) -> float:
    """The effect these pairs could show, or where none, their spread: the larger, the weaker."""
    if power is None:
        return 0.0
    return power.spread if power.detectable is None else power.detectable


def _more(told: Sequence[tuple[str, Power]], opening: str = "; at this spread") -> str:
    """What the next larger number of seeds would detect: the remedy."""
    common = set.intersection(*(set(power.with_pairs) for _, power in told))
    if not common:
        return ""
    n = min(common)
    effects = [_least(power.with_pairs[n]) for _, power in told]
    return f"{opening} {n} seeds: {text.several(effects)}"


def _least(effect: float | None) -> str:
    return "nothing" if effect is None else f"≥ {text.effect(effect)}"
