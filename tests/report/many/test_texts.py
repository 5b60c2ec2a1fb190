"""Several captures on a terminal and as Markdown: a column for each, a line where columns don't fit, all text inert."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from radixbench.report.console.many import plain_lines, print_many, table_lines
from radixbench.report.many.markdown import render
from radixbench.report.markdown import LIMIT
from tests.report.many.views import eight, hostile, view
from tests.report.test_hostile import controls


def printed(shown, width: int = 140) -> str:
    """What a terminal of this width gets."""
    out = io.StringIO()
    print_many(shown, Console(file=out, width=width, force_terminal=True, color_system=None))
    return out.getvalue()


def test_plain_lines_say_everything_in_words():
    """One line a thing: verdicts, a row with every capture, caveats with whom they concern."""
    lines = list(plain_lines(view()))
    assert lines[0] == view().sentence
    (row,) = [line for line in lines if line.startswith("64 shared tokens | TTFT, median | ")]
    assert "A (fast) 500 ms" in row
    assert "▲ better" in row
    assert "B (other) 500 ms" in row
    assert "✕ incomparable" in row
    assert re.search(r"\| D \(main, reference\) 1\.00 s[^|]*$", row)
    assert any(line.startswith("warning not-interleaved (all candidates): ") for line in lines) or view().also


def test_a_wide_terminal_has_a_column_for_each_capture():
    """Heads on one line, the figures below them, factor and verdict below these."""
    lines = [line.plain for line in table_lines(view(), 140)]
    assert re.search(r"A \(fast\) +B \(other\) +C \(slow\) +D \(main, reference\)", lines[0])
    place = next(i for i, line in enumerate(lines) if "TTFT, median" in line)
    assert lines[place].count("ms") == 2
    assert "▲ better" in lines[place + 1]
    assert "▼ worse" in lines[place + 1]


@pytest.mark.parametrize("width", [40, 72, 100])
def test_a_narrow_terminal_has_a_line_for_each_capture(width):
    """Nothing is cut: every name and figure is whole."""
    text = printed(eight(), width)
    for arm in eight().arms:
        assert arm.name in text
    lines = [line.plain for line in table_lines(eight(), width)]
    assert sum(line.startswith("    B (build-1)") and "ms" in line for line in lines) == 2


def test_markdown_is_one_table_with_a_column_for_each_capture():
    """GitHub's own: header, alignment, rows of equal length; verdicts first."""
    text = render(view())
    assert text.startswith("**Against D (main, reference): A (fast): better; ")
    assert "- **▲ A (fast): Better.** " in text
    assert "- **✕ B (other): Incomparable.** " in text
    table = [line for line in text.splitlines() if line.startswith("| 64 shared tokens")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {7}
    assert "| cell | metric | A (fast) | B (other) | C (slow) | D (main, reference) |" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert len(render(eight())) < LIMIT


def test_hostile_names_are_text_everywhere():
    """No control character on the terminal; no tag, mention, link or table bar in Markdown."""
    for text in (printed(hostile()), "\n".join(plain_lines(hostile()))):
        assert controls(text.replace("\u200b", "")) <= {"\ufffd"}
    text = render(hostile())
    assert controls(text.replace("\u200b", "")) == set()
    assert "<script" not in text
    assert "@octocat" not in text
    rows = [line for line in text.splitlines() if line.startswith("| 64 shared")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {6}
