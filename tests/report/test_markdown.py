"""Markdown for the body of a pull request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.markdown import escape, render
from tests.report.views import NAMES, view

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["laptop", "incomparable", "single"])
def test_markdown_is_its_golden_copy(name):
    """Sentence, table and setting are as they were looked at; caveats and formulas are other rooms' words."""
    lines = [
        line
        for line in render(view(name)).splitlines()
        if "*Remedy:*" not in line and not line.startswith("<sub>Output throughput: ")
    ]
    path = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "\n".join(lines) + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_table_has_as_many_columns_in_every_row(name):
    """Escaped pipes don't count as columns."""
    rows = [line.replace("\\|", "") for line in render(view(name)).splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1
    assert len(rows) >= 3


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
