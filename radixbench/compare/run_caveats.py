"""What the pairs of runs say: how many, in which order, under which settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from radixbench.capture.model import Run
from radixbench.compare.change import Change, Difference
from radixbench.compare.listed import SHAPE
from radixbench.compare.pairing import CellPairs, Pair
from radixbench.compare.verdict import MIN_PAIRS
from radixbench.findings.cell import cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.metrics.registry import METRICS

# What switches the cache is the point of on against off, and says nothing beyond the mode.
_MODE_FIELDS = {
    "mode",
    "client calibration",
    "answers in the history",
    "server.disable_radix_cache",
    "server.cache",
    "server.mode",
}


def order_findings(cells: Iterable[CellPairs]) -> Iterator[Finding]:
    """Pairs that weren't measured back to back, or always in the same order."""
    ordered = list(cells)
    pairs = [pair for cell in ordered for pair in cell.all_pairs]
    places = _places(one.run for cell in ordered for one in (*cell.a_runs, *cell.b_runs))
    apart = [pair for pair in pairs if not (back_to_back(pair) and _next_to_each_other(pair, places))]
    if apart:
        text = f"{len(apart)} of {len(pairs)} pairs weren't run back to back in one sweep"
    elif len(pairs) >= MIN_PAIRS and len({pair.a.run.order < pair.b.run.order for pair in pairs}) == 1:
        text = f"{ordered[0].sides[pairs[0].a.run.order > pairs[0].b.run.order]} always ran first"
    else:
        return
    yield Finding(
        code="not-interleaved",
        severity="warning",
        text=f"{text}: drift of the machine looks like an effect",
        remedy="measure both arms in one sweep; for two builds, run each several times in turns and believe only what repeats",
    )


def _places(runs: Iterable[Run]) -> dict[int, int]:
    """The place of every run, by its start, among all of both sides."""
    starts = sorted({_start(run) for run in runs})
    return {start: place for place, start in enumerate(starts)}


def _next_to_each_other(pair: Pair, places: dict[int, int]) -> bool:
    """No other run came between them: two sweeps count alike, and neighbours by number may be far apart."""
    a, b = (places[_start(one.run)] for one in pair.runs)
    return abs(a - b) <= 1


def _start(run: Run) -> int:
    return run.clock_anchor.wall_at(run.start_ns)


def back_to_back(pair: Pair) -> bool:
    """Neighbours in one sweep's order, and in time: the earlier one ended before the later began."""
    a, b = sorted((pair.a.run, pair.b.run), key=lambda run: run.order)
    if b.order - a.order != 1:
        return False
    return a.clock_anchor.wall_at(a.end_ns) <= b.clock_anchor.wall_at(b.start_ns)


def number_findings(cells: Iterable[CellPairs]) -> Iterator[Finding]:
    """Cells with too few pairs of runs for a verdict."""
    for cell in cells:
        n_pairs = len(cell.pairs)
        if n_pairs < MIN_PAIRS:
            yield Finding(
                code="too-few-runs",
                severity="warning",
                text=f"{cell_name(cell.key)}: {n_pairs} {'pair' if n_pairs == 1 else 'pairs'} of runs",
                remedy=f"a verdict needs at least {MIN_PAIRS} seeds on both sides (--seeds {MIN_PAIRS})",
                cell=cell.key,
            )


def unpaired_findings(cells: Iterable[CellPairs]) -> Iterator[Finding]:
    """Runs of a cell that both sides measured, but not with this seed: they are left out."""
    for cell in cells:
        paired = {pair.seed for pair in cell.all_pairs}
        alone = {
            side: sorted({one.run.seed for one in runs} - paired)
            for side, runs in zip(cell.sides, (cell.a_runs, cell.b_runs), strict=True)
        }
        told = [_seeds_of(side, seeds) for side, seeds in alone.items() if seeds]
        if told and cell.a_runs and cell.b_runs:
            verbs = ("has", "doesn't") if sum(map(len, alone.values())) == 1 else ("have", "don't")
            yield Finding(
                code="seeds-unpaired",
                severity="info",
                text=f"{cell_name(cell.key)}: {' and '.join(told)} {verbs[0]} no partner and {verbs[1]} count",
                remedy="measure both sides with the same seeds",
                cell=cell.key,
            )


def _seeds_of(side: str, seeds: list[int]) -> str:
    """``A's seed 2``, ``B's seeds 3, 4``."""
    return f"{side}'s seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"


def size_findings(changes: Iterable[Change]) -> Iterator[Finding]:
    """Rows whose percentile stands on too few values."""
    for change in changes:
        if change.better is None:
            continue
        few = METRICS[change.metric].few
        per_run = [side.n_values / side.n_runs for side in (change.a, change.b) if side.n_runs]
        if per_run and min(per_run) < few:
            yield Finding(
                code="few-values",
                severity="info",
                text=f"{METRICS[change.metric].title} of fewer than {few} values per run hangs on the largest of them",
                remedy="ask more requests per run (--prompts-per-group)",
                cell=cell_key(change.cell),
                metrics=frozenset({change.metric}),
            )


def settings_findings(differences: Iterable[Difference], *, complete: bool = True) -> Iterator[Finding]:
    """What else differs between the arms, one of which may be the cause of an effect.

    Of arms that aren't ``complete`` the lack of runs is told by itself: that other cells and seeds are there follows.
    """
    skipped = _MODE_FIELDS if complete else _MODE_FIELDS | {SHAPE}
    fields = [one.field for one in differences if one.allowed and one.field not in skipped]
    if fields:
        yield Finding(
            code="settings-differ",
            severity="warning",
            text=f"the arms differ in {', '.join(fields)}",
            remedy="an effect may come from any of these: change one thing at a time",
        )
