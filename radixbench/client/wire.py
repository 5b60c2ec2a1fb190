"""Bytes to and from one server: the client's one door to sockets and to the HTTP parser.

A connection carries one request at a time and is used again. What is read is stamped at once and put aside;
it is parsed when no socket waits any more, a few reads at a time, so that a stamp never waits for the parsing
of other streams; the middle of a stream waits for company, since a batch costs half as much. A request goes to the socket in the very call that stamps it, not at the end of the loop's round.

    socket ──read──▶ stamp ──▶ inbox ──▶ httptools ──▶ Receiver: opened, received …, ended

``ended`` comes exactly once for a request that was sent, unless its receiver aborts the connection itself.

Some servers end a connection right after a stream though they said they would keep it (llama.cpp, late 2026): before
one is used again it is looked at, and from the second such end on none is.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, cast

import httptools

from radixbench.client.address import Address
from radixbench.client.fault import Fault, lost, not_http
from radixbench.client.inbox import MIDDLE, Inbox
from radixbench.clock import Clock
from radixbench.units import NS_PER_S

_CONNECT_S = 10.0
_CLOSE_S = 1.0
_IDLE_S = 4.0
"""A connection idle for longer isn't used again: below the 5 s after which uvicorn and llama.cpp drop it."""
_DROPS = 2


class Head(NamedTuple):
    """What is known of a response before its body: ``content_type`` and ``encoding`` in lower case."""

    status: int
    content_type: str
    encoding: str
    location: str | None


class Receiver(ABC):
    """Whoever sent a request and takes its response."""

    @abstractmethod
    def opened(self, head: Head) -> None:
        """The response's status and headers are here."""

    @abstractmethod
    def received(self, data: bytes, at_ns: int) -> None:
        """A piece of the body, read at ``at_ns``: everything of it that one read brought."""

    @abstractmethod
    def ended(self, at_ns: int, fault: Fault | None) -> None:
        """The response is over; with a fault it isn't whole."""


class _Response:
    """One response being parsed: what httptools calls back."""

    __slots__ = ("announced", "complete", "headers", "keep", "on_body", "parser", "pieces", "status")

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self.headers: dict[bytes, bytes] = {}
        self.status: int | None = None
        self.announced = self.complete = self.keep = False
        self.parser: Any = httptools.HttpResponseParser(self)

    def on_message_begin(self) -> None:
        if self.complete:  # stops the parser: what follows the answer is none of ours
            raise ConnectionError("bytes after the end of the answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        status = int(self.parser.get_status_code())
        if status < 200:  # an interim response: the one that counts follows
            self.headers.clear()
        else:
            self.status = status

    def on_message_complete(self) -> None:
        if self.status is not None:
            self.complete = True
            self.keep = bool(self.parser.should_keep_alive())

    def head(self) -> Head:
        assert self.status is not None
        kind = self.text(b"content-type").partition(";")[0].strip().lower()
        encoding = self.text(b"content-encoding").lower()
        return Head(self.status, kind, encoding, self.text(b"location") or None)

    def text(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def ends_with_connection(self) -> bool:
        """The body has neither a length nor chunks: closing the connection is its proper end."""
        framed = {b"content-length", b"transfer-encoding"} & self.headers.keys()
        return self.status is not None and not framed

    def idle_s(self) -> float:
        """How long the connection may be kept, with room to spare before the server drops it."""
        told = re.search(r"timeout=(\d+)", self.text(b"keep-alive"))
        return min(_IDLE_S, 0.8 * int(told[1])) if told else _IDLE_S


class Connection(asyncio.Protocol):
    """One connection: idle, or with the receiver of the response it carries."""

    def __init__(self, wire: Wire, sock: socket.socket | None) -> None:
        self._wire = wire
        self._sock = sock  # None: encrypted, so only the transport may write
        self._now_ns = wire.now_ns
        self._inbox = wire.inbox
        self._put_aside = wire.inbox.waiting.append
        self._transport: asyncio.Transport | None = None
        self._receiver: Receiver | None = None
        self._response: _Response | None = None
        self._heard = self._gone = False
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
        return self.kept() and not self._gone and self._is_silent()

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
        self._receiver, self._response, self._heard = receiver, _Response(), False
        if self._gone:
            asyncio.get_running_loop().call_soon(self.take, self._now_ns(), b"")
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
        self._put_aside((self, self._now_ns(), data))
        if data.endswith(MIDDLE):
            self._inbox.parse_later()
        else:
            self._inbox.parse_soon()

    def eof_received(self) -> None:
        self._ended()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # a reset and a proper end differ only in what had come before
        self._ended()
        self._wire.closed(self)

    def _ended(self) -> None:
        self._gone = True
        self._put_aside((self, self._now_ns(), b""))
        self._inbox.parse_soon()

    def take(self, at_ns: int, data: bytes) -> None:
        """Parse one read; an empty one is the end of the connection."""
        receiver, response = self._receiver, self._response
        if receiver is None or response is None:
            self.abort()  # a server that ends an idle connection, perhaps with parting words
        elif data:
            self._heard = True
            self._parse(receiver, response, at_ns, data)
        else:
            whole = response.ends_with_connection()
            self._finish(at_ns, None if whole else lost(answered=self._heard))

    def _parse(self, receiver: Receiver, response: _Response, at_ns: int, data: bytes) -> None:
        fault = None
        try:
            response.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            fault = not_http(error)
        if not response.announced and response.status is not None:
            response.announced = True
            receiver.opened(response.head())
        pieces = response.pieces
        if pieces and self._receiver is receiver:
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            pieces.clear()
            receiver.received(body, at_ns)
        if (response.complete or fault) and self._receiver is receiver:
            self._finish(at_ns, None if response.complete else fault, keep=fault is None and response.keep)

    def _finish(self, at_ns: int, fault: Fault | None, *, keep: bool = False) -> None:
        receiver, response = self._receiver, self._response
        assert receiver is not None
        assert response is not None
        self._receiver = self._response = response.parser = None
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
