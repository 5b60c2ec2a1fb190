"""A real server on a real socket that says exactly what a test wants, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

Handler = Callable[["Request", "Out"], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """One request as it was read."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> dict[str, Any]:
        document = json.loads(self.body)
        assert isinstance(document, dict)
        return document


class Out:
    """Writes an answer; bytes go out as they are given."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def whole(self, status: int, body: object, content_type: str = "application/json") -> None:
        """An answer in one piece."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n\r\n"
        await self.raw(head.encode() + data)

    async def start_stream(self) -> None:
        """The head of a chunked event stream."""
        await self.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )

    async def part(self, data: bytes) -> None:
        """One chunk of the stream."""
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(self, document: object) -> None:
        await self.part(b"data: " + json.dumps(document).encode() + b"\n\n")

    async def end_stream(self, done: bool = True) -> None:
        if done:
            await self.part(b"data: [DONE]\n\n")
        await self.raw(b"0\r\n\r\n")

    async def reset(self) -> None:
        """Break the connection off with an RST."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self._writer.transport.abort()

    async def hang_up(self) -> None:
        """Close the connection without another word."""
        self._writer.close()


@dataclass
class ScriptedServer:
    """Serves ``handler`` on a free loopback port while inside ``async with``; ``requests`` is what it saw."""

    handler: Handler
    port: int = 0
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    vanished: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.die()

    async def die(self) -> None:
        """Stop listening and drop every connection."""
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while (request := await _read_request(reader, number)) is not None:
                self.requests.append(request)
                await self.handler(request, Out(writer))
        except (ConnectionError, asyncio.CancelledError):
            self.vanished += 1
        finally:
            writer.transport.abort()
            self._tasks.discard(task)


async def _read_request(reader: asyncio.StreamReader, number: int) -> Request | None:
    with contextlib.suppress(asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Request(method, path, headers, body, number)
    return None


def token(
    ids: list[int], *, text: str | None = None, finish: str | None = None, usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A completion event as SGLang and vLLM send it."""
    choice = {"index": 0, "text": "x" * len(ids) if text is None else text, "finish_reason": finish}
    event: dict[str, Any] = {"id": "cmpl-7", "choices": [{**choice, "token_ids": ids}]}
    return event if usage is None else {**event, "usage": usage}


def usage(prompt: int, output: int, cached: int | None = None) -> dict[str, Any]:
    """A usage object; ``cached`` of ``None`` leaves the details out."""
    counts: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }
    return counts if cached is None else {**counts, "prompt_tokens_details": {"cached_tokens": cached}}


async def answer_well(request: Request, out: Out) -> None:
    """Completions of the length asked for; token k of the answer is the prompt's length + k."""
    if request.path != "/v1/completions":
        await out.whole(200, {"ok": True})
        return
    asked = request.json
    start, count = len(asked["prompt"]), asked["max_tokens"]
    ids = list(range(start, start + count))
    counts = usage(start, count, cached=0)
    if not asked["stream"]:
        choice = {"text": "x" * count, "token_ids": ids, "finish_reason": "length"}
        await out.whole(200, {"id": "cmpl-7", "choices": [choice], "usage": counts})
        return
    await out.start_stream()
    for place, number in enumerate(ids, start=1):
        last = place == count
        await out.event(token([number], finish="length" if last else None, usage=counts if last else None))
    await out.end_stream()
