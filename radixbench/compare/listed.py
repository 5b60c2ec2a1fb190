"""What may differ between two captures and is told all the same: one of these may be the very thing compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from radixbench.capture.model import Run
from radixbench.compare.arm import Arm
from radixbench.compare.change import Difference
from radixbench.compare.unlike import plain, unlike, unlike_fields, unlike_per_run
from radixbench.records import DeviceInfo

SHAPE = "cells and seeds"
"""The field that says which cells and seeds either side has."""

_MANY = 8
"""Arguments that only one of two servers of one engine names: from so many on it tells more, and isn't set otherwise."""

_PER_PROCESS = {"pid", "port", "host", "base_url"}

_SIZES = (
    "random_weights",
    "parameters",
    "vocab_size",
    "context_length",
    "max_total_num_tokens",
    "kv_bytes_per_token",
)
"""What servers say of themselves beyond hashes and arguments."""

_TOLD_ELSEWHERE = {"index", "name"}
"""Of a card: its place says nothing, and another name forbids a verdict."""


def listed(a: Arm, b: Arm) -> Iterator[Difference]:
    """Everything that differs and forbids nothing."""
    yield from unlike("mode", set(a.modes), set(b.modes))
    if a.off_modes and b.off_modes:
        yield from unlike("off mode", set(a.off_modes), set(b.off_modes))
    yield from unlike_per_run("engine", a, b, lambda run: run.server.engine)
    yield from unlike_per_run("server version", a, b, lambda run: run.server.version)
    yield from _arguments(a, b)
    for name in _SIZES:
        yield from unlike_per_run(f"server states {name}", a, b, _stated(name))
    yield from _cards(a, b)
    yield from unlike_per_run("telemetry probe", a, b, lambda run: run.telemetry.probe)
    yield from unlike_per_run("warm-up requests", a, b, lambda run: run.protocol.warmup_requests)
    yield from unlike("client calibration", {_calibrated(a)}, {_calibrated(b)})
    yield from unlike(SHAPE, {shape(a)}, {shape(b)})
    yield from unlike_fields(
        "scenario", a.capture.scenario, b.capture.scenario, skip={"name", "why", "expect", "modes", "seeds"}
    )
    yield from unlike_fields("environment", a.capture.environment, b.capture.environment, skip={"argv"})


def shape(arm: Arm) -> str:
    """``9 runs: 3 cells, seeds [0, 1, 2]``."""
    cells = arm.by_cell()
    seeds = sorted({seed for runs in cells.values() for seed in runs})
    return f"{len(arm.runs)} runs: {len(cells)} cells, seeds {seeds}"


def _arguments(a: Arm, b: Arm) -> Iterator[Difference]:
    """Arguments by name; what only one server of an engine tells, as vLLM does in its developer's mode, is one entry."""
    told = [{key for one in arm.runs for key in one.run.server.args} - _PER_PROCESS for arm in (a, b)]
    alike = len({one.run.server.engine for arm in (a, b) for one in arm.runs}) == 1
    untold = told[0] ^ told[1]
    one_tells_more = alike and len(untold) >= _MANY
    for key in sorted((told[0] & told[1]) if one_tells_more else (told[0] | told[1])):
        yield from unlike_per_run(f"server.{key}", a, b, _argument(key))
    if one_tells_more:
        counts = [len(side & untold) for side in told]
        yield Difference("server settings that only one side tells", counts[0], counts[1], allowed=True)


def _argument(key: str) -> Callable[[Run], Any]:
    return lambda run: run.server.args.get(key, "unset")


def _stated(name: str) -> Callable[[Run], Any]:
    return lambda run: run.server.identity.get(name)


def _cards(a: Arm, b: Arm) -> Iterator[Difference]:
    """How many cards there were, and everything of them that stays the same during a run."""
    yield from unlike_per_run("number of GPUs", a, b, lambda run: len(run.telemetry.devices))
    for field in fields(DeviceInfo):
        if field.name not in _TOLD_ELSEWHERE:
            yield from unlike(f"GPU.{field.name}", _of_cards(a, field.name), _of_cards(b, field.name))


def _of_cards(arm: Arm, name: str) -> set[Any]:
    cards = (card for one in arm.runs for card in one.run.telemetry.devices)
    return {plain(value) for card in cards if (value := getattr(card, name)) not in (None, ())}


def _calibrated(arm: Arm) -> str:
    return "skipped" if arm.capture.calibration is None else "done"
