"""A log that grows: when something is shown, and what."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from radixbench.clock import ManualClock
from radixbench.logs.record import LineCounts
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report.console.log_follow import FollowDisplay
from radixbench.units import NS_PER_S
from tests.report.logs import summaries


class Growing:
    """A log that is asked for its present summary."""

    def __init__(self) -> None:
        self.asked = 0
        self.read = 100

    def __call__(self) -> LogSummary:
        self.asked += 1
        return replace(summaries.sglang(), lines=LineCounts(self.read))


def screen(*, terminal: bool, height: int = 40) -> Console:
    """A console of that height that keeps what it receives."""
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, height=height, color_system=None)


def received(console: Console) -> str:
    """What a console was given."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_off_a_terminal_a_line_is_told_every_ten_seconds_if_the_log_grew():
    """However often it is called; nothing is computed that isn't shown."""
    clock, log, console = ManualClock(), Growing(), screen(terminal=False)
    with FollowDisplay(console, clock) as show:
        for _ in range(25):
            show(log)
            clock.advance(NS_PER_S)
        assert log.asked == 3
        assert len(received(console).splitlines()) == 1
        log.read = 101
        clock.advance(10 * NS_PER_S)
        show(log)
    first, second = received(console).splitlines()
    assert first.startswith(
        "2026-08-23 09:09:20 | 100 lines | hit rate ≥ 46.2 % (lower bound): 127,500 cached"
    )
    assert first.endswith(
        "output 1,024 tokens/s | running 11 | waiting 1 | token usage 65 % | swa usage 31 %"
    )
    assert "| 101 lines |" in second


def test_on_a_terminal_a_table_is_refreshed_every_second():
    """And taken away at the end, for the summary to follow."""
    clock, log, console = ManualClock(), Growing(), screen(terminal=True)
    with FollowDisplay(console, clock) as show:
        for _ in range(10):
            show(log)
            clock.advance(NS_PER_S // 4)
    assert log.asked == 3
    out = received(console)
    assert "Ctrl-C ends it with the summary" in out
    assert "notes: page-rounding, retractions, health-checks" in out


@pytest.mark.parametrize("height", [8, 12, 20, 30, 60])
def test_a_picture_fits_the_screen(height):
    """The rate stays on top, below it as many of the last windows as there is room for."""
    console = screen(terminal=True, height=height)
    show = FollowDisplay(console, ManualClock())
    lines = console.render_lines(show._picture(summaries.sglang()), pad=False)
    told = ["".join(segment.text for segment in line).strip() for line in lines]
    windows = [line for line in told if line.startswith("09:0")]
    assert len(told) <= max(height - 1, 10)
    assert any("hit rate ≥ 46.2 %" in line for line in told)
    assert len(windows) == {8: 0, 12: 0, 20: 6, 30: 16, 60: 26}[height]
    assert not windows or windows[-1].startswith("09:09:10")


@pytest.mark.parametrize("name", list(summaries.ALL))
@pytest.mark.parametrize("terminal", [True, False])
def test_every_kind_of_log_can_be_followed(name, terminal):
    """With and without windows, rates and pools; control characters stay out."""
    console = screen(terminal=False)
    with FollowDisplay(console, ManualClock()) as show:
        show(summaries.ALL[name])
    if terminal:
        console.print(show._picture(summaries.ALL[name]()))
    assert not [c for c in received(console) if not c.isprintable() and c != "\n"]
