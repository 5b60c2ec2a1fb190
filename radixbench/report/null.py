"""What a null test says: how much like runs differ on this machine, and what seeds there are can show beside that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from radixbench.compare.change import Change, Comparison, Power
from radixbench.compare.family import is_blind, outcome
from radixbench.report import text
from radixbench.report.cells import at_cell
from radixbench.report.phrases import clause
from radixbench.report.words import metric_prose
from radixbench.stats.power import ALPHA

_ARMS = {"off": "the arm without reuse", "on": "the arm with reuse"}


def null_sentence(comparison: Comparison, gated: Sequence[Change]) -> str | None:
    """The sentence of a null test whose gated rows have verdicts; ``None`` for what isn't one or is undecided."""
    found = outcome(gated)
    if not comparison.null_test or found in {"undecided", "incomparable"}:
        return None
    arm = _ARMS.get(comparison.a.mode, "one arm")
    if found == "within-noise":
        blind = ", too noisy to tell any but a large one" if any(map(is_blind, gated)) else ""
        return f"Null test: {arm} against itself, no difference seen{blind}; {_noise(gated)}."
    changed = [row for row in gated if row.verdict in {"better", "worse"} and row.factor is not None]
    told = text.several([f"{clause(row)} {at_cell(row.cell)}" for row in changed])
    return (
        f"Null test failed: {arm} against itself shows {told}, though both did the same work: the machine or the two"
        f" processes differ by that much, or this is one of the {text.share(ALPHA)} that fail by chance; {_noise(gated)}."
    )


def _noise(gated: Sequence[Change]) -> str:
    """The spread of like runs and the smallest effect they leave to be seen, each metric's in its noisiest cell."""
    known: dict[str, list[Power]] = {}
    for row in gated:
        if row.power is not None:
            known.setdefault(row.metric, []).append(row.power)
    if not known:
        return "how much like runs differ is unknown"
    spreads = text.several(
        [f"{text.percent(_most(powers, _spread))} in {metric_prose(name)}" for name, powers in known.items()]
    )
    pairs = [power.n_pairs for powers in known.values() for power in powers]
    seeds = text.plural(min(pairs), "seed")
    shown = [_most(powers, _detectable) for powers in known.values()]
    limits = text.several([f"≥ {text.effect(effect)}" for effect in shown])
    return f"noise of this machine: like runs differ by {spreads} (standard deviation); {seeds} can show {limits}"


def _most(powers: Sequence[Power], value: Callable[[Power], float]) -> float:
    return max(map(value, powers))


def _spread(power: Power) -> float:
    return power.spread


def _detectable(power: Power) -> float:
    return float("inf") if power.detectable is None else power.detectable
