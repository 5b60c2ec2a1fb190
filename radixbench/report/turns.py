"""Hits turn by turn: how much of a conversation so far was found again, and whether its answers were.

A cache that forgets answers reaches the prompt-only level; one that keeps them reaches the whole expectation.
Where a prompt doesn't continue what the server generated, history stops matching at a position that is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from radixbench.metrics.figure import TurnAccount
from radixbench.metrics.summary import RunSummary
from radixbench.report import readings, text
from radixbench.report.axes import MAX_PANELS, in_table_only
from radixbench.report.cells import CellKey, arm_at, arm_cell, cell_key, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.hits import between, expects, ordered
from radixbench.report.model import Figure, Grid, Panel, Row

_TITLE = "Hits per turn"
_LEVELS: tuple[Literal["prompt and answer", "prompt only", "neither"], ...] = (
    "prompt and answer",
    "prompt only",
    "neither",
)

_PARTED = "the text sent back isn't the tokens that were generated"
_WHY_PARTED = {
    "recorded": "as declared, since the answers were recorded before; --history live measures the server's own",
    "retokenized": "as declared, since answers go back as text; --history live sends the tokens themselves",
}


def turns_figure(sides: Sequence[Evidence]) -> Figure | None:
    """Hit rate by turn, a panel for each arm and cell with more than one turn, of the first ones; ``None`` without turns."""
    found = [
        [
            panel
            for place, cell in enumerate(side.cells())
            if (panel := _panel(side, place, [s for s in ordered(side) if s.cell == cell])) is not None
        ]
        for side in sides
    ]
    if not any(found):
        return None
    most = MAX_PANELS // sum(map(bool, found))
    panels = [panel for own in found for panel in own[:most]]
    dashed = (readings.TURNS_PROMPT_ONLY,) if any(panel.marks for panel in panels) else ()
    reading = (*readings.TURNS[:1], *dashed, *readings.TURNS[1:])
    notes = (
        *(note for side in sides for note in _met_notes(side)),
        *_parted_notes(sides),
        *in_table_only(sum(map(len, found)) - len(panels)),
    )
    return Figure("turns", _TITLE, reading, tuple(panels), _grid(sides), notes=notes)


def _has_turns(summary: RunSummary) -> bool:
    return len(summary.cache.turns) > 1


def _panel(side: Evidence, place: int, runs: Sequence[RunSummary]) -> Panel | None:
    shown = [one for one in runs if _has_turns(one) and (expects(one) or one.cache.cached_tokens)]
    rows = [row for one in shown for turn in one.cache.turns if (row := _row(side, one, turn)) is not None]
    if not rows:
        return None
    title = arm_cell(side.arm.name, runs[0].cell)
    first, last = rows[0], rows[-1]
    return Panel(
        key=f"turns-{side.arm.slot}-{place}",
        kind="turns",
        title=title,
        summary=f"Hit rate by turn of {title}: {first['measured']} % in turn {first['turn']}, "
        f"{last['measured']} % in turn {last['turn']}.",
        x_title="turn of the conversation",
        y_title="hit rate (% of prompt tokens)",
        series=(side.arm.name,),
        slots=(side.arm.slot,),
        rows=tuple(rows),
        marks=tuple(_prompt_only(shown)),
    )


def _row(side: Evidence, summary: RunSummary, one: TurnAccount) -> Row | None:
    prompt, cached = one.prompt_tokens, one.cached_tokens
    if not prompt or cached is None:
        return None
    told = between(one.expected_low, one.expected_high)
    return {
        "turn": one.turn + 1,
        "seed": f"seed {summary.seed}",
        "measured": round(100 * cached / prompt, 2),
        "low": round(100 * one.expected_low / prompt, 2),
        "high": round(100 * one.expected_high / prompt, 2),
        "series": side.arm.name,
        "tip": f"{side.arm.name}, turn {one.turn + 1}, seed {summary.seed}: {text.percent(cached / prompt)} "
        f"({text.count(cached)} of {text.count(prompt)} tokens, expected {told})",
    }


def _prompt_only(runs: Sequence[RunSummary]) -> Iterator[Row]:
    """The level without answers, the mean of the seeds, for turns in which it is a level of its own."""
    turns: dict[int, list[float]] = {}
    for summary in runs if expects(runs[0]) else ():
        for one in summary.cache.turns:
            if one.prompt_tokens and one.cached_prompt_only < one.expected_low:
                turns.setdefault(one.turn, []).append(100 * one.cached_prompt_only / one.prompt_tokens)
    for turn, levels in turns.items():
        yield {"turn": turn + 1, "prompt_only": round(sum(levels) / len(levels), 2)}


def _grid(sides: Sequence[Evidence]) -> Grid:
    rows = [
        (
            cell_title(summary.cell),
            side.arm.name,
            str(summary.seed),
            str(one.turn + 1),
            *_counts(one),
            *(_levels(one) if expects(summary) else (text.count(0), text.count(0), text.MISSING)),
            *_history(one),
        )
        for side in sides
        for summary in ordered(side)
        if _has_turns(summary)
        for one in summary.cache.turns
    ]
    header = (
        "cell",
        "arm",
        "seed",
        "turn",
        "prompt tokens",
        "cached, measured",
        "hit rate",
        "expected, prompt and answer",
        "expected, prompt only",
        "level met",
        "prompts that continue the turn before",
        "first differing position",
    )
    return Grid(header, tuple(rows))


def _counts(one: TurnAccount) -> tuple[str, str, str]:
    prompt, cached = one.prompt_tokens, one.cached_tokens
    rate = text.percent(cached / prompt) if cached is not None and prompt else text.MISSING
    return text.count(prompt), text.count(cached), rate


def _levels(one: TurnAccount) -> tuple[str, str, str]:
    unmet = "unknown" if one.cached_tokens is None else "both are the same"
    return between(one.expected_low, one.expected_high), text.count(one.cached_prompt_only), one.met or unmet


def _history(one: TurnAccount) -> tuple[str, str]:
    if not one.compared:
        return text.MISSING, text.MISSING
    first = "none" if one.first_difference is None else f"token {text.count(one.first_difference)}"
    return f"{text.count(one.matched)} of {text.count(one.compared)}", first


def _by_cell(side: Evidence) -> list[list[RunSummary]]:
    """The runs with turns, cell by cell."""
    cells: dict[CellKey, list[RunSummary]] = {}
    for summary in ordered(side):
        if _has_turns(summary):
            cells.setdefault(cell_key(summary.cell), []).append(summary)
    return list(cells.values())


def _met_notes(side: Evidence) -> Iterator[str]:
    for runs in _by_cell(side):
        if expects(runs[0]):
            where = arm_at(side.arm.name, runs[0].cell)
            yield from _met(where, [one for run in runs for one in run.cache.turns])


def _parted_notes(sides: Sequence[Evidence]) -> Iterator[str]:
    """Where histories part: what the arms have in common is said once."""
    told: dict[tuple[CellKey, str], list[str]] = {}
    for side in sides:
        for runs in _by_cell(side):
            turns = [one for run in runs for one in run.cache.turns]
            for note in _parted(side.capture.scenario.workload.history, turns):
                told.setdefault((cell_key(runs[0].cell), note), []).append(side.arm.name)
    for (cell, note), arms in told.items():
        yield f"{arm_at(text.several(arms), dict(cell))}: {note}"


def _met(where: str, turns: Sequence[TurnAccount]) -> Iterator[str]:
    """Which level the later turns reached, in how many of them."""
    met = Counter(one.met for one in turns if one.met is not None)
    if not met:
        return
    whole = sum(met.values())
    told = [f"{level} in {text.count(met[level])}" for level in _LEVELS if met[level]]
    yield (
        f"{where}: of {text.plural(whole, 'later turn')} over all seeds, the level met was {text.several(told)}"
        f"{'' if met['prompt and answer'] == whole else '; generated answers were not all found again'}."
    )


def _parted(history: str, turns: Sequence[TurnAccount]) -> Iterator[str]:
    """Where prompts stop matching what was said before, in the light of what the workload declares."""
    compared, matched = sum(one.compared for one in turns), sum(one.matched for one in turns)
    firsts = [one for one in turns if one.first_difference is not None]
    if not firsts:
        return
    earliest = min(firsts, key=lambda one: one.first_difference or 0)
    yield (
        f"history stops matching in {text.count(compared - matched)} of "
        f"{text.plural(compared, 'later prompt')}, first at token {text.count(earliest.first_difference)} "
        f"(turn {earliest.turn + 1}): {_WHY_PARTED.get(history, _PARTED)}."
    )
