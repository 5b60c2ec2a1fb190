"""From several comparisons with one reference to a ``ManyView``: the one place where their report is put together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from radixbench.compare.family import outcome
from radixbench.compare.gate import gated
from radixbench.compare.many import Many
from radixbench.report import text
from radixbench.report.card import card
from radixbench.report.caveats import caveat_views
from radixbench.report.evidence import Evidence, setting
from radixbench.report.failures import failures_section
from radixbench.report.many.across import differences_across, environment_across
from radixbench.report.many.figures import many_figures
from radixbench.report.many.model import Candidate, Concern, ManyView
from radixbench.report.many.names import labels
from radixbench.report.many.table import side_by_side
from radixbench.report.mode import cache_words
from radixbench.report.model import Arm, Chip, Section, Slot, Statement
from radixbench.report.protocol import protocol_rows, run_order
from radixbench.report.same import comparability
from radixbench.report.setting import chips
from radixbench.report.verdict import comparison_headline
from radixbench.report.view import footer, glossary
from radixbench.report.words import HEADLINE_METRICS

_PLACES = frozenset({"protocol", "environment", "clocks"})
_CLOCKS = "Was the card cool, and as fast as the reference's?"
_WORDS = {
    "better": "better",
    "worse": "worse",
    "mixed": "mixed",
    "within-noise": "no difference seen",
    "undecided": "undecided",
    "incomparable": "can't be compared",
}


def build_many_view(many: Many, *, gate: Sequence[str] = HEADLINE_METRICS) -> ManyView:
    """Everything a reader is shown of all candidates against the reference; headlines speak of the metrics in ``gate``."""
    sides = _sides(many)
    arms = tuple(side.arm for side in sides)
    failures = failures_section(sides)
    clocks = _clocks(many, sides)
    return ManyView(
        title=f"radixbench: {len(arms)} captures side by side, {setting(sides)}",
        sentence=_sentence(many, arms, gate),
        arms=arms,
        candidates=_candidates(many, sides, gate),
        chips=chips(sides),
        cells=side_by_side(many, sides, gate),
        figures=many_figures(many, sides, gate),
        sections=(clocks,) if failures is None else (failures, clocks),
        caveats=_concerns(many, sides, gate),
        differences=differences_across(many),
        environment=environment_across(sides),
        protocol=protocol_rows(sides),
        run_order=run_order(sides),
        glossary=glossary(),
        footer=footer(sides),
    )


def _sides(many: Many) -> tuple[Evidence, ...]:
    names = labels([arm.path for arm in many.arms])
    slots: tuple[Slot, ...] = get_args(Slot)
    found = []
    for arm, label, slot in zip(many.arms, names, slots, strict=False):
        reference = arm is many.arms[-1]
        told = ", ".join(word for word in (label, "reference" if reference else "") if word)
        shown = Arm(
            slot=slot,
            name=f"{arm.side} ({told or 'candidate'})",
            title=arm.capture.scenario.name,
            path=Path(arm.path).name if arm.path else "",
            source=arm.path or "",
            cache=cache_words(arm.capture.runs),
        )
        summaries, answers = (one.summary for one in arm.runs), (one.answers for one in arm.runs)
        found.append(Evidence(shown, arm.capture, tuple(summaries), tuple(answers)))
    return tuple(found)


def _sentence(many: Many, arms: Sequence[Arm], gate: Collection[str]) -> str:
    """What became of every candidate, in a word each."""
    told = []
    for arm, comparison in zip(arms, many.comparisons, strict=False):
        what = outcome(gated(comparison, gate)) if comparison.eligible else "incomparable"
        told.append(f"{arm.name}: {_WORDS[what]}")
    return f"Against {arms[-1].name}: {'; '.join(told)}."


def _candidates(many: Many, sides: Sequence[Evidence], gate: Sequence[str]) -> tuple[Candidate, ...]:
    found = []
    for side, comparison in zip(sides, many.comparisons, strict=False):
        pair = (side, sides[-1])
        found.append(
            Candidate(
                side.arm,
                comparison_headline(comparison, setting(pair), gate),
                tuple(_placed(chip) for chip in comparability(pair, comparison)),
            )
        )
    return tuple(found)


def _placed(chip: Chip) -> Chip:
    """With its link where this page has the place, without one to what only a report of two captures has."""
    link = chip.link.removeprefix("figure-")
    return replace(chip, link=link if link in _PLACES else "")


def _clocks(many: Many, sides: Sequence[Evidence]) -> Section:
    """What the clocks of each candidate and the reference mean for the factors between them."""
    says = []
    for side, comparison in zip(sides, many.comparisons, strict=False):
        found = card((side, sides[-1]), comparison)
        says.append(Statement(f"{side.arm.name}: {found.answer}", found.tone, found.state))
    return Section("clocks", _CLOCKS, tuple(says))


def _concerns(many: Many, sides: Sequence[Evidence], gate: Sequence[str]) -> tuple[Concern, ...]:
    changes = [change for comparison in many.comparisons for change in comparison.changes]
    return tuple(
        Concern(view, _who(many, view.code)) for view in caveat_views(many.caveats, changes, sides, gate)
    )


def _who(many: Many, code: str) -> str:
    concerned = many.concerned(code)
    if len(concerned) == len(many.comparisons):
        return "all candidates"
    return f"{'candidate' if len(concerned) == 1 else 'candidates'} {text.several(list(concerned))}"
