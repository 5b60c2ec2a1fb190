"""What differs between two captures, and whether a verdict may still be given.

Forbidden to differ: prompts, requested output length, tokenizer, weights, precision, device, how
tokens were counted, and the cache protocol unless one arm has the cache off. Whatever else differs
(mode, versions, server arguments, driver, host) may be the very thing compared: allowed, and listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from radixbench.compare.arm import Arm, ArmRun
from radixbench.compare.change import Difference
from radixbench.compare.listed import listed, shape
from radixbench.compare.sent import Parted, parted
from radixbench.compare.unlike import identities, unlike
from radixbench.findings.cell import at_cell

FORBIDDEN_IDENTITY = ("tokenizer_sha256", "weights_sha256", "dtype", "device", "device_name")

NO_RUNS = "number of measured runs"
REPEATED = "number of repeated runs of a cell and seed"
NOTHING_SHARED = "cells and seeds in common"
UNMENDABLE = frozenset({NO_RUNS, REPEATED, NOTHING_SHARED})
"""Differences that leave nothing to compare: nobody can allow them."""

FORBIDDING = (
    "prompts",
    "prompts as sent",
    "requested output length",
    *FORBIDDEN_IDENTITY,
    "model",
    "processor",
    "GPU",
    "token counts",
    "cache protocol",
    "primed tokens",
)
"""Fields of which a difference forbids a verdict, and that a reader may allow by name."""

LIVE_HISTORY = "answers in the history"
"""The field that says whether later turns went apart with the answers."""

_DIGEST_CHARS = 64

_Pairs = list[tuple[ArmRun, ArmRun]]


def differences(a: Arm, b: Arm) -> tuple[Difference, ...]:
    """Everything that differs, what forbids a verdict first.

    A side without any run, as an interrupted sweep may leave it, is told as that alone.
    """
    if not (a.runs and b.runs):
        return (Difference(NO_RUNS, len(a.runs), len(b.runs), allowed=False),)
    pairs = _shared(a, b)
    found = [*_forbidding(a, b, pairs), *listed(a, b)]
    return tuple(sorted(found, key=lambda difference: difference.allowed))


def why_not(found: Iterable[Difference]) -> str | None:
    """Every difference that forbids a verdict in one sentence, ``None`` where there is none."""
    reasons = [in_words(one) for one in found if one.forbids]
    return f"not the same on both sides: {'; '.join(reasons)}" if reasons else None


def in_words(one: Difference) -> str:
    """``prompts of 3 of 3 pairs (0123456789ab against ba9876543210)``."""
    return f"{one.field}{f' of {one.where}' if one.where else ''} ({_brief(one.a)} against {_brief(one.b)})"


def _forbidding(a: Arm, b: Arm, pairs: _Pairs) -> Iterator[Difference]:
    if any(arm.repeated_runs for arm in (a, b)):
        yield Difference(REPEATED, a.repeated_runs, b.repeated_runs, allowed=False)
    if pairs:
        yield from _prompts(pairs)
        yield from _sent(pairs, a.capture.scenario.workload.history)
        lengths = [{length for pair in pairs for length in _lengths(pair[side], pair)} for side in (0, 1)]
        yield from unlike("requested output length", *lengths, allowed=False)
    else:
        yield Difference(NOTHING_SHARED, shape(a), shape(b), allowed=False)
    for name in FORBIDDEN_IDENTITY:
        yield from unlike(name, identities(a, name), identities(b, name), allowed=False)
    yield from _models(a, b)
    yield from _devices(a, b)
    sources = [_token_sources(arm) for arm in (a, b)]
    if all(sources):
        yield from unlike("token counts", *sources, allowed=False)
    yield from _protocols(a, b, pairs)


def _shared(a: Arm, b: Arm) -> _Pairs:
    """Runs of one cell and seed on both sides."""
    cells_a, cells_b = a.by_cell(), b.by_cell()
    return [
        (cells_a[key][seed], cells_b[key][seed])
        for key in cells_a
        for seed in sorted(cells_a[key].keys() & cells_b.get(key, {}).keys())
    ]


def _prompts(pairs: _Pairs) -> Iterator[Difference]:
    """The script: all token ids and messages, output lengths and their order, by its hash."""
    other = [(x, y) for x, y in pairs if x.run.workload_digest != y.run.workload_digest]
    if other:
        one, two = other[0]
        where = f"{len(other)} of {len(pairs)} pairs, first {at_cell(one.run.cell)}"
        yield Difference(
            "prompts", one.run.workload_digest, two.run.workload_digest, allowed=False, where=where
        )


def _sent(pairs: _Pairs, history: str) -> Iterator[Difference]:
    """What was sent of equal scripts, by the content hashes of the tokens."""
    same = [(x, y) for x, y in pairs if x.run.workload_digest == y.run.workload_digest]
    found = [parted(x.run, y.run, history) for x, y in same]
    yield from _parted("prompts as sent", found, [one.others for one in found], allowed=False)
    yield from _parted(LIVE_HISTORY, found, [one.later for one in found], allowed=True)


def _parted(name: str, found: list[Parted], counts: list[int], *, allowed: bool) -> Iterator[Difference]:
    unlike_prompts, touched = sum(counts), sum(count > 0 for count in counts)
    if unlike_prompts:
        compared = sum(one.compared for one in found)
        yield Difference(
            name,
            f"{compared:,} prompts",
            f"{unlike_prompts:,} of them with other tokens",
            allowed=allowed,
            where=f"{touched} of {len(found)} pairs",
        )


def _lengths(one: ArmRun, pair: tuple[ArmRun, ArmRun]) -> set[int]:
    """Requested lengths of those prompts that both runs of the pair sent."""
    common = set.intersection(*({request.prompt for request in each.run.requests} for each in pair))
    return {request.requested_tokens for request in one.run.requests if request.prompt in common}


def _models(a: Arm, b: Arm) -> Iterator[Difference]:
    """Equal weights make equal models, whatever their names; without hashes the name has to do."""
    names = [{one.run.server.model for one in arm.runs} for arm in (a, b)]
    hashed = all(identities(arm, "weights_sha256") for arm in (a, b))
    yield from unlike("model", *names, allowed=hashed)


def _devices(a: Arm, b: Arm) -> Iterator[Difference]:
    """On a GPU the card's name decides, on a CPU the processor's, where the server names neither."""
    if identities(a, "device_name") and identities(b, "device_name"):
        return
    on_cpu = all(str(name).startswith("cpu") for arm in (a, b) for name in identities(arm, "device"))
    if on_cpu:
        processors = [{arm.capture.environment.cpu} - {None} for arm in (a, b)]
        yield from unlike("processor", *processors, allowed=False)
        return
    yield from unlike("GPU", cards(a), cards(b), allowed=False)


def cards(arm: Arm) -> set[str]:
    """The names of the cards one side was measured on, as far as known."""
    telling = {info.name for one in arm.runs for info in one.run.telemetry.devices}
    return telling or set(arm.capture.environment.gpus)


def _protocols(a: Arm, b: Arm, pairs: _Pairs) -> Iterator[Difference]:
    """Declared state and, for each cell and seed, how many tokens were put there; nothing to say where one arm is off."""
    declared = [{one.run.protocol.declared for one in arm.runs} for arm in (a, b)]
    if {"off"} in declared:
        return
    yield from unlike("cache protocol", *declared, allowed=False)
    other = [
        (x.run.protocol.primed_tokens, y.run.protocol.primed_tokens)
        for x, y in pairs
        if "off" not in {x.run.protocol.declared, y.run.protocol.declared}
        and x.run.protocol.primed_tokens != y.run.protocol.primed_tokens
    ]
    if other:
        where = f"{len(other)} of {len(pairs)} pairs"
        yield Difference("primed tokens", *other[0], allowed=False, where=where)


def _token_sources(arm: Arm) -> set[str]:
    """Whether output tokens are the server's or were counted by the client; the former are one kind."""
    sources = {request.output_source for one in arm.runs for request in one.run.requests}
    return {
        "counted in chunks" if source == "chunks" else "told by the server" for source in sources if source
    }


def _brief(value: object) -> str:
    """A value in a sentence; of a hash its beginning, of ``None`` a word."""
    if isinstance(value, str) and len(value) == _DIGEST_CHARS:
        return value[:12]
    return "unknown" if value is None else str(value)
