"""Going on with a sweep that was cut short: whole pairs stand, everything else is measured again.

What is to be measured again stays in the captures until that has happened: a second cut loses nothing.

The captures must be of the same scenario, else their runs don't belong together; another version of
radixbench or of what computes is allowed and told, since `compare` lists it anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import RunPlan
from radixbench.capture.model import Capture, CellFailure, CellValue, Environment, Run
from radixbench.capture.store import load
from radixbench.errors import UsageError
from radixbench.records import Mode
from radixbench.scenario.model import Scenario

_SAME = ("model", "weights_sha256", "tokenizer_sha256", "dtype", "device")

PairKey = tuple[tuple[tuple[str, CellValue], ...], int]


def pair_of(part: Run | RunPlan | CellFailure) -> PairKey:
    """What both arms of one seed and cell have in common."""
    return tuple(sorted(part.cell.items())), part.seed


def saved(paths: Mapping[Mode, Path]) -> dict[Mode, Capture]:
    """The captures a cut sweep left; an arm that was never saved is left out. Raises ``CaptureError``."""
    return {mode: load(path) for mode, path in paths.items() if path.exists()}


def refuse_other_scenario(
    captures: Mapping[Mode, Capture], paths: Mapping[Mode, Path], *resolved: Scenario
) -> None:
    """Raise ``UsageError`` for a capture of none of these scenarios, naming where it parts from the first.

    There are several as long as nobody knows which device will compute.
    """
    for mode, capture in captures.items():
        if capture.scenario not in resolved:
            difference = next(_differences(capture.scenario, resolved[0], ""))
            raise UsageError(
                f"{paths[mode]}: was measured with another scenario: {difference}",
                remedy="resume with the same flags and scenario file, or name another folder",
            )


def whole_pairs(captures: Mapping[Mode, Capture], modes: Sequence[Mode]) -> frozenset[PairKey]:
    """The pairs that needn't be measured again: completed in every arm."""
    done = [_completed(captures[mode].runs) if mode in captures else set() for mode in modes]
    return frozenset(set.intersection(*done))


def without(capture: Capture, pair: PairKey) -> Capture:
    """The capture without what an earlier part of the sweep left of one pair, a failure included."""
    return replace(
        capture,
        runs=tuple(run for run in capture.runs if pair_of(run) != pair),
        failures=tuple(failure for failure in capture.failures if pair_of(failure) != pair),
    )


def _completed(runs: Sequence[Run]) -> set[PairKey]:
    return {pair_of(run) for run in runs if run.status == "completed"}


def refuse_other_server(captures: Mapping[Mode, Capture], facts: ServerFacts) -> None:
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
