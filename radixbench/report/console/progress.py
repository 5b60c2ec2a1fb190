"""A bench's events while it runs: a live view on a terminal, plain lines on stderr elsewhere.

Off a terminal a run takes a line when its measuring begins and one when it is saved. Whoever sends an event only puts it
down: a thread writes, so that neither a terminal that is slow or held (Ctrl-S) nor a reader that went away holds up
or ends the client that measures. What came while it couldn't write is drawn as it stands by then, not one by one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from radixbench.report.console.event import ProgressEvent
from radixbench.report.console.live_lines import describe, errors, estimate, live_lines, time_left
from radixbench.report.console.plain import clean

__all__ = ["ProgressDisplay", "ProgressEvent"]

_TOLD = frozenset({"measure", "saved", "start-server"})


class ProgressDisplay:
    """A context manager to call with each event. It writes to stderr unless given a console, and nothing if ``quiet``.

    When the context ends everything is written, and the terminal as it was before.
    """

    def __init__(self, console: Console | None = None, *, quiet: bool = False) -> None:
        # A variable that forces colours on says nothing of whether lines can be drawn over.
        self._console = console or _Stderr(stderr=True, force_terminal=sys.stderr.isatty())
        self._events: SimpleQueue[ProgressEvent | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._quiet = quiet

    def __enter__(self) -> ProgressDisplay:
        if not self._quiet:
            self._thread = threading.Thread(target=self._show, name="radixbench-progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._events.put(None)
            self._thread.join()
            self._thread = None

    def __call__(self, event: ProgressEvent) -> None:
        """Have one event shown; before and after the context it is dropped."""
        if self._thread is not None:
            self._events.put(event)

    def _show(self) -> None:
        try:
            if self._console.is_terminal and not self._console.is_dumb_terminal:
                _draw(self._console, self._batches())
            else:
                _tell(self._console, self._batches())
        except OSError:  # a terminal that hung up, a full disk: the measurement goes on unseen
            return

    def _batches(self) -> Iterator[Sequence[ProgressEvent]]:
        """All events that came since the last batch was shown; ends with the context."""
        over = False
        while not over:
            batch = [self._events.get()]
            while not self._events.empty():
                batch.append(self._events.get())
            over = batch[-1] is None
            yield [event for event in batch if event is not None]


class _Stderr(Console):
    """Says nothing more once nobody reads it. Rich's own way would end the thread, and close stdout along with it."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def _draw(console: Console, batches: Iterator[Sequence[ProgressEvent]]) -> None:
    """Notes stay, one below the other; of everything else the newest is drawn over what was there."""
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for batch in batches:
            for event in batch:
                if event.stage == "note":
                    console.print(Text(clean(event.text)))
            newest = next((event for event in reversed(batch) if event.stage != "note"), None)
            if newest is not None:
                lines = live_lines(newest, console.width, plain_bars=console.options.ascii_only)
                live.update(Group(*lines), refresh=True)


def _tell(console: Console, batches: Iterator[Sequence[ProgressEvent]]) -> None:
    """Plain lines: one for each stage of a run, a note always, a cell's estimates where they are new, and faults."""
    stage_told: tuple[str, int, str | None] | None = None
    estimates_told: list[str] = []
    for event in (event for batch in batches for event in batch):
        stage = event.stage, event.run, event.arm or event.mode
        if event.stage == "note":
            _say(console, clean(event.text))
        elif event.stage in _TOLD and stage != stage_told:
            stage_told = stage
            _say(console, _line(event))
            if event.stage == "saved":
                found = [estimate(one, event.target) for one in event.running]
                if found and found != estimates_told:
                    _say(console, f"  so far: {'; '.join(found)}")
                estimates_told = found
                if event.errors:
                    _say(console, f"  {errors(event)}")


def _line(event: ProgressEvent) -> str:
    """``[3/18] saved 4,096 shared tokens, cache on, seed 1: 64 of 64 requests, about 1 min 39 s left``."""
    place = f"[{event.run}/{event.runs}] " if event.runs else ""
    requests = f": {event.done} of {event.total} requests" if event.stage == "saved" and event.total else ""
    left = time_left(event) if event.run else ""
    return f"{place}{describe(event)}{requests}{f', {left}' if left else ''}"


def _say(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)
