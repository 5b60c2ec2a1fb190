"""One client's connection: requests in, by httptools; responses out, one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple, cast

import httptools

from radixbench.mock.control import Reply, read_call, reply_to
from radixbench.mock.outlet import Outlet
from radixbench.mock.playing import Playing
from radixbench.mock.service import ANSWERING, Service

_MOST_BODY_BYTES = 64 << 20


class _Request(NamedTuple):
    method: str
    target: str
    body: bytes
    received_ns: int
    keep_alive: bool


class Connection(asyncio.Protocol):
    """Parses requests as they come; a pipelined one waits for the response before it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._parser = httptools.HttpRequestParser(self)
        self._outlet: Outlet | None = None
        self._target = b""
        self._body: list[bytes] = []
        self._size = 0
        self._waiting: deque[_Request] = deque()
        self._playing: Playing | None = None
        self._now_ns = service.clock.now_ns
        self._gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)  # uvloop's are none by inheritance
        self._outlet = Outlet(stream, self._service.clock)
        self._service.connections.add(self)

    async def drop(self) -> None:
        """End now, in the middle of whatever is written."""
        if self._outlet is not None:
            self._outlet.abort()
        await self._gone.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._waiting.clear()
        self._outlet = None
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
        self._service.connections.discard(self)
        self._gone.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, b"the mock upgrades no connection")
        except httptools.HttpParserError as error:
            self._refuse(400, f"not an HTTP request: {error}".encode())

    def on_message_begin(self) -> None:
        """A request starts."""
        self._target = b""
        self._body = []
        self._size = 0

    def on_url(self, url: bytes) -> None:
        """A part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        if name.lower() == b"expect" and value.lower() == b"100-continue" and self._outlet is not None:
            self._outlet.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        self._size += len(data)
        if self._size <= _MOST_BODY_BYTES:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """A request is complete."""
        request = _Request(
            self._parser.get_method().decode(),
            self._target.decode("latin-1"),
            b"".join(self._body),
            self._now_ns(),
            self._parser.should_keep_alive(),
        )
        if self._size > _MOST_BODY_BYTES:
            self._refuse(413, b"the body is larger than 64 MiB")
        else:
            self._waiting.append(request)
            self._proceed()

    def _proceed(self) -> None:
        while self._waiting and self._playing is None and self._outlet is not None:
            request = self._waiting.popleft()
            call = read_call(request.method, request.target)
            if request.method == "POST" and call.path in ANSWERING:
                self._answer(call.path, request)
            else:
                self._outlet.send(reply_to(call, self._service).wire())
                if not request.keep_alive:
                    self._outlet.close()

    def _answer(self, path: str, request: _Request) -> None:
        assert self._outlet is not None
        part = self._service.answer(path, request.body, request.received_ns)

        def over(open_: bool) -> None:
            self._playing = None
            if open_ and not request.keep_alive and self._outlet is not None:
                self._outlet.close()
            elif open_:
                self._proceed()

        playing = Playing(self._outlet, part.packets, part.writes, part.stakes, over)
        self._playing = playing
        self._service.agenda.put(playing.due_ns, playing.play)

    def _refuse(self, status: int, message: bytes) -> None:
        if self._outlet is not None:
            self._outlet.send(Reply(status, message, "text/plain; charset=utf-8").wire())
            self._outlet.close()
