"""The sentences under the headline: how the measurement limits it, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.compare.change import Change, Comparison
from radixbench.compare.verdict import MIN_PAIRS
from radixbench.report import text
from radixbench.report.cells import at_cell, cell_order
from radixbench.report.phrases import clause, is_blind
from radixbench.report.words import metric_prose

_FEW = 4


def details(
    comparison: Comparison, gated: Sequence[Change], told: Sequence[dict[str, int | float | str]]
) -> Iterable[str]:
    yield from _drift(comparison)
    if len({cell_order(change.cell) for change in gated}) > 1:
        yield _tally(gated)
    rest = [change for change in gated if change.cell not in told]
    for change in rest:
        if change.verdict == "worse" and change.factor is not None:
            yield f"{_at(change)}: {clause(change)}."
    yield from _open(rest)
    serious = [caveat.code for caveat in comparison.caveats if caveat.severity == "serious"]
    if serious:
        codes = text.several(list(dict.fromkeys(serious)))
        yield f"Read the serious caveats before quoting a figure: {codes}."
    yield _pairs(gated, comparison.threshold)


def _open(rest: Sequence[Change]) -> Iterable[str]:
    """Rows without a verdict: one by one while they are few, else drawn together by their reason."""
    by_reason: dict[tuple[str | None, str | None], list[Change]] = {}
    for change in rest:
        if change.verdict in {"undecided", "incomparable"}:
            by_reason.setdefault((change.verdict, change.reason), []).append(change)
    for (verdict, reason), changes in by_reason.items():
        why = reason or "no reason given"
        if len(changes) > _FEW:
            yield f"{len(changes)} more figures are {verdict}: {why}."
            continue
        for change in changes:
            yield f"{_at(change)}, {metric_prose(change.metric)} is {verdict}: {why}."


def _at(change: Change) -> str:
    where = at_cell(change.cell)
    return where[0].upper() + where[1:]


def _drift(comparison: Comparison) -> Iterable[str]:
    """Sides that weren't measured in turns: what that may do to every figure, before any other detail."""
    for caveat in comparison.caveats:
        if caveat.code == "not-interleaved":
            fact = caveat.text.partition(":")[0]
            yield (
                "Both sides were measured one after the other, so that a drift of the machine may be all of the "
                f"difference ({fact})."
            )
            return


def _pairs(gated: Sequence[Change], threshold: float) -> str:
    """What the intervals rest on, or how many pairs are missing to a verdict."""
    counts = [len(change.pairs) for change in gated]
    fewest, most = min(counts), max(counts)
    missing = MIN_PAIRS - most
    if most == 0:
        return f"No seed has a figure on both sides; a verdict needs {MIN_PAIRS} paired seeds."
    if most == 1:
        return f"1 paired seed gives no interval; a verdict needs {MIN_PAIRS}, {missing} are missing."
    seeds = text.plural(most, "paired seed")
    if missing > 0:
        return f"Intervals come from {seeds}; a verdict needs {MIN_PAIRS}, {missing} is missing."
    up_to = "up to " if fewest < most else ""
    alone = "; a figure with fewer than 2 has none" if fewest < 2 else ""
    return (
        f"Intervals come from {up_to}{seeds}{alone}; a verdict needs an interval that excludes 1 "
        f"and an effect of {text.share(threshold)} or more."
    )


def _tally(gated: Sequence[Change]) -> str:
    names = (
        ("better", "better"),
        ("worse", "worse"),
        ("within-noise", "within noise"),
        ("undecided", "undecided"),
        ("incomparable", "incomparable"),
    )
    counts = [(sum(c.verdict == key for c in gated), word) for key, word in names]
    blind = sum(is_blind(change) for change in gated)
    noisy = (
        f"; {blind} of those within noise {'was' if blind == 1 else 'were'} too noisy to tell"
        if blind
        else ""
    )
    return (
        f"Of {len(gated)} gated figures: {text.several([f'{n} {word}' for n, word in counts if n])}{noisy}."
    )
