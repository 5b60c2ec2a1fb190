"""Bytes on their way out, and where they are cut: into pieces, or off.

A packet knows at which of its bytes an event is complete, so that however it is cut, each piece says how many tokens
a reader has once it has read that far.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from radixbench.mock.settings import MockSettings
from radixbench.units import NS_PER_S

Ending = Literal["more", "keep", "reset", "close"]


class Packet(NamedTuple):
    """``data`` is due ``due_ns`` after the request came in; ``marks`` are (bytes, tokens) of the events that end in it.

    ``ending`` says what follows: ``more``, or the end of the response, a ``reset`` or a ``close`` of the connection.
    """

    due_ns: int
    data: bytes
    marks: tuple[tuple[int, int], ...] = ()
    ending: Ending = "more"

    @property
    def tokens(self) -> int:
        """Tokens of the events that this packet completes."""
        if len(self.marks) == 1:
            return self.marks[0][1]
        return sum(tokens for _, tokens in self.marks)


def packed(due_ns: int, parts: list[tuple[bytes, int]], ending: Ending = "more") -> Packet:
    """One packet of parts, each its bytes and the tokens that are complete with them."""
    marks, end = [], 0
    for data, tokens in parts:
        end += len(data)
        if tokens:
            marks.append((end, tokens))
    return Packet(due_ns, b"".join(data for data, _ in parts), tuple(marks), ending)


def cut_off(packets: Iterator[Packet], number: int, settings: MockSettings) -> Iterator[Packet]:
    """The packets up to the byte after which the connection ends, if it does so in this request."""
    faults = settings.faults
    if faults.cut_after_bytes is None or not faults.cut.holds(number, seed=settings.seed, what="cut"):
        yield from packets
        return
    left = faults.cut_after_bytes + (number - 1) * faults.cut_step
    for packet in packets:
        if left < len(packet.data):
            yield _piece(packet, 0, left, packet.due_ns)._replace(ending=faults.cut_kind)
            return
        left -= len(packet.data)
        yield packet


def split_up(packets: Iterator[Packet], settings: MockSettings) -> Iterator[Packet]:
    """Every packet in pieces of at most ``split_bytes``."""
    size, gap_ns = settings.shape.split_bytes, round(settings.shape.split_gap_s * NS_PER_S)
    if size is None:
        yield from packets
        return
    for packet in packets:
        total, due_ns = len(packet.data), packet.due_ns
        for start in range(0, total - size, size):
            yield _piece(packet, start, start + size, due_ns)
            due_ns += gap_ns
        last = max(0, (total - 1) // size * size)
        yield _piece(packet, last, total, due_ns)._replace(ending=packet.ending)


def _piece(packet: Packet, start: int, stop: int, due_ns: int) -> Packet:
    marks = tuple((end - start, tokens) for end, tokens in packet.marks if start < end <= stop)
    return Packet(due_ns, packet.data[start:stop], marks)
