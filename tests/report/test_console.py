"""The terminal's table, and the lines that stand for it elsewhere."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.console import Console

from radixbench.report.console import print_command, print_view
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
@pytest.mark.parametrize("width", [60, 120])
def test_a_terminal_gets_a_table_within_its_width(name, width):
    """Narrow terminals wrap within the table and never beyond it."""
    lines = shown(name, terminal=True, width=width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert any("TTFT" in line for line in lines)


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
