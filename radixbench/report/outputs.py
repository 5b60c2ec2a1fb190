"""Whether both arms were asked the same and answered the same: prompts by their hash, greedy answers token by token.

What a cache returns is what would have been computed, so that greedy answers must not depend on it. Sampled answers
part by chance; they aren't compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radixbench.capture.model import CellValue, Run
from radixbench.compare.equality import Equality, equality, sampled
from radixbench.report import text
from radixbench.report.cells import cell_key, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement, Tone

_TITLE = "Whether both arms were asked the same and answered the same"
_HEADER = (
    "cell",
    "pairs of runs",
    "same prompts",
    "answers compared",
    "equal",
    "earliest parting",
    "tokens not told",
)
_PROMPTS = "What was asked, and the answers of both arms token by token"


class PairOutputs(NamedTuple):
    """One seed of one cell on both arms: whether the prompts are the same, and the answers."""

    cell: dict[str, CellValue]
    seed: int
    prompts_alike: bool
    answers: Equality


def paired_outputs(sides: Sequence[Evidence]) -> tuple[PairOutputs, ...]:
    """Every cell and seed that both arms have; nothing for a single capture."""
    return tuple(_pair(a, b) for a, b in runs_in_common(sides))


def runs_in_common(sides: Sequence[Evidence]) -> tuple[tuple[Run, Run], ...]:
    """The runs of both arms at each cell and seed that both have."""
    if len(sides) < 2:
        return ()
    others = {(cell_key(run.cell), run.seed): run for run in sides[1].capture.runs}
    return tuple(
        (run, others[place])
        for run in sides[0].capture.runs
        if (place := (cell_key(run.cell), run.seed)) in others
    )


def _pair(a: Run, b: Run) -> PairOutputs:
    alike = a.workload_digest == b.workload_digest
    return PairOutputs(a.cell, a.seed, alike, equality(a, b) if alike else Equality(0, 0, None, 0))


def any_sampled(sides: Sequence[Evidence]) -> bool:
    """Whether answers of either arm were drawn by chance."""
    return any(sampled(side.capture.scenario) for side in sides)


def outputs_section(sides: Sequence[Evidence], pairs: Sequence[PairOutputs] | None = None) -> Section | None:
    """``None`` where there are no two arms with a cell and a seed in common; ``pairs`` are those of ``sides``."""
    pairs = paired_outputs(sides) if pairs is None else pairs
    if not pairs:
        return None
    says = (prompts_verdict(pairs), outputs_verdict(pairs, chance=any_sampled(sides)))
    rows = tuple(_row(cell, pairs) for cell in sides[0].cells() if any(one.cell == cell for one in pairs))
    return Section("outputs", _TITLE, says, ((_PROMPTS, Grid(_HEADER, rows)),))


def prompts_verdict(pairs: Sequence[PairOutputs]) -> Statement:
    """How many pairs of runs were sent the same token ids, by the hash of all of them in order."""
    alike = sum(one.prompts_alike for one in pairs)
    told = (
        f"{text.count(alike)} of {text.plural(len(pairs), 'pair')} of runs were sent the same token ids, "
        "by the hash of all their prompts."
    )
    return Statement(told, *_tone(alike == len(pairs), "same prompts", "other prompts"))


def outputs_verdict(pairs: Sequence[PairOutputs], *, chance: bool) -> Statement:
    """How many answers of both arms are equal, and where the earliest parts."""
    if chance:
        return Statement(
            "answers were sampled at a temperature above 0: they part by chance, and weren't compared.",
            "neutral",
            "not compared",
        )
    compared = sum(one.answers.compared for one in pairs)
    if not compared:
        return Statement(_why_none(pairs), "caution", "not compared")
    unlike = sum(one.answers.unlike for one in pairs)
    untold = sum(one.answers.untold for one in pairs)
    rest = f" Of {text.plural(untold, 'more answer')} a server didn't tell the tokens." if untold else ""
    if not unlike:
        told = f"all {text.count(compared)} greedy answers are the same in both arms, token by token.{rest}"
        return Statement(told, "better", "same answers")
    first = min(one.answers.first for one in pairs if one.answers.first is not None)
    told = (
        f"{text.count(unlike)} of {text.count(compared)} greedy answers differ between the arms "
        f"({text.percent(unlike / compared)}), the earliest at token {text.count(first)}.{rest}"
    )
    return Statement(told, "worse", "other answers")


def _why_none(pairs: Sequence[PairOutputs]) -> str:
    if not any(one.prompts_alike for one in pairs):
        return "the arms were asked different things: there are no answers to compare."
    if any(one.answers.untold for one in pairs):
        return "the server doesn't tell the token ids of its answers: whether they are the same is unknown."
    return "no prompt was answered in both arms."


def _tone(fine: bool, yes: str, no: str) -> tuple[Tone, str]:
    return ("better", yes) if fine else ("worse", no)


def _row(cell: dict[str, CellValue], pairs: Sequence[PairOutputs]) -> tuple[str, ...]:
    own = [one for one in pairs if one.cell == cell]
    compared = sum(one.answers.compared for one in own)
    first = min((one.answers.first for one in own if one.answers.first is not None), default=None)
    return (
        cell_title(cell),
        text.count(len(own)),
        f"{sum(one.prompts_alike for one in own)} of {len(own)}",
        text.count(compared),
        text.count(compared - sum(one.answers.unlike for one in own)) if compared else text.MISSING,
        text.MISSING if first is None else f"token {text.count(first)}",
        text.count(sum(one.answers.untold for one in own)),
    )
