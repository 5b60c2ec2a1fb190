"""What has been read and not been parsed yet: stamps first, work later.

A read that can't be the end of anything waits a little for others; any other is parsed as soon as the loop has
looked at all its sockets. Either way reads are parsed a few at a time, so that sockets don't wait long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

_SLICE = 16
"""Reads parsed in a row before sockets are looked at again: bounds how long a stamp can wait."""

MIDDLE = (b"}\n\n\r\n", b"}\n\n")
"""How a read ends that holds whole events of a stream that goes on, in chunks or not. ``[DONE]`` doesn't."""

_LATER_S = 0.02
"""How long such a read may wait to be parsed with others: together they cost half as much, and nobody needs them yet."""


class Reader(Protocol):
    """Whoever a read belongs to."""

    def take(self, at_ns: int, data: bytes) -> None:
        """Parse what was read at ``at_ns``; never raises."""
        ...


class Inbox:
    """Reads in the order they were stamped, not parsed yet."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Reader, int, bytes]] = deque()
        self._soon = self._later = False

    def parse_soon(self) -> None:
        """Something may have ended: parse once the loop has looked at its other sockets."""
        if not self._soon:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._round)

    def parse_later(self) -> None:
        """Parse when there is more, but soon enough for whoever watches the stream."""
        if not (self._later or self._soon):
            self._later = True
            asyncio.get_running_loop().call_later(_LATER_S, self._due)

    def catch_up(self) -> None:
        """Parse everything that has been read."""
        while self.waiting:
            reader, at_ns, data = self.waiting.popleft()
            reader.take(at_ns, data)

    def _due(self) -> None:
        self._later = False
        if self.waiting:
            self.parse_soon()

    def _round(self) -> None:
        self._soon = False
        waiting = self.waiting
        for _ in range(min(len(waiting), _SLICE)):
            reader, at_ns, data = waiting.popleft()
            reader.take(at_ns, data)
        if waiting:
            self.parse_soon()
