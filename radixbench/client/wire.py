"""Bytes to and from one server: the client's one door to sockets and to the HTTP parser.

A connection carries one request at a time and is used again. What is read is stamped at once and put aside;
it is parsed when no socket waits any more, a few reads at a time, so that a stamp never waits for the parsing
of other streams; the middle of a stream waits for company, since a batch costs half as much. A request goes to the socket in the very call that stamps it, not at the end of the loop's round.

    socket ──read──▶ stamp ──▶ inbox ──▶ httptools ──▶ Receiver: opened, received …, ended

``ended`` comes exactly once for a request that was sent, unless its receiver aborts the connection itself.

Some servers end a connection right after a stream though they said they would keep it (llama.cpp, late 2026): before
one is used again it is looked at, and from the second such end on none is; from the first where that end came under
a request, too late to be seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import Any, cast

from radixbench.client.address import Address
from radixbench.client.fault import Fault, lost
from radixbench.client.inbox import MIDDLE, Inbox
from radixbench.client.response import Pieces, Receiver, Response
from radixbench.clock import Clock
from radixbench.units import NS_PER_S

_CONNECT_S = 10.0
_CLOSE_S = 1.0
_DROPS = 2


class Connection(asyncio.Protocol):
    """One connection: idle, or with the receiver of the response it carries."""

    def __init__(self, wire: Wire, sock: socket.socket | None) -> None:
        self._wire = wire
        self._sock = sock  # None: encrypted, so only the transport may write
        self._now_ns = wire.now_ns
        self._inbox = wire.inbox
        self._reads: Pieces = []
        self._transport: asyncio.Transport | None = None
        self._receiver: Receiver | None = None
        self._response: Response | None = None
        self._heard = self._gone = self._used = False
        self._usable_until_ns = 0

    @property
    def reading(self) -> bool:
        """More of the response is to come."""
        return self._response is not None and not self._response.complete

    def kept(self) -> bool:
        """Idle for so short a time that the server should still listen."""
        return self._now_ns() < self._usable_until_ns

    def usable(self) -> bool:
        """The server does listen still."""
        return self.kept() and not (self._gone or self._reads) and self._is_silent()

    def _is_silent(self) -> bool:
        """Nothing waits to be read; an end that the loop hasn't come to is seen this way."""
        if self._sock is None:
            return True
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def send(self, request: bytes, receiver: Receiver) -> None:
        """Write a request now; its response goes to ``receiver``."""
        assert self._transport is not None
        self._receiver, self._response, self._heard = receiver, Response(), False
        if self._gone:
            self._ended()
            return
        sent = 0
        if self._sock is not None and not self._transport.get_write_buffer_size():
            with contextlib.suppress(OSError):  # full or broken: the transport waits or reports it
                sent = self._sock.send(request)
        if sent < len(request):
            self._transport.write(request[sent:] if sent else request)

    def abort(self) -> None:
        """Drop the connection; its receiver hears nothing more."""
        self._receiver = self._response = None
        self._gone = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass
        self._wire.connections.add(self)

    def data_received(self, data: bytes) -> None:
        reads = self._reads
        reads.append((self._now_ns(), data))
        if not data.endswith(MIDDLE):
            self._inbox.soon(self)
        elif len(reads) == 1:
            self._inbox.later(self)

    def eof_received(self) -> None:
        self._ended()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # a reset and a proper end differ only in what had come before
        self._ended()
        self._wire.closed(self)

    def _ended(self) -> None:
        self._gone = True
        self._reads.append((self._now_ns(), b""))
        self._inbox.soon(self)

    def take(self) -> int:
        """Parse every read that waits, and tell how many there were; an empty one is the end of the connection."""
        reads, self._reads = self._reads, []
        body: Pieces = []
        for at_ns, data in reads:
            receiver, response = self._receiver, self._response
            if receiver is None or response is None:
                self.abort()  # a server that ends an idle connection, perhaps with parting words
            elif data:
                self._heard = True
                self._parse(receiver, response, at_ns, data, body)
            else:
                self._hand_over(body)
                self._break_off(response, at_ns)
        self._hand_over(body)
        return len(reads)

    def _parse(self, receiver: Receiver, response: Response, at_ns: int, data: bytes, body: Pieces) -> None:
        fault = response.feed(data)
        if not response.announced and response.status is not None:
            response.announced = True
            receiver.opened(response.head())
        if (piece := response.taken()) is not None:
            body.append((at_ns, piece))
        if response.complete or fault:
            self._hand_over(body)
            if self._receiver is receiver:
                self._finish(
                    at_ns, None if response.complete else fault, keep=fault is None and response.keep
                )

    def _hand_over(self, body: Pieces) -> None:
        """Give the receiver what it still listens for."""
        if body and self._receiver is not None:
            self._receiver.received(body)
        body.clear()

    def _break_off(self, response: Response, at_ns: int) -> None:
        if self._receiver is None:
            return
        if self._used and not self._heard:
            self._wire.keep_none()
        self._finish(at_ns, None if response.ends_with_connection() else lost(answered=self._heard))

    def _finish(self, at_ns: int, fault: Fault | None, *, keep: bool = False) -> None:
        receiver, response = self._receiver, self._response
        assert receiver is not None
        assert response is not None
        self._receiver = self._response = response.parser = None
        self._used = True
        self._usable_until_ns = at_ns + int(response.idle_s() * NS_PER_S)
        if not (keep and not self._gone and self._wire.keep(self)):
            self.abort()
        receiver.ended(at_ns, fault)


class Wire:
    """All connections to one server; opened when they are needed, as many as there are requests at a time."""

    def __init__(self, address: Address, clock: Clock) -> None:
        self.address = address
        self.now_ns = clock.now_ns
        self.inbox = Inbox()
        self.idle: list[Connection] = []
        self.connections: set[Connection] = set()
        self._drops = 0  # connections that the server had said to keep and ended, since one was used again
        self._places: list[tuple[int, Any]] = []
        self._tls: ssl.SSLContext | None = None
        self._all_closed: asyncio.Event | None = None

    async def connection(self) -> Connection:
        """An idle connection, or a new one. Raises ``OSError`` (``TimeoutError`` after 10 s) when there is none."""
        while self.idle:
            connection = self.idle.pop()
            if connection.usable():
                self._drops = 0
                return connection
            self._drops += connection.kept()
            connection.abort()
        async with asyncio.timeout(_CONNECT_S):
            return await self._open()

    def keep(self, connection: Connection) -> bool:
        """Put a connection by for another request, unless this server is known to end such."""
        if self._drops < _DROPS:
            self.idle.append(connection)
        return self._drops < _DROPS

    def keep_none(self) -> None:
        """Stop keeping connections: the server ended one under a request, though it had said that it stays."""
        self._drops = _DROPS
        while self.idle:
            self.idle.pop().abort()

    async def close(self) -> None:
        """Drop every connection."""
        self.idle.clear()
        self._all_closed = asyncio.Event()
        for connection in tuple(self.connections):
            connection.abort()
        if self.connections:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await self._all_closed.wait()

    def closed(self, connection: Connection) -> None:
        """``connection`` is no more."""
        self.connections.discard(connection)
        if connection in self.idle:
            self.idle.remove(connection)
            self._drops += connection.kept()
        if not self.connections and self._all_closed is not None:
            self._all_closed.set()

    async def _open(self) -> Connection:
        sock = await self._socket()
        try:
            connection = Connection(self, None if self.address.tls else sock)
            await asyncio.get_running_loop().create_connection(
                lambda: connection,
                sock=sock,
                ssl=self._context(),
                server_hostname=self.address.host if self.address.tls else None,
            )
        except BaseException:
            sock.close()
            raise
        return connection

    async def _socket(self) -> socket.socket:
        """A socket connected to the first of the host's addresses that answers; that one is tried first again."""
        loop = asyncio.get_running_loop()
        if not self._places:
            found = await loop.getaddrinfo(self.address.host, self.address.port, type=socket.SOCK_STREAM)
            self._places = [(family, place) for family, _, _, _, place in found]
        fault = OSError("the name has no address")
        for family, place in tuple(self._places):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                await loop.sock_connect(sock, place)
            except OSError as error:
                sock.close()
                fault = error
            except BaseException:
                sock.close()
                raise
            else:
                self._places = [(family, place)]
                return sock
        self._places = []
        raise fault

    def _context(self) -> ssl.SSLContext | None:
        if self.address.tls and self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls
