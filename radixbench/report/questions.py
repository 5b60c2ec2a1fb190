"""What a sceptic asks first, each question with a short answer, its tone in a word, and where the evidence is.

Nothing is judged here: every answer repeats what a finding, a verification or the statistics say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from radixbench.capture.model import Run
from radixbench.compare.change import Comparison
from radixbench.report import text
from radixbench.report.card import card
from radixbench.report.client import client_verdict
from radixbench.report.evidence import Evidence
from radixbench.report.mode import sides_tone, verification
from radixbench.report.model import Question, Tone
from radixbench.report.outputs import (
    PairOutputs,
    any_sampled,
    outputs_verdict,
    paired_outputs,
    prompts_verdict,
)
from radixbench.report.power import detectable_everywhere, gated_power
from radixbench.report.same import machine_state, order_state
from radixbench.report.words import HEADLINE_METRICS, known
from radixbench.stats.power import POWER

_MANY_PAIRS = 5
_FEW_PAIRS = 3
_WORDS: dict[Tone, str] = {"better": "yes", "worse": "NO", "caution": "not told", "refused": "NO"}
_CLIENT_WORDS = {
    "client: fine": "no",
    "client: suspect": "maybe",
    "client: not calibrated": "untested",
}
_ANSWER_WORDS = {"same answers": "yes", "other answers": "NO", "not compared": "not compared"}


def questions(
    sides: Sequence[Evidence],
    comparison: Comparison | None = None,
    *,
    gate: Sequence[str] = HEADLINE_METRICS,
    places: Collection[str] = (),
    pairs: Sequence[PairOutputs] | None = None,
) -> tuple[Question, ...]:
    """The questions that make sense for a pair or one capture; ``places`` are the keys of what the page has to link to.

    ``pairs`` are the outputs of ``sides``, where they are held against each other already.
    """
    asked = [_state(sides), _cool(sides, comparison), _client(sides), _seeds(sides, comparison, gate)]
    if comparison is not None:
        asked += [
            *_equals(sides, paired_outputs(sides) if pairs is None else pairs),
            _machine(sides, comparison),
            _order(sides, comparison),
        ]
        asked += list(_allowed(comparison))
    return tuple(_linked(question, places) for question in asked)


def _linked(question: Question, places: Collection[str]) -> Question:
    known_place = not question.link or question.link in places
    return (
        question
        if known_place
        else Question(question.key, question.text, question.word, question.answer, question.tone)
    )


def _state(sides: Sequence[Evidence]) -> Question:
    declared = known(run.protocol.declared for side in sides for run in side.capture.runs)
    asked = text.several([f"the {state} run {state}" for state in declared]) or "the cache as declared"
    runs = [run for side in sides for run in side.capture.runs]
    tone = sides_tone(sides)
    some = any(run.protocol.verified for run in runs)
    word = "in part" if tone == "caution" and some else _WORDS[tone]
    told = [
        f"{side.arm.name}: {side.arm.cache}, {verification(side.capture.runs)}{_proofs(side)}"
        for side in sides
    ]
    return Question("state", f"Was {asked}?", word, f"{'; '.join(told)}.", tone, "protocol")


def _proofs(side: Evidence) -> str:
    probes = [run.protocol.probe_cached_tokens for run in side.capture.runs]
    seen = [cached for cached in probes if cached is not None]
    if not seen:
        return ""
    found = text.plural(max(seen), "cached token")
    return f" (a probe after the flush found {'at most ' if max(seen) else ''}{found})"


def _cool(sides: Sequence[Evidence], comparison: Comparison | None) -> Question:
    found = card(sides, comparison)
    return Question("card", "Was the card cool?", found.word, found.answer, found.tone, "figure-clocks")


def _client(sides: Sequence[Evidence]) -> Question:
    said = client_verdict(sides)
    word = _CLIENT_WORDS.get(said.word, said.word)
    answer = f"{said.text}{_client_cost(sides)}"
    return Question("client", "Is the client slow?", word, answer, said.tone, "client")


def _client_cost(sides: Sequence[Evidence]) -> str:
    """The most of a core that it used in a run, and how late it sent at worst."""
    runs = [run for side in sides for run in side.capture.runs]
    busy = [run.client.cpu_ns / (run.end_ns - run.start_ns) for run in runs if _timed(run) and run.client]
    figures = [one.figures.get("lateness_p99") for side in sides for one in side.summaries]
    late = [one.value for one in figures if one is not None and one.value is not None]
    told = []
    if busy:
        told.append(f"used at most {text.percent(max(busy))} of a core")
    if late and max(late) > 0:
        told.append(f"sent requests at most {text.duration(max(late))} late (p99)")
    return f" It {text.several(told)}." if told else ""


def _timed(run: Run) -> bool:
    return run.client is not None and run.end_ns > run.start_ns


def _seeds(sides: Sequence[Evidence], comparison: Comparison | None, gate: Sequence[str]) -> Question:
    seeds = sorted({run.seed for side in sides for run in side.capture.runs})
    counted = f"{text.plural(len(seeds), 'seed')} ({text.ranges(seeds)})" if seeds else "no run was saved"
    asked = "How many seeds, and what could they show?" if comparison else "How many seeds?"
    if comparison is None:
        tone: Tone = "neutral" if len(seeds) >= _FEW_PAIRS else "caution"
        return Question("seeds", asked, text.count(len(seeds)), f"{counted} of each cell.", tone)
    gated = [change for change in comparison.changes if change.metric in gate]
    pairs = [len(change.pairs) for change in gated] or [0]
    powers = gated_power(comparison, gate)
    answer = f"{counted}, {_pairs(pairs)}"
    answer += _shown(detectable_everywhere(powers), len(gated) - len(powers)) if powers else "."
    tone = "better" if min(pairs) >= _MANY_PAIRS else "neutral" if min(pairs) >= _FEW_PAIRS else "caution"
    word = f"{text.ranges([min(pairs), max(pairs)]).replace(', ', ' to ')} {'pair' if max(pairs) == 1 else 'pairs'}"
    return Question("seeds", asked, word, answer, tone, "power")


def _pairs(counts: Sequence[int]) -> str:
    """How many pairs of runs the gated rows have, where all have as many and where they don't."""
    least, most = min(counts), max(counts)
    if least == most:
        return f"{text.plural(least, 'usable pair')} of runs in every cell"
    fewer = sum(count < most for count in counts)
    return (
        f"{text.plural(most, 'usable pair')} of runs at most, "
        f"{'none' if most and not least else f'down to {least}'} in {fewer} of {len(counts)} gated rows"
    )


def _shown(effect: float | None, without: int) -> str:
    if effect is None:
        return f": in some gated row no effect had a chance of {text.share(POWER)} of a verdict."
    rows = "every other gated row" if without else "every gated row"
    return f": a true change of {text.effect(effect)} had a chance of at least {text.share(POWER)} of a verdict in {rows}."


def _equals(sides: Sequence[Evidence], pairs: Sequence[PairOutputs]) -> Iterator[Question]:
    if not pairs:
        nothing = "the captures have no cell and seed in common."
        yield Question("prompts", "Same prompts?", "NO", nothing, "worse", "environment")
        return
    prompts = prompts_verdict(pairs)
    word = "yes" if prompts.tone == "better" else "NO"
    yield Question("prompts", "Same prompts?", word, prompts.text, prompts.tone, "outputs")
    answers = outputs_verdict(pairs, chance=any_sampled(sides))
    word = _ANSWER_WORDS.get(answers.word, answers.word)
    yield Question("outputs", "Same outputs?", word, answers.text, answers.tone, "outputs")


def _machine(sides: Sequence[Evidence], comparison: Comparison) -> Question:
    state = machine_state(sides, comparison)
    return Question(
        "machine", "Same machine, same software?", state.word, state.answer, state.tone, "environment"
    )


def _order(sides: Sequence[Evidence], comparison: Comparison) -> Question:
    found = order_state(sides, comparison)
    return Question("order", "Were the arms interleaved?", found.word, found.answer, found.tone, "protocol")


def _allowed(comparison: Comparison) -> Iterator[Question]:
    overridden = [one.field for one in comparison.differences if one.overridden]
    if overridden:
        yield Question(
            "allowed",
            "Was a difference waved through?",
            "yes",
            f"{text.several(overridden)} would forbid a verdict, and was allowed by name (--allow).",
            "caution",
            "environment",
        )
