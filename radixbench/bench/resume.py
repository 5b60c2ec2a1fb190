"""Going on with a sweep that was cut short: whole pairs stand, everything else is measured again.

What is to be measured again stays in the captures until that has happened: a second cut loses nothing.

The captures must be of the same scenario, else their runs don't belong together; another version of
radixbench or of what computes is allowed and told, since `compare` lists it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import RunPlan
from radixbench.capture.model import Capture, CellFailure, CellValue, Environment, Run
from radixbench.capture.store import load
from radixbench.errors import UsageError
from radixbench.scenario.arms import ArmName
from radixbench.scenario.model import Scenario

_SAME = ("model", "weights_sha256", "tokenizer_sha256", "dtype", "device")

PairKey = tuple[tuple[tuple[str, CellValue], ...], int]


def pair_of(part: Run | RunPlan | CellFailure) -> PairKey:
    """What both arms of one seed and cell have in common."""
    return tuple(sorted(part.cell.items())), part.seed


def saved(paths: Mapping[ArmName, Path]) -> dict[ArmName, Capture]:
    """The captures a cut sweep left; an arm that was never saved is left out. Raises ``CaptureError``."""
    return {arm: load(path) for arm, path in paths.items() if path.exists()}


def refuse_other_scenario(
    captures: Mapping[ArmName, Capture],
    paths: Mapping[ArmName, Path],
    *resolved: Scenario,
    grows: bool = False,
) -> None:
    """Raise ``UsageError`` for a capture of none of these scenarios, naming where it parts from the first.

    There are several as long as nobody knows which device will compute. Where a sweep ``grows`` seed by seed any number
    of them will do.
    """
    for arm, capture in captures.items():
        before = replace(capture.scenario, seeds=resolved[0].seeds) if grows else capture.scenario
        if before not in resolved:
            difference = next(_differences(before, resolved[0], ""))
            raise UsageError(
                f"{paths[arm]}: was measured with another scenario: {difference}",
                remedy="resume with the same flags and scenario file, or name another folder",
            )


def whole_pairs(captures: Mapping[ArmName, Capture], arms: Iterable[ArmName]) -> frozenset[PairKey]:
    """The pairs that needn't be measured again: completed in every arm."""
    done = [_completed(captures[arm].runs) if arm in captures else set() for arm in arms]
    return frozenset(set.intersection(*done))


def continued(plans: Sequence[RunPlan], before: Mapping[ArmName, Capture]) -> tuple[RunPlan, ...]:
    """The plans of a sweep that grows, as ``before`` left it: seeds that were added are there as well.

    What was measured keeps its place and has its partner beside it; all else comes after.
    """
    runs = {(pair_of(run), arm): run for arm, capture in before.items() for run in capture.runs}
    models = {(_cell(plan), plan.arm): plan for plan in plans}
    planned = {pair_of(plan) for plan in plans}
    grown = dict.fromkeys(pair for pair, _ in runs if pair not in planned)
    added = [
        replace(model, seed=pair[1])
        for pair in grown
        for (cell, _), model in models.items()
        if cell == pair[0]
    ]
    placed: dict[int, RunPlan] = {}
    later: list[RunPlan] = []
    for plan in (*plans, *added):
        order = _order(plan, runs, alone=len({model.arm for model in plans}) == 1)
        if order is None:
            later.append(plan)
        else:
            placed[order] = replace(plan, order=order)
    first = 1 + max(placed, default=-1)
    return (
        *(placed[order] for order in sorted(placed)),
        *(replace(plan, order=first + place) for place, plan in enumerate(later)),
    )


def _order(plan: RunPlan, runs: Mapping[tuple[PairKey, ArmName], Run], *, alone: bool) -> int | None:
    """Where a run stands, or the one that it makes a pair with; ``None`` for a pair that isn't there."""
    pair = pair_of(plan)
    run = runs.get((pair, plan.arm))
    if run is not None or alone:
        return None if run is None else run.order
    partner = next((run.order for (other, _), run in runs.items() if other == pair), None)
    return None if partner is None else partner ^ 1


def _cell(plan: RunPlan) -> tuple[tuple[str, CellValue], ...]:
    return pair_of(plan)[0]


def without(capture: Capture, pair: PairKey) -> Capture:
    """The capture without what an earlier part of the sweep left of one pair, a failure included."""
    return replace(
        capture,
        runs=tuple(run for run in capture.runs if pair_of(run) != pair),
        failures=tuple(failure for failure in capture.failures if pair_of(failure) != pair),
    )


def _completed(runs: Sequence[Run]) -> set[PairKey]:
    return {pair_of(run) for run in runs if run.status == "completed"}


def refuse_other_server(captures: Mapping[ArmName, Capture], facts: ServerFacts) -> None:
    """Raise ``UsageError`` when the kept runs were measured on another model than the one that answers now."""
    for capture in captures.values():
        for run in capture.runs:
            before = {"model": run.server.model, **run.server.identity}
            now = {"model": facts.model, **facts.document}
            for key in _SAME:
                if before.get(key) != now.get(key):
                    raise UsageError(
                        f"the earlier runs were measured with {key} {before.get(key)!r}, the server has {now.get(key)!r}",
                        remedy="resume on the same model, or name another folder",
                    )
            break


def version_notes(before: Environment, now: Environment) -> tuple[str, ...]:
    """What changed since the first part was measured, one line each."""
    pairs = [("radixbench", before.radixbench, now.radixbench), ("Python", before.python, now.python)]
    names = sorted({*before.packages, *now.packages})
    pairs += [(name, before.packages.get(name, "none"), now.packages.get(name, "none")) for name in names]
    pairs.append(("the driver", before.driver or "none", now.driver or "none"))
    notes = [f"resumed with {name} {new}, begun with {old}" for name, old, new in pairs if old != new]
    if before.host_id != now.host_id:
        notes.append("resumed on another machine")
    return tuple(notes)


def _differences(before: Any, now: Any, path: str) -> Iterator[str]:
    """Where two scenarios part, key by key."""
    if is_dataclass(before) and is_dataclass(now):
        for item in fields(before):
            below = f"{path}.{item.name}" if path else item.name
            yield from _differences(getattr(before, item.name), getattr(now, item.name), below)
    elif before != now:
        yield f"{path} was {before!r} and is {now!r}"
