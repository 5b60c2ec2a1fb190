"""What must be the same on both sides for a factor to mean anything, as one short word each: the chips of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.compare.change import Comparison, Difference
from radixbench.report import text
from radixbench.report.card import card
from radixbench.report.client import client_verdict
from radixbench.report.evidence import Evidence
from radixbench.report.mode import sides_tone
from radixbench.report.model import Chip, Tone
from radixbench.report.outputs import (
    PairOutputs,
    any_sampled,
    outputs_verdict,
    paired_outputs,
    prompts_verdict,
    runs_in_common,
)
from radixbench.report.protocol import run_order

_SHOWN = 6
_MACHINE = ("environment.", "server version", "engine", "GPU", "processor", "device")
_IDENTITY = (("Tokenizer", "tokenizer_sha256"), ("Weights", "weights_sha256"))
_PROTOCOL_WORDS: dict[Tone, str] = {"better": "verified", "worse": "NOT as declared", "caution": "not proved"}
_ORDER_WORDS: dict[Tone, str] = {"better": "interleaved", "worse": "not interleaved", "caution": "no pairs"}


class State(NamedTuple):
    """A word, a sentence behind it, and its tone."""

    word: str
    answer: str
    tone: Tone


def comparability(
    sides: Sequence[Evidence], comparison: Comparison, pairs: Sequence[PairOutputs] | None = None
) -> tuple[Chip, ...]:
    """Prompts, answers, tokenizer, weights, cache state, order, clocks, client and machine, in that order.

    ``pairs`` are the outputs of ``sides``, where they are held against each other already.
    """
    found = card(sides, comparison)
    machine = machine_state(sides, comparison)
    return (
        *_asked(sides, paired_outputs(sides) if pairs is None else pairs),
        *(_identity(label, name, sides, comparison) for label, name in _IDENTITY),
        _protocol(sides),
        _order(sides, comparison),
        Chip("Clocks", found.state, found.tone, link="figure-clocks"),
        _client(sides),
        Chip("Machine", "same" if machine.word == "yes" else "differs", machine.tone, link="environment"),
    )


def _asked(sides: Sequence[Evidence], pairs: Sequence[PairOutputs]) -> Iterator[Chip]:
    if not pairs:
        yield Chip("Prompts", "none in common", "worse", link="environment")
        return
    prompts = prompts_verdict(pairs)
    answers = outputs_verdict(pairs, chance=any_sampled(sides))
    yield Chip("Prompts", "same" if prompts.tone == "better" else "differ", prompts.tone, link="outputs")
    words = {"same answers": "same", "other answers": "differ"}
    yield Chip("Outputs", words.get(answers.word, answers.word), answers.tone, link="outputs")


def _identity(label: str, name: str, sides: Sequence[Evidence], comparison: Comparison) -> Chip:
    values = [set(side.identity(name)) for side in sides]
    if any(one.field == name and one.overridden for one in comparison.differences):
        return Chip(label, "differ, allowed by hand", "caution", link="environment")
    if not all(values):
        return Chip(label, "not told", "caution", link="environment")
    same = values[0] == values[1]
    return Chip(label, "same" if same else "differ", "better" if same else "refused", link="environment")


def _protocol(sides: Sequence[Evidence]) -> Chip:
    tone = sides_tone(sides)
    return Chip("Cache state", _PROTOCOL_WORDS.get(tone, tone), tone, link="protocol")


def _client(sides: Sequence[Evidence]) -> Chip:
    said = client_verdict(sides)
    return Chip("Client", said.word.removeprefix("client: "), said.tone, link="question-client")


def _order(sides: Sequence[Evidence], comparison: Comparison) -> Chip:
    found = order_state(sides, comparison)
    return Chip("Order", _ORDER_WORDS[found.tone], found.tone, link="protocol")


def order_state(sides: Sequence[Evidence], comparison: Comparison) -> State:
    """Whether the arms alternated; nobody can tell where no run has a partner."""
    against = next((one.text for one in comparison.caveats if one.code == "not-interleaved"), "")
    if against:
        return State("NO", f"{against}.", "worse")
    if not runs_in_common(sides):
        return State("no pairs", "no run has a partner on the other side.", "caution")
    return State("yes", run_order(sides), "better")


def machine_state(sides: Sequence[Evidence], comparison: Comparison) -> State:
    """Whether host, card, driver and software are the same; what differs by name."""
    unlike = [one for one in comparison.differences if one.field.startswith(_MACHINE)]
    if unlike:
        named = [_named(one) for one in unlike[:_SHOWN]]
        more = f" and {len(unlike) - _SHOWN} more" if len(unlike) > _SHOWN else ""
        forbidden = any(not one.allowed for one in unlike)
        return State("NO", f"unlike: {'; '.join(named)}{more}.", "worse" if forbidden else "caution")
    if any(side.capture.environment.host_id is None for side in sides):
        return State("as far as known", "nothing recorded differs, but not every host is known.", "caution")
    return State("yes", "the same host, processor, cards, driver, packages and server versions.", "better")


def _named(one: Difference) -> str:
    values = [text.MISSING if value in {None, ""} else str(value) for value in (one.a, one.b)]
    shown = [value if len(value) <= 24 else f"{value[:23]}…" for value in values]
    return f"{one.field.removeprefix('environment.')} ({shown[0]} against {shown[1]})"
