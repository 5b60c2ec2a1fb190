"""Who has read something and not parsed it yet: stamps first, work later.

A read that can't be the end of anything waits for others of its stream, since a batch costs half as much; any other
is parsed, with all before it, as soon as the loop has looked at its sockets. Either way a few reads are parsed at a
time, so that sockets don't wait long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

_SLICE = 16
"""Reads parsed before sockets are looked at again, give or take one stream's: bounds how long a stamp can wait."""

MIDDLE = (b"}\n\n\r\n", b"}\n\n")
"""How a read ends that holds whole events of a stream that goes on, in chunks or not. ``[DONE]`` doesn't."""

_LATER_S = 0.25
"""How long such a read may wait for company: nobody needs it yet, and whoever does asks to catch up."""


class Reader(Protocol):
    """Whoever has read something."""

    def take(self) -> int:
        """Parse all that was read, and tell how many reads that were; never raises."""
        ...


class Inbox:
    """Readers whose reads are stamped and not parsed yet."""

    def __init__(self) -> None:
        self._due: deque[Reader] = deque()
        self._waiting: list[Reader] = []
        self._scheduled = self._timed = False

    def soon(self, reader: Reader) -> None:
        """Something may have ended: parse once the loop has looked at its other sockets."""
        self._due.append(reader)
        self._schedule()

    def later(self, reader: Reader) -> None:
        """Parse when there is more, but soon enough for whoever watches the stream."""
        self._waiting.append(reader)
        if not self._timed:
            self._timed = True
            asyncio.get_running_loop().call_later(_LATER_S, self._time)

    def catch_up(self) -> None:
        """Parse everything that has been read."""
        self._due.extend(self._waiting)
        self._waiting.clear()
        while self._due:
            self._due.popleft().take()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._round)

    def _time(self) -> None:
        self._timed = False
        if self._waiting:
            self._due.extend(self._waiting)
            self._waiting.clear()
            self._schedule()

    def _round(self) -> None:
        self._scheduled = False
        parsed = 0
        while self._due and parsed < _SLICE:
            parsed += self._due.popleft().take()
        if self._due:
            self._schedule()
