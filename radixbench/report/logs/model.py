"""What a reader of a log is shown, as frozen values: strings ready to print, in the order they are said.

All rounding and all units are settled before these exist. A fact or column goes by the same ``key`` in every log,
so that several logs can stand side by side. A figure that is unknown isn't among the facts; why it is
unknown is told by its section.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.report.model import Figure


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure with its name, and how it came about or what it means."""

    key: str
    title: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class HitRate:
    """The figure people come for. ``equation`` are the tokens it is made of; ``details`` what qualifies it.

    ``value`` is ``37.1 %``, ``≥ 37.1 %`` for a lower bound, ``unknown`` or ``not printed``, and then there is no equation.
    ``windows`` are the rates that the server prints over windows of its own; ``lead`` says so where there is no other.
    """

    value: str
    equation: str
    details: tuple[str, ...]
    known: bool
    windows: tuple[Fact, ...] = ()
    lead: str = ""

    @property
    def sentence(self) -> str:
        """``hit rate 37.1 % = 11,324 cached / (11,324 cached + 19,200 new)``."""
        if self.lead:
            return f"hit rate: {self.lead}"
        if not self.equation:
            return f"hit rate {self.value}"
        sign = " (lower bound):" if self.value.startswith("≥") else " ="
        return f"hit rate {self.value}{sign} {self.equation}"


@dataclass(frozen=True, slots=True)
class Section:
    """Facts that belong together. ``notes`` are sentences about all of them: a basis, or why there are none."""

    key: str
    title: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. ``word`` stands before its values where there is no header.

    Where room is short, columns of the highest ``rank`` go first; those of rank 0 always stay.
    """

    key: str
    title: str
    word: str
    numeric: bool = True
    rank: int = 0


@dataclass(frozen=True, slots=True)
class LogTable:
    """Rows of strings below ``columns``; ``total`` adds them up, ``name`` is one row's word on plain lines."""

    key: str
    title: str
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogNote:
    """What a reader must know; ``code`` names it for ever."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class LogView:
    """Everything that is said about one log. ``file`` is its path as it was given; ``head`` says in a line which log it is.

    ``part`` says which part of the log all figures are of, "" for the whole of it.
    """

    file: str
    head: str
    part: str
    about: Section
    hit: HitRate
    causes: Section | None
    sections: tuple[Section, ...]
    ranks: LogTable | None
    phases: LogTable | None
    time: Section | None
    concurrency: LogTable | None
    windows: LogTable | None
    events: LogTable | None
    settings: Section | None
    notes: tuple[LogNote, ...]

    @property
    def figures(self) -> tuple[Section, ...]:
        """What all figures are in: why tokens had to be computed first, for it explains the hit rate."""
        return self.sections if self.causes is None else (self.causes, *self.sections)

    @property
    def tables(self) -> tuple[LogTable, ...]:
        """The tables there are, in the order they are shown."""
        found = (self.ranks, self.phases, self.concurrency, self.windows, self.events)
        return tuple(table for table in found if table is not None)


@dataclass(frozen=True, slots=True)
class SideRow:
    """One figure of every log, in the logs' order; a dash where a log doesn't have it."""

    title: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideBlock:
    """The rows of one section, and why a log has none."""

    title: str
    rows: tuple[SideRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several logs, figure by figure. ``names`` tell the logs apart; there is no verdict."""

    names: tuple[str, ...]
    views: tuple[LogView, ...]
    blocks: tuple[SideBlock, ...]


@dataclass(frozen=True, slots=True)
class LogPage:
    """One log's part of a page; ``anchor`` begins the ids of its places."""

    anchor: str
    view: LogView
    timeline: Figure
