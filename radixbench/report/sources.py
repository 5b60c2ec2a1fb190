"""Everybody who counted a run's cached tokens, side by side: a table, what each covers, and who contradicts whom.

The witnesses tell of the same tokens and are never added up. What a witness says covers what its scope
says, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.metrics.figure import Source
from radixbench.metrics.reconcile import COUNTERS, EXPECTATION
from radixbench.metrics.summary import RunSummary
from radixbench.report import text
from radixbench.report.alike import drawn_together
from radixbench.report.cells import arm_cell, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.hits import between, expects, ordered
from radixbench.report.model import Grid, Section, Statement

_SHOWN = 12
_TIER = f"{COUNTERS}, "
_TITLE = "Who counted what"
_TOO_MANY = ("above the theoretical maximum", "more cached tokens than possible")
_AGREE = (
    "All who counted agree, as far as what each covers, whole pages and repeated prefills explain: "
    "the figures lie side by side and are not added up."
)


def sources_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` where nobody but the client counted."""
    if not any(len(_witnesses(run)) > 1 for side in sides for run in side.summaries):
        return None
    disputes = disagreements(sides)
    says = [Statement(one, "caution", "contradiction") for one in disputes[:_SHOWN]]
    if len(disputes) > _SHOWN:
        says.append(Statement(f"{len(disputes) - _SHOWN} more are marked in the table.", "caution"))
    return Section(
        "sources",
        _TITLE,
        tuple(says) or (Statement(_AGREE, "better", "agree"),),
        (
            ("Cached of prompt tokens, as each one says", _table(sides)),
            ("What each one covers", _scopes(sides)),
        ),
    )


def disagreements(sides: Sequence[Evidence]) -> list[str]:
    """Every contradiction, with the run it is of."""
    return [
        f"{_name(side, run)}: {told}"
        for side in sides
        for run in ordered(side)
        if run.reconciliation is not None
        for told in run.reconciliation.disagreements
    ]


def only_above_maximum(sides: Sequence[Evidence]) -> bool:
    """Whether all that anybody contradicts are the answers themselves, which tell of more than is possible."""
    disputes = disagreements(sides)
    return bool(disputes) and all(any(words in one for words in _TOO_MANY) for one in disputes)


def _name(side: Evidence, run: RunSummary) -> str:
    return f"{arm_cell(side.arm.name, run.cell)}, seed {run.seed}"


def _witnesses(run: RunSummary) -> tuple[Source, ...]:
    """All but the expectation, which nobody counted."""
    found = () if run.reconciliation is None else run.reconciliation.sources
    return tuple(source for source in found if source.name != EXPECTATION)


def _table(sides: Sequence[Evidence]) -> Grid:
    runs = [(side, run) for side in sides for run in ordered(side)]
    names = _names(run for _, run in runs)
    rows = []
    for side, run in runs:
        by_name = {source.name: source for source in _sources(run)}
        disputes = 0 if run.reconciliation is None else len(run.reconciliation.disagreements)
        rows.append(
            (
                cell_title(run.cell),
                side.arm.name,
                str(run.seed),
                *(_said(run, by_name.get(name)) for name in names),
                text.plural(disputes, "contradiction") if disputes else "agree",
            )
        )
    return Grid(("cell", "arm", "seed", *names, "together"), tuple(rows))


def _sources(run: RunSummary) -> tuple[Source, ...]:
    return () if run.reconciliation is None else run.reconciliation.sources


def _names(runs: Iterable[RunSummary]) -> list[str]:
    """All witnesses in the order met, the expectation last; a tier only beside another one."""
    names = dict.fromkeys(source.name for run in runs for source in _sources(run))
    tiers = [name for name in names if name.startswith(_TIER)]
    shown = [name for name in names if len(tiers) > 1 or name not in tiers]
    return sorted(shown, key=lambda name: name == EXPECTATION)


def _said(run: RunSummary, source: Source | None) -> str:
    if source is None or (source.cached_tokens is None and source.prompt_tokens is None):
        return text.MISSING
    cached = "unknown" if source.cached_tokens is None else text.count(source.cached_tokens)
    if source.name == EXPECTATION:
        cached = between(source.cached_low or 0, source.cached_tokens or 0) if expects(run) else "0"
    return cached if source.prompt_tokens is None else f"{cached} of {text.count(source.prompt_tokens)}"


def _scopes(sides: Sequence[Evidence]) -> Grid:
    scopes: dict[str, list[str]] = {}
    for side in sides:
        for run in ordered(side):
            for source in _sources(run):
                scopes.setdefault(source.name, []).append(source.scope)
    names = _names(run for side in sides for run in ordered(side))
    rows = tuple((name, "; or ".join(drawn_together(scopes[name]))) for name in names)
    return Grid(("who", "what it covers"), rows)
