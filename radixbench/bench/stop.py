"""Ctrl-C and SIGTERM as a request to stop, so that what was measured is saved first."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Set once by a signal, polled by whoever works."""

    def __init__(self) -> None:
        self._requested = False

    def __call__(self) -> bool:
        """Whether somebody wants to stop."""
        return self._requested

    def trigger(self) -> None:
        """Ask to stop."""
        self._requested = True


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Nothing interrupts what is inside: ending servers takes a moment and must not be left half done."""
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Within the context the first SIGINT or SIGTERM asks to stop; a second one interrupts at once."""
    request = StopRequest()

    def handle(_signum: int, _frame: FrameType | None) -> None:
        if request():
            raise KeyboardInterrupt
        request.trigger()

    previous = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
