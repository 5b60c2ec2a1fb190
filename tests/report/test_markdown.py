"""Markdown for the body of a pull request."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.markdown import LIMIT, escape, render
from radixbench.report.model import FactorCell
from tests.report.views import NAMES, view

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["laptop", "incomparable", "single"])
def test_markdown_is_its_golden_copy(name):
    """Sentence, table and setting are as they were looked at; caveats, formulas and what is folded away are other
    rooms' words.
    """
    lines = [
        line
        for line in render(view(name)).partition("<details>")[0].rstrip().splitlines()
        if "*Remedy:*" not in line and not line.startswith("<sub>Output throughput: ")
    ]
    path = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "\n".join(lines) + "\n" == path.read_text(encoding="utf-8")


def tables(markdown):
    """The lines of each table, escaped pipes taken out."""
    found = [[]]
    for line in markdown.splitlines():
        if line.startswith("|"):
            found[-1].append(line.replace("\\|", ""))
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


@pytest.mark.parametrize("name", NAMES)
def test_tables_have_as_many_columns_in_every_row(name):
    """Escaped pipes don't count as columns; a table stands on its own, with a line before and after it."""
    shown = render(view(name))
    for table in tables(shown):
        assert len({row.count("|") for row in table}) == 1
        assert len(table) >= 3
        assert f"\n\n{table[0][:20]}" in shown


def test_the_rest_is_folded_away():
    """The first table decides; every other figure and every difference is there, closed and countable."""
    shown = view("slower_candidate")
    first, *folded = render(shown).split("<details><summary>")
    rest = sum(len(cell.rows) - len(cell.first) for cell in shown.cells)
    assert folded[0].startswith(f"{rest} more figures, which inform and decide nothing</summary>\n\n|")
    assert folded[1].startswith(f"{len(shown.differences)} differences between the captures</summary>\n\n|")
    assert all(one.rstrip().endswith("</details>") for one in folded)
    assert "TPOT" in folded[0]
    assert "TPOT" not in first


def test_a_verdict_is_marked_by_a_sign_and_a_word():
    """Neither colour nor emoji tells it: letters and one sign that every font has."""
    assert render(view("laptop")).startswith("**▲ Better.** ")
    assert render(view("incomparable")).startswith("**✕ Incomparable.** ")
    assert render(view("single")).startswith("**One capture.** ")


def test_a_sweep_of_many_cells_fits_a_pull_request():
    """What is too long is cut from the end, and counted; verdict and caveats stay whole."""
    shown = view("throttled")
    rows = shown.cells[0].rows
    many = replace(shown, cells=tuple(FactorCell(f"{i} shared tokens", rows) for i in range(300)))
    told = render(many)
    assert len(told) <= LIMIT < 65_536
    assert "… and " in told
    assert shown.headline.label in told
    for table in tables(told):
        assert len({row.count("|") for row in table}) == 1
    assert told.count("<details>") == told.count("</details>")


def test_a_name_without_end_is_cut():
    """A server that calls its model by a novel doesn't push the verdict off the page."""
    assert len(escape("x" * 100_000)) <= 2_000


def test_every_caveat_has_its_remedy():
    """One line each for those that may change a verdict; the others are named in one line."""
    shown = view("throttled")
    lines = render(shown).splitlines()
    assert sum("*Remedy:*" in line for line in lines) == len(shown.told)
    assert lines.count(f"- {escape(shown.also)}") == 1
    assert "info:" not in render(shown)


@pytest.mark.parametrize(
    ("name", "inert"),
    [
        ("a|b", "a\\|b"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("two\nlines\r\n", "two lines"),
        ("`code` *bold* [link](x) #12", "\\`code\\` \\*bold\\* \\[link\\](x) \\#12"),
        ("@torvalds", "@\u200btorvalds"),
        ("https://evil.example", "https:\u200b//evil.example"),
        ("gpt\u202etxt.exe\u2066", "gpttxt.exe"),
        ("\x1b[31mred\x9b0m", "\\[31mred 0m"),
    ],
)
def test_names_are_made_inert(name, inert):
    """Tables, HTML, markup, mentions and links that a name contains stay text."""
    assert escape(name) == inert


@given(st.text())
def test_escaped_text_is_one_line_without_live_characters(text):
    """Whatever the name."""
    escaped = escape(text)
    assert "\n" not in escaped
    assert "\r" not in escaped
    assert "<" not in escaped
    assert escaped.replace("\\\\", "").replace("\\|", "").count("|") == 0
