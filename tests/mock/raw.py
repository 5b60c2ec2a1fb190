"""A reader that keeps every byte it got and when: what a client could have seen at best."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """One response as it came: ``reads`` are (CLOCK_MONOTONIC ns, bytes); ``reset`` says how it ended."""

    reads: list[tuple[int, bytes]] = field(default_factory=list)
    reset: bool = False

    @property
    def raw(self) -> bytes:
        return b"".join(data for _, data in self.reads)

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def head(self) -> str:
        return self.raw.partition(b"\r\n\r\n")[0].decode()

    @property
    def body(self) -> bytes:
        """The body, its chunks joined; what is missing is missing."""
        head, _, rest = self.raw.partition(b"\r\n\r\n")
        if b"chunked" not in head:
            return rest
        body = b""
        while rest:
            size, found, rest = rest.partition(b"\r\n")
            if not found or int(size, 16) == 0:
                break
            body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        return body

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def payloads(self) -> list[str]:
        """The data of each complete event; comments are skipped."""
        text = self.body.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        return [part[6:] for part in text.split("\n\n")[:-1] if part.startswith("data: ")]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The JSON of each complete event."""
        return [json.loads(payload) for payload in self.payloads if payload != "[DONE]"]

    @property
    def usage(self) -> dict[str, Any] | None:
        """The last usage that was told."""
        if not self.head.count("event-stream"):
            return self.document.get("usage")
        return next((event["usage"] for event in reversed(self.events) if event.get("usage")), None)

    @property
    def cached(self) -> int | None:
        details = (self.usage or {}).get("prompt_tokens_details")
        return None if details is None else details["cached_tokens"]


async def ask(
    url: str,
    path: str,
    body: dict[str, Any] | None = None,
    *,
    method: str = "POST",
    stop_after: int | None = None,
) -> Seen:
    """One request on a connection of its own, read to its end, or left after so many bytes."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    data = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    seen = Seen()
    try:
        while stop_after is None or len(seen.raw) < stop_after:
            if not (part := await reader.read(1 << 16)):
                break
            seen.reads.append((time.monotonic_ns(), part))
    except ConnectionResetError:
        seen.reset = True
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return seen


async def until(holds: Callable[[], bool]) -> None:
    """Let the event loop go on until something holds; the test's own timeout is the limit."""
    while not holds():  # noqa: ASYNC110 - the mock tells nobody when it changes
        await asyncio.sleep(0.001)


async def get(url: str, path: str) -> Seen:
    return await ask(url, path, method="GET")


async def complete(url: str, prompt: list[int] | str, count: int = 4, **fields: Any) -> Seen:
    """A streamed completion that tells its usage."""
    body = {"prompt": prompt, "max_tokens": count, "stream": True, "stream_options": {"include_usage": True}}
    return await ask(url, "/v1/completions", body | fields)


async def chat(url: str, messages: list[tuple[str, str]], count: int = 4, **fields: Any) -> Seen:
    """A streamed chat that tells its usage."""
    said = [{"role": role, "content": content} for role, content in messages]
    body = {"messages": said, "max_tokens": count, "stream": True, "stream_options": {"include_usage": True}}
    return await ask(url, "/v1/chat/completions", body | fields)
