"""``--follow``: a log is read as it grows, shown as it stands, until Ctrl-C asks to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from radixbench.metrics.log_summary.model import LogSummary


class Following:
    """Called again and again with what makes the present summary; true while nobody has asked to stop."""

    def __init__(self, show: Callable[[Callable[[], LogSummary]], None], stopped: Callable[[], bool]) -> None:
        self._show = show
        self._stopped = stopped

    def __call__(self, summary: Callable[[], LogSummary]) -> bool:
        """Show the log as it stands, if it is time; whether to go on."""
        if self._stopped():
            return False
        self._show(summary)
        return True

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C ended it, and not the log."""
        return self._stopped()


@contextmanager
def following(wanted: bool, *, stdout_taken: bool) -> Iterator[Following | None]:
    """Show the log on stdout, or on stderr where stdout belongs to a document; ``None`` unless ``wanted``."""
    if not wanted:
        yield None
        return
    from rich.console import Console

    from radixbench.bench.stop import stop_on_signals
    from radixbench.report.console.log_follow import FollowDisplay

    with stop_on_signals() as stopped, FollowDisplay(Console(stderr=stdout_taken)) as show:
        yield Following(show, stopped)
