"""What differs between two captures, and whether a verdict may still be given.

Forbidden to differ: prompts, requested output length, tokenizer, weights, precision, device, how
tokens were counted, and the cache protocol unless one arm has the cache off. Whatever else differs
(mode, versions, server arguments, driver, host) may be the very thing compared: allowed, and listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from radixbench.capture.model import Run
from radixbench.compare.arm import Arm, ArmRun
from radixbench.compare.change import Difference
from radixbench.findings.cell import cell_key, cell_name

FORBIDDEN_IDENTITY = ("tokenizer_sha256", "weights_sha256", "dtype", "device", "device_name")

SHAPE = "cells and seeds"
"""The field that says which cells and seeds either side has."""

_DIGEST_CHARS = 64
_MANY = 8
"""Arguments that only one of two servers of one engine names: from so many on it tells more, and isn't set otherwise."""

_PER_PROCESS = {"pid", "port", "host", "base_url"}


def differences(a: Arm, b: Arm) -> tuple[Difference, ...]:
    """Everything that differs, what forbids a verdict first.

    A side without any run, as an interrupted sweep may leave it, is told as that alone.
    """
    if not (a.runs and b.runs):
        return (Difference("number of measured runs", len(a.runs), len(b.runs), allowed=False),)
    found = [*_forbidding(a, b), *_allowed(a, b)]
    return tuple(sorted(found, key=lambda difference: difference.allowed))


def why_not(found: Iterable[Difference]) -> str | None:
    """Every forbidding difference in one sentence, ``None`` where there is none."""
    reasons = [f"{one.field} ({_brief(one.a)} against {_brief(one.b)})" for one in found if not one.allowed]
    return f"not the same on both sides: {'; '.join(reasons)}" if reasons else None


def _forbidding(a: Arm, b: Arm) -> Iterator[Difference]:
    if any(arm.repeated_runs for arm in (a, b)):
        yield Difference(
            "number of repeated runs of a cell and seed", a.repeated_runs, b.repeated_runs, allowed=False
        )
    yield from _prompts(a, b)
    for name in FORBIDDEN_IDENTITY:
        yield from _unlike(name, _identities(a, name), _identities(b, name), allowed=False)
    yield from _models(a, b)
    yield from _devices(a, b)
    sources = [_token_sources(arm) for arm in (a, b)]
    if all(sources):
        yield from _unlike("token counts", *sources, allowed=False)
    protocols = [{one.run.protocol.declared for one in arm.runs} for arm in (a, b)]
    if {"off"} not in protocols:
        yield from _unlike("cache protocol", *protocols, allowed=False)


def _prompts(a: Arm, b: Arm) -> Iterator[Difference]:
    cells_a, cells_b = a.by_cell(), b.by_cell()
    shared = [
        (cells_a[key][seed], cells_b[key][seed])
        for key in cells_a
        for seed in sorted(cells_a[key].keys() & cells_b.get(key, {}).keys())
    ]
    if not shared:
        yield Difference("prompts (no cell and seed in common)", _shape(a), _shape(b), allowed=False)
        return
    other = [(x, y) for x, y in shared if x.run.workload_digest != y.run.workload_digest]
    if other:
        one, two = other[0]
        where = (
            f"prompts of {len(other)} of {len(shared)} pairs, first in {cell_name(cell_key(one.run.cell))}"
        )
        yield Difference(where, one.run.workload_digest, two.run.workload_digest, allowed=False)
    lengths = [{length for pair in shared for length in _lengths(pair[side], pair)} for side in (0, 1)]
    yield from _unlike("requested output length", *lengths, allowed=False)


def _lengths(one: ArmRun, pair: tuple[ArmRun, ArmRun]) -> set[int]:
    """Requested lengths of those prompts that both runs of the pair sent."""
    common = set.intersection(*({request.prompt for request in each.run.requests} for each in pair))
    return {request.requested_tokens for request in one.run.requests if request.prompt in common}


def _models(a: Arm, b: Arm) -> Iterator[Difference]:
    """Equal weights make equal models, whatever their names; without hashes the name has to do."""
    names = [{one.run.server.model for one in arm.runs} for arm in (a, b)]
    hashed = all(_identities(arm, "weights_sha256") for arm in (a, b))
    yield from _unlike("model", *names, allowed=hashed)


def _devices(a: Arm, b: Arm) -> Iterator[Difference]:
    """On a GPU the card's name decides, on a CPU the processor's, where the server names neither."""
    if _identities(a, "device_name") and _identities(b, "device_name"):
        return
    on_cpu = all(str(name).startswith("cpu") for arm in (a, b) for name in _identities(arm, "device"))
    if on_cpu:
        processors = [{arm.capture.environment.cpu} - {None} for arm in (a, b)]
        yield from _unlike("processor", *processors, allowed=False)
        return
    cards = [
        {info.name for one in arm.runs for info in one.run.telemetry.devices}
        or set(arm.capture.environment.gpus)
        for arm in (a, b)
    ]
    yield from _unlike("GPU", *cards, allowed=False)


def _allowed(a: Arm, b: Arm) -> Iterator[Difference]:
    yield from _unlike("mode", set(a.modes), set(b.modes))
    if a.off_modes and b.off_modes:
        yield from _unlike("off mode", set(a.off_modes), set(b.off_modes))
    yield from _per_run("engine", a, b, lambda run: run.server.engine)
    yield from _per_run("server version", a, b, lambda run: run.server.version)
    yield from _arguments(a, b)
    yield from _unlike(SHAPE, {_shape(a)}, {_shape(b)})
    yield from _flat(
        "scenario", a.capture.scenario, b.capture.scenario, skip={"name", "why", "expect", "modes", "seeds"}
    )
    yield from _flat("environment", a.capture.environment, b.capture.environment, skip={"argv"})


def _arguments(a: Arm, b: Arm) -> Iterator[Difference]:
    """Arguments by name; what only one server of an engine tells, as vLLM does in its developer's mode, is one entry."""
    told = [{key for one in arm.runs for key in one.run.server.args} - _PER_PROCESS for arm in (a, b)]
    alike = len({one.run.server.engine for arm in (a, b) for one in arm.runs}) == 1
    untold = told[0] ^ told[1]
    one_tells_more = alike and len(untold) >= _MANY
    for key in sorted((told[0] & told[1]) if one_tells_more else (told[0] | told[1])):
        yield from _per_run(f"server.{key}", a, b, _argument(key))
    if one_tells_more:
        counts = [len(side & untold) for side in told]
        yield Difference("server settings that only one side tells", counts[0], counts[1], allowed=True)


def _per_run(name: str, a: Arm, b: Arm, value: Callable[[Run], Any]) -> Iterator[Difference]:
    yield from _unlike(
        name, {_plain(value(one.run)) for one in a.runs}, {_plain(value(one.run)) for one in b.runs}
    )


def _argument(key: str) -> Callable[[Run], Any]:
    return lambda run: run.server.args.get(key, "unset")


def _identities(arm: Arm, name: str) -> set[Any]:
    values = (one.run.server.identity.get(name) for one in arm.runs)
    return {_plain(value) for value in values if value is not None}


def _token_sources(arm: Arm) -> set[str]:
    """Whether output tokens are the server's or were counted by the client; the former are one kind."""
    sources = {request.output_source for one in arm.runs for request in one.run.requests}
    return {
        "counted in chunks" if source == "chunks" else "told by the server" for source in sources if source
    }


def _unlike(name: str, a: set[Any], b: set[Any], *, allowed: bool = True) -> Iterator[Difference]:
    """A difference where both sides are known and unlike; one unknown side is listed, but forbids nothing."""
    if a != b:
        yield Difference(name, _shown(a), _shown(b), allowed=allowed or not a or not b)


def _flat(prefix: str, a: Any, b: Any, skip: set[str]) -> Iterator[Difference]:
    for field in fields(a):
        if field.name in skip:
            continue
        x, y, name = getattr(a, field.name), getattr(b, field.name), f"{prefix}.{field.name}"
        if is_dataclass(x) and is_dataclass(y):
            yield from _flat(name, x, y, set())
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            for key in sorted(x.keys() | y.keys()):
                yield from _unlike(f"{name}.{key}", {_plain(x.get(key))}, {_plain(y.get(key))})
        else:
            yield from _unlike(name, {_plain(x)}, {_plain(y)})


def _shape(arm: Arm) -> str:
    cells = arm.by_cell()
    seeds = sorted({seed for runs in cells.values() for seed in runs})
    return f"{len(arm.runs)} runs: {len(cells)} cells, seeds {seeds}"


def _brief(value: Any) -> str:
    """A value in a sentence; of a hash its beginning, of ``None`` a word."""
    if isinstance(value, str) and len(value) == _DIGEST_CHARS:
        return value[:12]
    return "unknown" if value is None else str(value)


def _plain(value: Any) -> Any:
    """A value as something hashable that JSON can hold."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _shown(values: set[Any]) -> Any:
    """One value as itself, several as text, none as ``None``."""
    if len(values) <= 1:
        return next(iter(values), None)
    return ", ".join(sorted(str(value) for value in values))
