"""Logs on a terminal, and the lines that stand for them elsewhere."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console

from radixbench.report.console.log_side import print_side_by_side
from radixbench.report.console.log_view import print_log
from radixbench.report.console.logs import print_logs
from tests.report.logs import summaries
from tests.report.logs.views import NAMES, side, view

WIDTHS = (50, 60, 80, 100, 120, 200)


def console(*, terminal: bool, width: int = 100) -> Console:
    """A console of that width that keeps what it receives."""
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None)


def received(screen: Console) -> str:
    """What a console was given."""
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def shown(name: str, *, terminal: bool, width: int = 100) -> str:
    """One log as a console of that width receives it."""
    screen = console(terminal=terminal, width=width)
    print_log(view(name, brief=terminal), screen)
    return received(screen)


def shown_beside(*names: str, terminal: bool, width: int = 100) -> str:
    """Several logs as a console of that width receives them."""
    screen = console(terminal=terminal, width=width)
    print_side_by_side(side(*names), screen)
    return received(screen)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_terminal_gets_lines_within_its_width(name, width):
    """Wrapped within, never beyond."""
    lines = shown(name, terminal=True, width=width).splitlines()
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_figure_is_cut_or_broken(name, width):
    """Every value of every fact, and of every column that fits, stands on one line."""
    out = shown(name, terminal=True, width=width)
    assert "…" not in out
    lines = out.splitlines()
    for section in view(name, brief=True).sections:
        for fact in section.facts:
            assert any(fact.value in line for line in lines), fact


@pytest.mark.parametrize("width", WIDTHS)
def test_a_narrow_table_keeps_the_tokens_and_says_what_it_leaves_out(width):
    """New, cached and hit rate are always there, with their sums."""
    lines = shown("sglang", terminal=True, width=width).splitlines()
    total = [line.split() for line in lines if line.startswith("  in all")][-1]
    assert total[:5] == ["in", "all", "148,425", "127,500", "46.2"]
    header = next(line for line in lines if line.split()[:4] == ["time", "new", "cached", "hit"])
    assert ("swa pool" in header) or any("not shown for want of width" in line for line in lines)


def test_notes_come_last_with_their_codes():
    """What a reader must know is what the eye meets last."""
    lines = shown("sglang", terminal=True).splitlines()
    codes = [line for line in lines if line.startswith("! ")]
    assert codes == ["! page-rounding", "! retractions", "! health-checks"]
    assert lines.index(codes[0]) > lines.index("Events, 2026-08-23")


@pytest.mark.parametrize("name", NAMES)
def test_off_a_terminal_every_statement_is_one_line(name):
    """Nothing is wrapped, boxed or coloured, so that tools can read it; every window has its line."""
    lines = shown(name, terminal=False, width=40).splitlines()
    shown_view = view(name)
    assert lines[1] == shown_view.hit.sentence
    windows = shown_view.windows
    rows = [line for line in lines if line.startswith("window | ")]
    assert len(rows) == (0 if windows is None else len(windows.rows) + bool(windows.total))
    assert [line.split(":")[0] for line in lines if line.startswith("note ")] == [
        f"note {note.code}" for note in shown_view.notes
    ]
    assert not set("│╭\x1b") & set("".join(lines))


def test_a_plain_window_names_its_figures():
    """A line can be read by itself."""
    lines = shown("sglang", terminal=False).splitlines()
    assert (
        "window | 09:07:20 | new 9,118 | cached 0 | hit rate 0 % | prefill batches 8 | decode lines 4 | "
        "output tokens/s 900 | most running 9 | most waiting 2 | token usage 54 % | swa usage 31 % | flush"
    ) in lines


@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_log_says_commands_no_terminal(terminal):
    """File names, events, settings and notes are shown without control characters and not as markup."""
    for out in (
        shown("unknown", terminal=terminal),
        shown_beside("unknown", "sglang", terminal=terminal, width=220),
    ):
        assert not [c for c in out if not c.isprintable() and c != "\n"]
        assert "dec�[31mode.log" in out
        assert "<script>" in out


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "names", [("sglang", "vllm"), ("sglang", "unknown", "llamacpp"), ("sglang", "sglang")]
)
def test_several_logs_keep_within_the_width(names, width):
    """Columns where they fit, a line for each log where they don't; every figure whole."""
    out = shown_beside(*names, terminal=True, width=width)
    lines = out.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "…" not in out
    short = [
        v
        for block in side(*names).blocks
        for row in block.rows
        for v in row.values
        if len(v) < 20 and v.isprintable()
    ]
    assert all(any(value in line for line in lines) for value in short)


def test_several_logs_as_lines():
    """A line for each figure with every log's name before its value; notes name their log; no verdict."""
    lines = shown_beside("sglang", "vllm", terminal=False).splitlines()
    assert "Hit rate | hit rate | server.log ≥ 46.2 % | vllm.log not printed" in lines
    assert sum(line.startswith("note page-rounding (server.log): ") for line in lines) == 1
    assert lines[-1].startswith("No verdict")


def test_one_log_is_shown_in_full_and_several_side_by_side():
    """As many as are given."""
    one, two = console(terminal=False), console(terminal=False)
    print_logs([summaries.sglang()], one)
    print_logs([summaries.sglang(), summaries.vllm()], two)
    assert received(one) == shown("sglang", terminal=False)
    assert received(two) == shown_beside("sglang", "vllm", terminal=False)


def test_showing_a_log_loads_no_drawing_library():
    """Start-up counts: tables need neither altair nor jinja2 nor numpy."""
    code = (
        "import sys, radixbench.report.console.logs, radixbench.report.console.log_follow; "
        "print([m for m in ('altair', 'vl_convert', 'jinja2', 'numpy', 'pandas', 'torch') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
