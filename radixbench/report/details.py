"""The sentences under the headline: how the measurement limits it, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.compare.change import Change, Comparison, VerdictName
from radixbench.compare.eligible import in_words
from radixbench.compare.family import is_blind, is_withdrawn, outcome
from radixbench.compare.verdict import JUDGED, MIN_PAIRS
from radixbench.findings.client import CLIENT_LAG
from radixbench.report import text
from radixbench.report.cells import at_cell, cell_order
from radixbench.report.phrases import clause
from radixbench.report.power_words import power_words
from radixbench.report.words import metric_prose
from radixbench.stats.estimate import Estimate
from radixbench.stats.sequential import half_width

_FEW = 4
_MOST = 8
"""Changes in other cells that are told one by one; the table has all of them."""


def details(
    comparison: Comparison, gated: Sequence[Change], told: Sequence[dict[str, int | float | str]]
) -> Iterable[str]:
    yield from _by_hand(comparison)
    yield from _drift(comparison)
    if len({cell_order(change.cell) for change in gated}) > 1:
        yield _tally(gated)
    rest = [change for change in gated if change.cell not in told]
    yield from _changed(rest, "worse")
    if outcome(gated) == "mixed":
        yield from _changed(rest, "better")
    yield from _open(rest)
    yield from _client(comparison)
    serious = [caveat.code for caveat in comparison.caveats if caveat.severity == "serious"]
    if serious:
        codes = text.several(list(dict.fromkeys(serious)))
        yield f"Read the serious caveats before quoting a figure: {codes}."
    yield _pairs(gated, comparison)
    metrics = {change.metric for change in gated}
    beside = [row for row in comparison.beside if row.metric in metrics and row.verdict in JUDGED]
    yield from power_words(gated, len(beside))


def _changed(rest: Sequence[Change], verdict: VerdictName) -> Iterable[str]:
    """What changed in other cells, one by one while it is little."""
    changed = [change for change in rest if change.verdict == verdict and change.factor is not None]
    for change in changed[:_MOST]:
        yield f"{_at(change)}: {clause(change)}."
    if len(changed) > _MOST:
        yield f"{len(changed) - _MOST} more figures are {verdict}."


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


def _by_hand(comparison: Comparison) -> Iterable[str]:
    """What was allowed by name, before anything else is read."""
    told = [in_words(one) for one in comparison.differences if one.overridden]
    if told:
        yield (
            f"Allowed by hand (--allow), though by itself it forbids a verdict: {text.several(told)}. The factors hold"
            " only as far as this changes nothing."
        )


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


def _client(comparison: Comparison) -> Iterable[str]:
    """Serious doubts whether the client set the figures, in the words of the first run that has them."""
    found = [one for one in comparison.findings if one.code == CLIENT_LAG and one.severity == "serious"]
    if found:
        more = f" (and {text.plural(len(found) - 1, 'more such finding')})" if len(found) > 1 else ""
        yield f"The client may have set these figures, not the server: {found[0].told}{more}."


def _pairs(gated: Sequence[Change], comparison: Comparison) -> str:
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
        f"Intervals come from {up_to}{seeds}{_added(gated, comparison)}{alone}; a verdict needs an interval that excludes 1 "
        f"and an effect of {text.share(comparison.threshold)} or more."
    )


def _added(gated: Sequence[Change], comparison: Comparison) -> str:
    """That seeds were added to narrow the intervals, and whether that was reached."""
    targets = [arm.until for arm in (comparison.a, comparison.b) if arm.until is not None]
    if not targets:
        return ""
    widths = [
        half_width(Estimate(one.value, one.low, one.high, one.level, 0))
        for one in (row.factor for row in gated)
        if one is not None
    ]
    known = [width for width in widths if width is not None]
    aim = f"±{text.share(min(targets))}"
    if known and len(known) == len(gated) and max(known) <= min(targets):
        return f", added until they were within {aim} and drawn wider for it"
    widest = f": the widest is ±{text.percent(max(known))}" if known else ""
    return f", added to bring them within {aim}, which wasn't reached{widest}"


def _tally(gated: Sequence[Change]) -> str:
    names = (
        ("better", "better"),
        ("worse", "worse"),
        ("within-noise", "within noise"),
        ("undecided", "undecided"),
        ("incomparable", "incomparable"),
    )
    counts = [(sum(c.verdict == key for c in gated), word) for key, word in names]
    alone = sum(is_withdrawn(change) for change in gated)
    by_itself = (
        f"; {alone} of those within noise {'is' if alone == 1 else 'are'} better or worse only by"
        f" {'itself' if alone == 1 else 'themselves'}"
        if alone
        else ""
    )
    blind = sum(is_blind(change) for change in gated)
    noisy = (
        f"; {blind} of those within noise {'was' if blind == 1 else 'were'} too noisy to tell"
        if blind
        else ""
    )
    return f"Of {len(gated)} gated figures: {text.several([f'{n} {word}' for n, word in counts if n])}{by_itself}{noisy}."
