"""Colours, as values for files and as names for the page.

The page draws with names, ``var(--a)``, so that one drawing serves both themes and changes with them.
Files drawn for elsewhere take the light values. The pairs stay apart for readers with any of the common
colour-vision deficiencies (after Okabe and Ito's set), and arms also differ by shape.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """One colour for each role: arms a to h, computed and cached tokens, expectation, ink and grid.

    ``raced`` to ``unexplained`` are causes of tokens that weren't reused; a first arrival has the colour of ``computed``.
    """

    a: str
    b: str
    c: str
    d: str
    e: str
    f: str
    g: str
    h: str
    computed: str
    cached: str
    expected: str
    raced: str
    paged: str
    evicted: str
    unexplained: str
    ink: str
    muted: str
    grid: str
    paper: str


LIGHT = Palette(
    a="#0067a5",
    b="#c2500a",
    c="#00866a",
    d="#a8327a",
    e="#7d6a00",
    f="#3b8fc9",
    g="#6b7686",
    h="#1b2027",
    computed="#6b7686",
    cached="#00866a",
    expected="#b9c2cd",
    raced="#a86f00",
    paged="#8a63c4",
    evicted="#c22a5c",
    unexplained="#1b2027",
    ink="#1b2027",
    muted="#5b6573",
    grid="#e3e7ec",
    paper="#ffffff",
)
DARK = Palette(
    a="#5bb8f5",
    b="#f59a4d",
    c="#3fc9a2",
    d="#f08cc8",
    e="#e0d050",
    f="#a9c7ff",
    g="#8d99aa",
    h="#e6eaf0",
    computed="#8d99aa",
    cached="#3fc9a2",
    expected="#4a5666",
    raced="#e0b040",
    paged="#b99cf0",
    evicted="#ff7f9f",
    unexplained="#e6eaf0",
    ink="#e6eaf0",
    muted="#a3adba",
    grid="#2b323c",
    paper="#151a20",
)
NAMED = Palette(
    a="var(--a)",
    b="var(--b)",
    c="var(--c)",
    d="var(--d)",
    e="var(--e)",
    f="var(--f)",
    g="var(--g)",
    h="var(--h)",
    computed="var(--computed)",
    cached="var(--cached)",
    expected="var(--expected)",
    raced="var(--raced)",
    paged="var(--paged)",
    evicted="var(--evicted)",
    unexplained="var(--unexplained)",
    ink="var(--ink)",
    muted="var(--muted)",
    grid="var(--grid)",
    paper="var(--paper)",
)
