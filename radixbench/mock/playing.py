"""One response on its way out: each packet when it is due, its true write time noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from radixbench.mock.outlet import Outlet
from radixbench.mock.packets import Packet
from radixbench.mock.writes import RequestWrites


class Stakes(Protocol):
    """Who must know how far a response has come."""

    def first_token(self) -> None:
        """The first token is about to be written: the prompt is computed."""
        ...

    def complete(self) -> None:
        """The last bytes are about to be written."""
        ...

    def ended(self, outcome: str) -> None:
        """Nothing more is written: ``answered``, ``cut`` or ``vanished``."""
        ...


class Playing:
    """Plays the packets of one response onto one connection.

    ``play`` writes what is due and returns when the next packet is, in nanoseconds of the clock; ``None`` at the end.
    ``over`` is called with whether the connection stays open. The next packet is made while there is time.
    """

    def __init__(
        self,
        outlet: Outlet,
        packets: Iterator[Packet],
        writes: RequestWrites,
        stakes: Stakes,
        over: Callable[[bool], None],
    ) -> None:
        self._outlet = outlet
        self._packets = packets
        self._next = next(packets)
        self._writes = writes
        self._stakes = stakes
        self._over = over
        self._spoke = False
        self._ended = False

    @property
    def due_ns(self) -> int:
        """When the next packet is due."""
        return self._writes.received_ns + self._next.due_ns

    def play(self) -> int | None:
        """Write the packet that is due."""
        if self._ended:
            return None
        packet, tokens = self._next, self._next.tokens
        if tokens and not self._spoke:
            self._spoke = True
            self._stakes.first_token()
        if packet.ending == "keep":
            self._stakes.complete()
        self._writes.add(self.due_ns, self._outlet.send(packet.data), tokens, len(packet.data))
        self._writes.buffered += self._outlet.buffering
        if packet.ending != "more":
            self._end(packet.ending)
            return None
        self._next = next(self._packets)
        return self.due_ns

    def stop(self) -> None:
        """The client is gone."""
        if not self._ended:
            self._ended = True
            self._stakes.ended("vanished")

    def _end(self, ending: str) -> None:
        self._ended = True
        self._stakes.ended("answered" if ending == "keep" else "cut")
        if ending == "reset":
            self._outlet.reset()
        elif ending == "close":
            self._outlet.close()
        self._over(ending == "keep")
