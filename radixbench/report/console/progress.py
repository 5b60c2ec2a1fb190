"""A bench's events while it runs: a live display on a terminal, plain lines on stderr elsewhere.

The event is described by its shape, since the room that makes it and this one don't know each other.
Off a terminal a run takes a line when its measuring begins and one when it is saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from radixbench.report import text
from radixbench.report.cells import cell_title
from radixbench.report.console.plain import clean

_SHORTEST_LEFT_S = 1.0
_STAGE_WORDS = {
    "start-server": "starting the server,",
    "warm-up": "warming up",
    "measure": "measuring",
    "saved": "saved",
}


class ProgressEvent(Protocol):
    """One event of a bench: ``run`` counts from 1 to ``runs``, ``done`` of ``total`` requests are answered."""

    @property
    def stage(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def run(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def left_s(self) -> float | None: ...
    @property
    def cell(self) -> Mapping[str, int | float | str]: ...
    @property
    def mode(self) -> str | None: ...
    @property
    def seed(self) -> int | None: ...


class ProgressDisplay:
    """A context manager to call with each event. It writes to stderr unless given a console."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._live: Progress | None = None
        self._runs: TaskID | None = None
        self._requests: TaskID | None = None
        self._told: str | None = None

    def __enter__(self) -> ProgressDisplay:
        if self._console.is_terminal:
            self._live = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[count]}", markup=False),
                TextColumn("{task.fields[note]}", markup=False),
                console=self._console,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: ProgressEvent) -> None:
        """Show one event."""
        if self._live is None:
            self._tell(event)
            return
        if event.stage == "note":
            self._live.console.print(Text(clean(event.text)))
            return
        self._draw(self._live, event)

    def _draw(self, live: Progress, event: ProgressEvent) -> None:
        if self._runs is None:
            self._runs = live.add_task("runs", total=None, count="", note="")
        finished = max(event.run if event.stage == "saved" else event.run - 1, 0)
        if event.runs:
            count = _count(finished, event.runs)
            live.update(self._runs, completed=finished, total=event.runs, count=count, note=_left(event))
        self._draw_requests(live, event)

    def _draw_requests(self, live: Progress, event: ProgressEvent) -> None:
        """The second bar: a new one where the total isn't known, for a bar never forgets the one it had."""
        if self._requests is None or not event.total:
            if self._requests is not None:
                live.remove_task(self._requests)
            self._requests = live.add_task(describe(event), total=None, count="", note="")
            return
        live.update(
            self._requests,
            description=describe(event),
            completed=event.done,
            total=event.total,
            count=_count(event.done, event.total),
        )

    def _tell(self, event: ProgressEvent) -> None:
        """A plain line, once for each stage of a run; a note always."""
        if event.stage == "note":
            self._console.print(Text(clean(event.text)), soft_wrap=True)
            return
        key = f"{event.stage} {event.run} {event.mode}"
        if key == self._told or event.stage not in {"measure", "saved", "start-server"}:
            return
        self._told = key
        place = f"[{event.run}/{event.runs}] " if event.runs else ""
        line = f"{place}{describe(event)}"
        if event.stage == "saved" and event.total:
            line += f": {event.done} of {event.total} requests"
        left = _left(event)
        self._console.print(Text(f"{line}, {left}" if left else line), soft_wrap=True)


def describe(event: ProgressEvent) -> str:
    """``measuring 4,096 shared tokens, cache off, seed 1``."""
    parts = [cell_title(event.cell)] if event.cell else []
    if event.mode is not None:
        parts.append(f"cache {event.mode}")
    if event.seed is not None:
        parts.append(f"seed {event.seed}")
    stage = _STAGE_WORDS.get(event.stage, event.stage)
    return clean(f"{stage} {', '.join(parts)}" if parts else event.text or stage.rstrip(","))


def _count(done: int, total: int) -> str:
    return f"{done}/{total}"


def _left(event: ProgressEvent) -> str:
    return (
        ""
        if event.left_s is None or event.left_s < _SHORTEST_LEFT_S
        else f"about {text.left(event.left_s)} left"
    )
