"""The terminal's table, and the lines that stand for it elsewhere."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from radixbench.report.console import print_command, print_view
from radixbench.report.markdown import render
from radixbench.report.model import Value
from tests.report.views import NAMES, view


def shown(name: str, *, terminal: bool, width: int = 120) -> str:
    """What a console of that width receives."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None)
    print_view(view(name), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_off_a_terminal_every_row_is_one_line(name):
    """Nothing is wrapped, boxed or coloured, so that tools can read it."""
    lines = shown(name, terminal=False, width=40).splitlines()
    assert lines[0] == f"{view(name).headline.label}: {view(name).headline.sentence}"
    rows = [line for line in lines if " | TTFT, median | " in line]
    assert len(rows) == len(view(name).cells)
    assert not any(character in "".join(lines) for character in "│╭\x1b")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_terminal_gets_a_table_within_its_width(name, width):
    """Narrow terminals wrap within the table and never beyond it."""
    lines = shown(name, terminal=True, width=width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert any("TTFT" in line for line in lines)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_no_figure_is_cut_or_broken(name, width):
    """Values, intervals, verdicts with what would have been seen, and cells' titles each stand on one line."""
    out = shown(name, terminal=True, width=width)
    lines = out.splitlines()
    assert "…" not in out
    for cell in view(name).cells:
        assert cell.title in lines
        for row in cell.first:
            for value in (row.a, row.b, row.factor):
                assert any(value.value in line for line in lines)
                assert not value.span or any(f"({value.span})" in line for line in lines)
            told = f"{row.verdict} ({row.seen})" if row.seen else row.verdict
            assert any(told in line for line in lines)


def test_the_layout_follows_the_width():
    """One line a row where it fits, then intervals below their figures, then a figure a line."""
    wide, folded = (wide_gaps(shown("laptop", terminal=True, width=width)) for width in (160, 100))
    row = "  TTFT, median  9.72 ms (9.64–9.79)  987 ms (977–997)  102× (100–103)  ▲ better"
    assert row in wide
    place = folded.index("  TTFT, median  9.72 ms  987 ms  102×  ▲ better")
    assert folded[place + 1] == "  (9.64–9.79)  (977–997)  (100–103)"
    assert "    A (cache on)   9.72 ms (9.64–9.79)" in shown("laptop", terminal=True, width=80).splitlines()


def wide_gaps(out: str) -> list[str]:
    """Lines with every gap between columns drawn together to two blanks."""
    return [re.sub(r"  +", "  ", line) for line in out.splitlines()]


def test_what_is_missing_is_told_below_its_row():
    """Why a side has no figure, and why a row is undecided."""
    shown_view = view("laptop")
    cell = shown_view.cells[0]
    row = replace(
        cell.rows[0],
        a=Value("–", note="no request completed"),
        verdict="? undecided",
        verdict_note="2 of at least 3 pairs",
        seen="",
    )
    changed = replace(shown_view, cells=(replace(cell, rows=(row,)),))
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    print_view(changed, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert "    A (cache on): no request completed" in lines
    assert "    2 of at least 3 pairs" in lines


def test_what_the_headline_says_is_not_said_below_each_row():
    """One reason for every row is told once."""
    shown_view = view("laptop")
    cell = shown_view.cells[0]
    row = replace(cell.rows[0], verdict="? undecided", verdict_note="1 of at least 3 pairs", seen="")
    headline = replace(shown_view.headline, sentence="No verdict: 1 of at least 3 pairs.")
    changed = replace(shown_view, headline=headline, cells=(replace(cell, rows=(row,)),))
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    print_view(changed, console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("1 of at least 3 pairs") == 1


def test_the_rows_are_those_of_the_markdown_table():
    """Gated figures and the hit rate, on a terminal, off it and in a pull request."""
    plain = [line for line in shown("laptop", terminal=False).splitlines() if " | " in line]
    first, _, _ = render(view("laptop")).partition("<details>")
    table = [line for line in first.splitlines() if line.startswith("| ")]
    titles = [line.split(" | ")[1] for line in plain]
    assert titles == [line.split(" | ")[1] for line in table[2:]]
    assert "E2E" not in "".join(titles)


@pytest.mark.parametrize("terminal", [True, False])
def test_everything_that_differs_is_named(terminal):
    """Allowed or not; the values are in the document and the report."""
    said = " ".join(shown("slower_candidate", terminal=terminal).split())
    names = [one.name for one in view("slower_candidate").differences]
    assert names
    assert f"The captures differ in: {', '.join(names)}." in said


def test_caveats_that_only_inform_are_named_in_one_line():
    """Their sentences are in the report; what may change a verdict is told whole."""
    shown_view = view("throttled")
    serious = next(one for one in shown_view.caveats if one.code == "throttled")
    remark = replace(serious, code="clock-unknown", severity="info", text="a remark", short="code")
    other = replace(remark, code="few-values", text="of a row that isn't here", short="")
    changed = replace(shown_view, caveats=(serious, remark, other))
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=200, color_system=None)
        print_view(changed, console)
        assert isinstance(console.file, io.StringIO)
        lines = console.file.getvalue().splitlines()
        assert lines[-1] == "also: clock-unknown: see the report"
        assert not any("a remark" in line or "few-values" in line for line in lines)
    assert "also: clock-unknown: see the report" in render(changed)
    assert "a remark" not in render(changed)


def test_verdicts_bounds_and_caveats_are_on_the_terminal():
    """The terminal says what the page says."""
    out = shown("throttled", terminal=True)
    assert "▲ better upper bound" in out
    assert "‼ throttled" in out


def test_names_are_neither_markup_nor_commands_to_the_terminal():
    """Brackets stay, control characters don't."""
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    print_command("radixbench compare [bold]a\x1b[31m.json b.json " + "x" * 100, console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "radixbench compare [bold]a�[31m.json b.json " + "x" * 100 + "\n"


def test_importing_the_console_loads_no_drawing_library():
    """Start-up counts: a table and a progress bar need neither altair nor numpy."""
    code = (
        "import sys, radixbench.report.console; "
        "print([m for m in ('altair', 'vl_convert', 'jinja2', 'numpy', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_building_a_view_loads_no_drawing_library():
    """A terminal table of a comparison costs no more than its figures."""
    code = (
        "import sys, radixbench.report.view; "
        "print([m for m in ('altair', 'vl_convert', 'jinja2', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
