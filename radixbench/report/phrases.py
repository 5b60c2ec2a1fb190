"""One row in words: how large a change is, how sure, and what would have been seen."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.compare.change import Bound, Change, Factor
from radixbench.report import text
from radixbench.report.words import metric_prose

_SIZE_WORDS = {True: ("shorter", "longer"), False: ("lower", "higher")}
_BLUNT = 0.1
_OTHER_BOUND: dict[Bound, Bound] = {"upper": "lower", "lower": "upper"}


def clause(row: Change) -> str:
    """``time to first token 24.1× shorter (95 % interval 22.8–25.5×)``."""
    return f"{metric_prose(row.metric)} {size_of(row)}"


def size_of(change: Change) -> str:
    """``24.1× shorter (95 % interval 22.8–25.5×)``, with the bound in words; "" without a factor."""
    if change.factor is None:
        return ""
    improved = change.factor.value >= 1
    shown = change.factor if improved else _inverse(change.factor)
    words = _SIZE_WORDS[change.better == "lower" and change.unit == "s"]
    direction = words[0] if (change.better == "lower") == improved else words[1]
    bound = change.bound if improved or change.bound is None else _OTHER_BOUND[change.bound]
    qualifier = {"upper": "at most ", "lower": "at least ", None: ""}[bound]
    note = {"upper": "upper bound, ", "lower": "lower bound, ", None: ""}[bound]
    decimals = text.span_decimals(shown.value, shown.low, shown.high)
    size = f"{text.number(shown.value, decimals)}× {direction}"
    return f"{qualifier}{size} ({note}{_interval(shown)})"


def _interval(factor: Factor) -> str:
    if factor.low is None or factor.high is None:
        return "no interval"
    decimals = text.span_decimals(factor.value, factor.low, factor.high)
    low, high = (text.number(edge, decimals) for edge in (factor.low, factor.high))
    return f"{text.share(factor.level)} interval {low}–{high}×"


def _inverse(factor: Factor) -> Factor:
    low = None if factor.high is None else 1 / factor.high
    high = None if not factor.low else 1 / factor.low
    return Factor(value=1 / factor.value, low=low, high=high, level=factor.level)


def only_alone(rows: Sequence[Change]) -> str:
    """``time to first token is worse only by itself, not when all gated figures are judged together``."""
    by_word: dict[str, list[str]] = {}
    for row in rows:
        word = "better" if row.factor is not None and row.factor.value > 1 else "worse"
        by_word.setdefault(word, []).append(metric_prose(row.metric))
    told = [
        f"{text.several(names)} {'is' if len(names) == 1 else 'are'} {word} only by {'itself' if len(names) == 1 else 'themselves'}"
        for word, names in by_word.items()
    ]
    return f"{text.several(told)}, not when all gated figures are judged together"


def noise(rows: Sequence[Change]) -> str:
    """That nothing was seen, and what would have been: the weakest row speaks for all.

    Likely is a chance of 80 %. From ``_BLUNT`` on, "only" says that smaller effects may well be there.
    """
    seen = [row.detectable for row in rows if row.detectable is not None]
    if len(seen) < len(rows):
        return "within noise"
    only = "only " if max(seen) >= _BLUNT else ""
    return f"within noise; {only}an effect of {text.effect(max(seen))} or more would likely have been seen"


def limit(rows: Sequence[Change]) -> str:
    """``only a change of 78.9 % or more would likely have been seen``, for rows that are blind."""
    weakest = max(row.detectable for row in rows if row.detectable is not None)
    return f"only a change of {text.effect(weakest)} or more would likely have been seen"
