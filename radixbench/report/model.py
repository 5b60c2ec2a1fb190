"""What a reader is shown, as frozen values: strings ready to print, and rows ready to draw.

All rounding and all units are settled before these exist. A template, a terminal table and a
Markdown table only place them; none of them calculates. Chart rows hold plain numbers in the unit
that the axis title names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone = Literal["better", "worse", "neutral", "caution", "refused"]
FigureKey = Literal[
    "forest",
    "ttft",
    "distribution",
    "law",
    "throughput",
    "levels",
    "cached",
    "shortfall",
    "turns",
    "gantt",
    "scheduler",
    "clocks",
    "timeline",
]
SectionKey = Literal[
    "failures",
    "questions",
    "power",
    "law",
    "outputs",
    "spread",
    "sources",
    "client",
    "corpus",
    "slowest",
    "clocks",
]
Slot = Literal["a", "b", "c", "d", "e", "f", "g", "h"]
Short = Literal["whole", "code", ""]
PanelKind = Literal[
    "curve",
    "distribution",
    "fit",
    "forest",
    "expected",
    "shortfall",
    "turns",
    "gantt",
    "timeline",
    "reasons",
    "batches",
    "lines",
]
FIRST = ("goodput", "goodput_share", "hit_rate")
Row: TypeAlias = dict[str, str | float | int | bool | None]


@dataclass(frozen=True, slots=True)
class Headline:
    """The sentence people read first, the sentences that qualify it, and its tone in a word."""

    sentence: str
    details: tuple[str, ...]
    tone: Tone
    label: str


@dataclass(frozen=True, slots=True)
class Chip:
    """One short fact under the headline. ``note`` is the long form, ``tone`` its colour and mark.

    ``link`` is the place on the page with the evidence, "" for none.
    """

    label: str
    value: str
    tone: Tone = "neutral"
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a sceptic asks, with a short answer.

    ``word`` is the answer in a word, which says the tone without colour; ``link`` is the place on the page with the
    evidence, "" where there is none.
    """

    key: str
    text: str
    word: str
    answer: str
    tone: Tone
    link: str = ""


@dataclass(frozen=True, slots=True)
class Arm:
    """How one side is called and drawn: ``slot`` decides the colour, ``name`` is the legend's word.

    ``cache`` says whether the prefix cache was ``on``, ``off`` or ``unknown``, and how that is known.
    """

    slot: Slot
    name: str
    title: str
    path: str
    source: str
    cache: str = "unknown"


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with its interval, and what is to be said beside it: a bound, or why there is none."""

    value: str
    span: str = ""
    note: str = ""

    @property
    def whole(self) -> str:
        """``24.1× (22.8–25.5)``, with the note behind it."""
        figure = f"{self.value} ({self.span})" if self.span else self.value
        return f"{figure}, {self.note}" if self.note else figure


@dataclass(frozen=True, slots=True)
class FactorRow:
    """One metric of one cell. An empty string is "nothing to say"; a dash is a missing figure.

    ``b`` and ``factor`` are empty for a single capture. ``verdict_note`` belongs to the verdict, ``note``
    to the metric. ``seen`` is the smallest effect that a row within noise would have shown, ``≥ 3.0 %``.
    ``caveats`` are the codes that not every row carries. ``formula`` is told beside figures that tools define
    differently, "" beside the others.
    """

    metric: str
    title: str
    gated: bool
    a: Value
    b: Value
    factor: Value
    verdict: str
    verdict_note: str
    tone: Tone
    note: str
    caveats: tuple[str, ...]
    seen: str = ""
    formula: str = ""


@dataclass(frozen=True, slots=True)
class FactorCell:
    """The rows of one cell, under its title: ``4,096 shared tokens``."""

    title: str
    rows: tuple[FactorRow, ...]

    @property
    def first(self) -> tuple[FactorRow, ...]:
        """The rows of a first table: gated ones, goodput where it was asked for, and the hit rate, which explains them."""
        return tuple(row for row in self.rows if row.gated or row.metric in FIRST)


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart of a figure.

    ``rows`` are drawn by ``kind``; ``series`` names the legend's entries in their order. ``slots`` are the
    arms that the entries stand for, where they stand for arms: they decide the colours.
    ``marks`` are rows of a second layer: run windows or moments on a time axis, means on a curve. ``rules`` are
    horizontal reference lines. ``marks_word`` is what the legend calls the marks, "" for no entry. ``x_ticks`` are places on the horizontal
    axis with the words to print there. ``log_x`` and ``log_y`` ask for logarithmic axes. ``x_domain``, ``y_top`` and
    ``inset`` (pixels left of the plot) are shared by panels that are to be compared by eye; the first
    of them carries the ``legend``.
    """

    key: str
    kind: PanelKind
    title: str
    summary: str
    x_title: str
    y_title: str
    series: tuple[str, ...]
    slots: tuple[Slot, ...]
    rows: tuple[Row, ...]
    marks: tuple[Row, ...] = ()
    rules: tuple[Row, ...] = ()
    log_y: bool = False
    log_x: bool = False
    x_domain: tuple[float, float] | None = None
    y_top: float | None = None
    inset: int = 0
    legend: bool = True
    x_ticks: tuple[tuple[float, str], ...] = ()
    marks_word: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A plain table: what a figure shows, in figures, for readers without the picture."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its reading. ``absent`` says why there is none; then ``panels`` is empty.

    ``notes`` are sentences about this picture's own data, to be read before it.
    """

    key: FigureKey
    title: str
    how_to_read: tuple[str, ...]
    panels: tuple[Panel, ...]
    grid: Grid | None = None
    absent: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaveatView:
    """A caveat in words. ``mark`` and ``severity`` tell how grave it is without colour.

    ``short`` is how much of it the few lines of a terminal or a pull request tell: all, its code, or nothing
    where it speaks of figures that they don't show.
    """

    code: str
    severity: str
    mark: str
    tone: Tone
    text: str
    remedy: str
    where: str
    short: Short = "whole"


@dataclass(frozen=True, slots=True)
class PairRow:
    """One fact about both sides; ``status`` says in a word whether they differ and if that is allowed."""

    name: str
    a: str
    b: str
    status: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its tone; ``word`` says the tone for readers without colour, "" where none is needed."""

    text: str
    tone: Tone = "neutral"
    word: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Sentences with the tables behind them; a ``Grid`` comes with its caption. Sections with nothing to say aren't made."""

    key: SectionKey
    title: str
    says: tuple[Statement, ...]
    grids: tuple[tuple[str, Grid], ...] = ()


@dataclass(frozen=True, slots=True)
class ProtocolRow:
    """How the cache was brought to its declared state in the runs of one arm that went alike, and what proves it.

    ``origin`` says how an arm without reuse came about, "" for other arms. ``checks`` are the questions put to the server.
    """

    arm: str
    slot: Slot
    cell: str
    seeds: str
    declared: str
    verified: str
    tone: Tone
    steps: tuple[str, ...]
    evidence: str
    origin: str = ""
    checks: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class GlossaryRow:
    """One metric of the registry: name, unit, which way is better, formula."""

    name: str
    title: str
    unit: str
    better: str
    formula: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything a report says, in the order it says it. ``arms`` has one entry for a single capture.

    ``brief`` is what the sections come to, in the few lines that a terminal and Markdown have for them. ``alike`` are
    the chips of a comparison: what must be the same on both sides, and whether it is.
    """

    title: str
    kind: Literal["comparison", "single"]
    headline: Headline
    chips: tuple[Chip, ...]
    arms: tuple[Arm, ...]
    cells: tuple[FactorCell, ...]
    figures: tuple[Figure, ...]
    caveats: tuple[CaveatView, ...]
    differences: tuple[PairRow, ...]
    environment: tuple[PairRow, ...]
    protocol: tuple[ProtocolRow, ...]
    run_order: str
    glossary: tuple[GlossaryRow, ...]
    footer: tuple[str, ...]
    sections: tuple[Section, ...] = ()
    brief: tuple[Statement, ...] = ()
    questions: tuple[Question, ...] = ()
    alike: tuple[Chip, ...] = ()

    @property
    def told(self) -> tuple[CaveatView, ...]:
        """The caveats that short forms of a report tell whole."""
        return tuple(caveat for caveat in self.caveats if caveat.short == "whole")

    @property
    def also(self) -> str:
        """Those that short forms only name: ``also: clock-unknown, random-weights: see the report``; "" for none."""
        codes = [caveat.code for caveat in self.caveats if caveat.short == "code"]
        return f"also: {', '.join(codes)}: see the report" if codes else ""

    @property
    def serious(self) -> tuple[CaveatView, ...]:
        """The caveats that belong beside the headline."""
        return tuple(caveat for caveat in self.caveats if caveat.severity == "serious")
