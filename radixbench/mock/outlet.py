"""The way out of one connection, with a true stamp for what leaves.

Bytes go to the socket itself, past the event loop's own buffer, so that a stamp is that of the system call and not of a
later flush. Once a reader was too slow for the socket, the rest of the connection goes through that buffer: no byte
may overtake another.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct

from radixbench.clock import Clock

_LINGER_NOT = struct.pack("ii", 1, 0)


class Outlet:
    """Writes to one connection. ``buffering``: a write had to wait behind the socket, and so does all that follows."""

    def __init__(self, transport: asyncio.Transport, clock: Clock) -> None:
        self._transport = transport
        self._file: int = transport.get_extra_info("socket").fileno()
        self._now_ns = clock.now_ns
        self.buffering = False

    def send(self, data: bytes) -> int:
        """Send ``data``; returns the moment right before, in nanoseconds of the clock."""
        at_ns, sent = self._now_ns(), 0
        if self._transport.is_closing():
            return at_ns
        if not self.buffering:
            try:
                sent = os.write(self._file, data)
            except BlockingIOError:
                pass
            except OSError:  # the connection is breaking; the event loop will say so in a moment
                return at_ns
        if sent < len(data):
            self.buffering = True
            self._transport.write(data[sent:])
        return at_ns

    def close(self) -> None:
        """End the connection once all is sent."""
        self._transport.close()

    def abort(self) -> None:
        """End the connection now."""
        self._transport.abort()

    def reset(self) -> None:
        """End the connection with an RST instead of a farewell."""
        with socket.socket(fileno=os.dup(self._file)) as twin:
            twin.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self._transport.abort()
