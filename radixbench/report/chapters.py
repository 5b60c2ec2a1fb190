"""The order of a page: chapters, and in each the figures, sections and fixed parts that belong together.

A reader meets the answer first, then what makes it up, then what it rests on. Every figure and section has its one
place here, whether or not a report has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from radixbench.report.model import FigureKey, ReportView, SectionKey
from radixbench.report.page import DrawnFigure, drawn

PartKey = Literal["caveats", "protocol", "environment", "glossary"]
"""What every report has in a form of its own."""

Kind = Literal["figure", "section", "part"]
Place: TypeAlias = tuple[Kind, FigureKey | SectionKey | PartKey, str]
"""What stands there, and its name in the navigation."""


@dataclass(frozen=True, slots=True)
class Block:
    """One thing on the page: ``drawn`` is the figure, ``index`` the place of a section in the view."""

    kind: Kind
    key: str
    name: str
    drawn: DrawnFigure | None = None
    index: int = 0

    @property
    def anchor(self) -> str:
        """Where a link to it leads."""
        return f"figure-{self.key}" if self.kind == "figure" else self.key


@dataclass(frozen=True, slots=True)
class Chapter:
    """Blocks under one heading. The first chapter begins with the table of factors itself."""

    key: str
    title: str
    name: str
    blocks: tuple[Block, ...]


_CHAPTERS: tuple[tuple[str, str, str, tuple[Place, ...]], ...] = (
    (
        "answer",
        "",
        "",
        (
            ("figure", "forest", "Forest plot"),
            ("section", "failures", "Missing runs"),
            ("section", "power", "Power"),
            ("part", "caveats", "Caveats"),
        ),
    ),
    (
        "cache",
        "What the cache did",
        "Cache",
        (
            ("part", "protocol", "Protocol"),
            ("figure", "shortfall", "Hit efficiency"),
            ("figure", "cached", "Cached tokens"),
            ("figure", "turns", "Hits by turn"),
            ("figure", "levels", "Hit rate by load"),
            ("section", "sources", "Who counted what"),
        ),
    ),
    (
        "waits",
        "What it did to time and throughput",
        "Time",
        (
            ("figure", "distribution", "TTFT distributions"),
            ("figure", "law", "TTFT by uncached tokens"),
            ("section", "law", "The law in figures"),
            ("figure", "ttft", "TTFT by cell"),
            ("figure", "throughput", "Throughput"),
            ("section", "spread", "Spread and drift"),
            ("section", "slowest", "Slowest requests"),
        ),
    ),
    (
        "course",
        "The course of the runs",
        "Course",
        (
            ("figure", "clocks", "Clocks"),
            ("figure", "gantt", "Requests"),
            ("figure", "scheduler", "Scheduler"),
            ("figure", "timeline", "Timeline"),
        ),
    ),
    (
        "trust",
        "What the figures rest on",
        "Evidence",
        (
            ("section", "outputs", "Prompts and answers"),
            ("section", "client", "Client"),
            ("section", "corpus", "Traffic"),
            ("part", "environment", "Environment"),
            ("part", "glossary", "Glossary"),
        ),
    ),
)


def chapters(view: ReportView) -> tuple[Chapter, ...]:
    """The chapters of this report, with what it has of each, every figure drawn."""
    first = "Factors" if view.kind == "comparison" else "Figures"
    return tuple(
        Chapter(key, title or first, name or first, tuple(_blocks(view, places)))
        for key, title, name, places in _CHAPTERS
    )


def _blocks(view: ReportView, places: tuple[Place, ...]) -> Iterator[Block]:
    for kind, key, name in places:
        if kind == "figure":
            for figure in view.figures:
                if figure.key == key:
                    yield Block(kind, key, name, drawn=drawn(figure))
        elif kind == "section":
            for index, section in enumerate(view.sections):
                if section.key == key:
                    yield Block(kind, key, name, index=index)
        elif key != "caveats" or view.caveats or view.kind == "comparison":
            yield Block(kind, key, name)
