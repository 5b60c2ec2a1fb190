"""What a reader is shown of several captures, as frozen values; templates and terminals only place them."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.report.model import (
    FIRST,
    Arm,
    CaveatView,
    Chip,
    Figure,
    GlossaryRow,
    Headline,
    ProtocolRow,
    Section,
    Tone,
    Value,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate's own comparison with the reference: its headline, and what must be the same on both sides."""

    arm: Arm
    headline: Headline
    alike: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One capture's figure in a row, and for candidates what it means: ``factor``, verdict, and why there is none.

    The reference has neither factor nor verdict. ``caveats`` are the codes that not every row of its comparison carries.
    """

    value: Value
    factor: Value | None = None
    verdict: str = ""
    tone: Tone = "neutral"
    note: str = ""
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one cell, a column for each capture."""

    metric: str
    title: str
    gated: bool
    columns: tuple[Column, ...]
    note: str = ""
    formula: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows of one cell, under its title."""

    title: str
    rows: tuple[Row, ...]

    @property
    def first(self) -> tuple[Row, ...]:
        """The gated rows, and the hit rate, which explains them."""
        return tuple(row for row in self.rows if row.gated or row.metric in FIRST)


@dataclass(frozen=True, slots=True)
class Concern:
    """A caveat and whose comparisons it speaks of, in words."""

    caveat: CaveatView
    who: str


@dataclass(frozen=True, slots=True)
class Across:
    """One fact of all captures, in their order; ``status`` says what follows from it."""

    name: str
    values: tuple[str, ...]
    status: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class ManyView:
    """Everything a report of several captures says. ``arms`` are in the order given, the reference last."""

    title: str
    sentence: str
    arms: tuple[Arm, ...]
    candidates: tuple[Candidate, ...]
    chips: tuple[Chip, ...]
    cells: tuple[Cell, ...]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    caveats: tuple[Concern, ...]
    differences: tuple[Across, ...]
    environment: tuple[Across, ...]
    protocol: tuple[ProtocolRow, ...]
    run_order: str
    glossary: tuple[GlossaryRow, ...]
    footer: tuple[str, ...]

    @property
    def reference(self) -> Arm:
        """What every candidate is compared with."""
        return self.arms[-1]

    @property
    def serious(self) -> tuple[Concern, ...]:
        """The caveats that belong beside the headlines."""
        return tuple(one for one in self.caveats if one.caveat.severity == "serious")

    @property
    def told(self) -> tuple[Concern, ...]:
        """The caveats that short forms tell whole."""
        return tuple(one for one in self.caveats if one.caveat.short == "whole")

    @property
    def also(self) -> str:
        """Those that short forms only name; "" for none."""
        codes = [one.caveat.code for one in self.caveats if one.caveat.short == "code"]
        return f"also: {', '.join(codes)}: see the report" if codes else ""
