"""A log while it grows: a live table on a terminal, refreshed about once a second; now and then a plain line elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from radixbench.clock import Clock, MonotonicClock
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report import text
from radixbench.report.console.log_layout import table_lines
from radixbench.report.console.log_view import head_lines, hit_panel
from radixbench.report.console.plain import clean
from radixbench.report.logs.now import now_facts
from radixbench.report.logs.view import build_log_view
from radixbench.report.logs.windows import window_table
from radixbench.units import NS_PER_S

_LIVE_EVERY_NS = NS_PER_S
_PLAIN_EVERY_NS = 10 * NS_PER_S
_HEADER_LINES = 2
_ENDING = "Following; Ctrl-C ends it with the summary."


class FollowDisplay:
    """A context manager to call, as often as one likes, with what makes the present summary.

    It asks for a summary only when something is due to be shown, and says the same thing only once.
    """

    def __init__(self, console: Console | None = None, clock: Clock | None = None) -> None:
        self._console = console or Console()
        self._clock = clock or MonotonicClock()
        self._live: Live | None = None
        self._due_ns = self._clock.now_ns()
        self._told: int | None = None

    def __enter__(self) -> FollowDisplay:
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, screen=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, summary: Callable[[], LogSummary]) -> None:
        """Show the present state, if it is time."""
        now = self._clock.now_ns()
        if now < self._due_ns:
            return
        self._due_ns = now + (_PLAIN_EVERY_NS if self._live is None else _LIVE_EVERY_NS)
        present = summary()
        if self._live is not None:
            self._live.update(self._picture(present), refresh=True)
        elif present.lines.read != self._told:
            self._console.print(Text(plain_line(present)), soft_wrap=True)
        self._told = present.lines.read

    def _picture(self, summary: LogSummary) -> RenderableType:
        """As much as fits the screen: the rate, and as many of the last windows as there is room for."""
        console = self._console
        view = build_log_view(summary, brief=True)
        above: list[RenderableType] = [*head_lines(view), hit_panel(view)]
        below: list[RenderableType] = [Text(_notes(summary), style="yellow")] if summary.notes else []
        below.append(Text(_ENDING, style="dim"))
        used = sum(len(console.render_lines(part, pad=False)) for part in (*above, *below))
        return Group(*above, *_latest(summary, console, console.height - 1 - used), *below)


def _latest(summary: LogSummary, console: Console, room: int) -> list[Text]:
    """The last windows under their header, so many that they take ``room`` lines at most."""
    for most in range(min(room - _HEADER_LINES, len(summary.windows)), 0, -1):
        table = window_table(replace(summary, windows=summary.windows[-most:]))
        lines = [] if table is None else list(table_lines(replace(table, total=(), notes=()), console))
        if len(lines) <= room:
            return lines
    return []


def _notes(summary: LogSummary) -> str:
    return clean(f"notes: {', '.join(note.code for note in summary.notes)}")


def plain_line(summary: LogSummary) -> str:
    """The present state in one line."""
    view = build_log_view(summary, brief=True)
    now = now_facts(summary)
    told = [] if now is None else [f"{fact.title} {fact.value}" for fact in now.facts]
    parts = [summary.last or "", text.plural(summary.lines.read, "line"), view.part, view.hit.sentence, *told]
    return clean(" | ".join(part for part in parts if part))
