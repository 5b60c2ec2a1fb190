"""Talking to any OpenAI-compatible server: what is asked, and how it is put into bytes.

Prompts go out as token ids on ``/v1/completions``, greedy unless a turn samples, with the end-of-sequence
token ignored; messages go to ``/v1/chat/completions``. A request never raises for what a server or network
does. Control calls (health, info, flush) are small exchanges with a time limit of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import orjson

from radixbench.client.address import Address
from radixbench.client.answer import Answer
from radixbench.client.control import ControlCalls
from radixbench.client.fault import Fault, stalled, unreachable
from radixbench.client.flight import Flight, Source, Traffic
from radixbench.client.response import Head, Pieces, Receiver
from radixbench.client.whole import Reply, whole_answer
from radixbench.client.wire import Connection, Wire
from radixbench.clock import Clock, MonotonicClock
from radixbench.errors import UsageError
from radixbench.scenario.model import Endpoint, Engine
from radixbench.workloads.conversation import Message, TokenIds

__all__ = ["Flight", "ServerClient"]

_COMPLETIONS, _CHAT = "/v1/completions", "/v1/chat/completions"


class ServerClient(ControlCalls, Source):
    """One server, many requests: an asynchronous context manager around its connections.

    ``stall_timeout_s`` bounds the time without a new token on a stream; pings don't prolong it.
    ``keep_text`` keeps the text of streamed answers. ``model`` is the name sent along; ``None`` sends none.
    ``endpoint`` says where messages are answered (``chat``), ``engine`` how the server is flushed. ``traffic`` counts what
    streams have brought since the client was made.
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        stall_timeout_s: float = 300.0,
        keep_text: bool = False,
        clock: Clock | None = None,
        endpoint: Endpoint = "completions",
        engine: Engine = "bundled",
    ) -> None:
        address = Address.of(base_url)
        self.base_url = address.base_url
        self.model = model
        self.stall_timeout_s = stall_timeout_s
        self.keep_text = keep_text
        self.clock: Clock = MonotonicClock() if clock is None else clock
        self.endpoint = endpoint
        self.engine = engine
        self.traffic = Traffic()
        self.wire = Wire(address, self.clock)
        self._lines = _common_lines(address, api_key)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.wire.close()

    def flight(
        self,
        token_ids: TokenIds,
        max_tokens: int,
        *,
        temperature: float = 0.0,
        seed: int | None = None,
        messages: Sequence[Message] | None = None,
        body: Mapping[str, Any] | None = None,
        keep_text: bool = False,
    ) -> Flight:
        """A streamed request that isn't sent yet.

        ``messages`` go to the chat endpoint in place of the ids. ``body`` adds fields to the request, a cache salt
        for one; its fields win. ``keep_text`` keeps this answer's text, whatever the client does with others.
        """
        fields = {**_prompt(token_ids, messages), **_sampling(max_tokens, temperature, seed)}
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
        path = _COMPLETIONS if messages is None else _CHAT
        request = self._request("POST", path, self._document(fields, body))
        return Flight(self, request, keep_text=keep_text or self.keep_text)

    async def stream_completion(self, token_ids: TokenIds, max_tokens: int) -> Answer:
        """Send a prompt, read the streamed answer to its end."""
        return await self.flight(token_ids, max_tokens).run()

    async def generate(
        self, token_ids: TokenIds, max_tokens: int, *, body: Mapping[str, Any] | None = None
    ) -> Answer:
        """One answer in one piece, for warm-up and probes; carries the server's usage and token ids."""
        fields = {**_prompt(token_ids, None), **_sampling(max_tokens, 0.0, None), "stream": False}
        send_ns = self.clock.now_ns()
        reply = await self.exchange(
            "POST", _COMPLETIONS, limit_s=self.stall_timeout_s, body=self._document(fields, body)
        )
        return whole_answer(reply, send_ns, self.clock.now_ns())

    async def exchange(self, method: str, path: str, *, limit_s: float, body: bytes | None = None) -> Reply:
        """One small request and its whole answer, within ``limit_s``; never raises for a fault.

        One without a body changes nothing when it is repeated: where the server had just dropped the idle
        connection it was sent on, it is sent once more.
        """
        request = self._request(method, path, body)
        try:
            async with asyncio.timeout(limit_s):
                answer = await _Exchange().over(await self.wire.connection(), request)
                if isinstance(answer, Fault) and answer.unanswered and body is None:
                    answer = await _Exchange().over(await self.wire.connection(), request)
        except TimeoutError:
            answer = stalled(limit_s)
        except OSError as error:
            answer = unreachable(self.wire.address.place, error)
        return Reply(None, answer.message.encode()) if isinstance(answer, Fault) else answer

    def _document(self, fields: dict[str, Any], more: Mapping[str, Any] | None) -> bytes:
        if self.model is not None:
            fields["model"] = self.model
        return orjson.dumps(fields if more is None else {**fields, **more}, option=orjson.OPT_SERIALIZE_NUMPY)

    def _request(self, method: str, path: str, body: bytes | None) -> bytes:
        line = f"{method} {self.wire.address.prefix}{path} HTTP/1.1\r\n".encode()
        if body is None:
            return line + self._lines + (b"\r\n" if method == "GET" else b"Content-Length: 0\r\n\r\n")
        return b"%b%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
            line,
            self._lines,
            len(body),
            body,
        )


class _Exchange(Receiver):
    """A request whose answer is wanted in one piece."""

    def __init__(self) -> None:
        self._status: int | None = None
        self._pieces: list[bytes] = []
        self._answer: asyncio.Future[Reply | Fault] = asyncio.get_running_loop().create_future()

    async def over(self, connection: Connection, request: bytes) -> Reply | Fault:
        """Send on ``connection`` and wait for the end; the connection is dropped when that is cut short."""
        connection.send(request, self)
        try:
            return await self._answer
        except asyncio.CancelledError:
            connection.abort()
            raise

    def opened(self, head: Head) -> None:
        self._status = head.status
        if head.location is not None:
            self._pieces.append(f"redirected to {head.location} ".encode())

    def received(self, pieces: Pieces) -> None:
        self._pieces.extend(data for _, data in pieces)

    def ended(self, at_ns: int, fault: Fault | None) -> None:
        del at_ns
        if not self._answer.done():
            self._answer.set_result(fault or Reply(self._status, b"".join(self._pieces)))


def _prompt(token_ids: TokenIds, messages: Sequence[Message] | None) -> dict[str, Any]:
    if messages is not None:
        return {"messages": [{"role": message.role, "content": message.text} for message in messages]}
    return {"prompt": token_ids if isinstance(token_ids, list | tuple) else list(token_ids)}


def _sampling(max_tokens: int, temperature: float, seed: int | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "max_tokens": max_tokens,
        "temperature": temperature,
        "ignore_eos": True,
        "return_token_ids": True,
    }
    return fields if seed is None else {**fields, "seed": seed}


def _common_lines(address: Address, api_key: str | None) -> bytes:
    """The header lines of every request."""
    auth = address.basic_auth if api_key is None else f"Bearer {api_key}"
    if auth is not None and not (auth.isascii() and auth.isprintable()):
        raise UsageError(
            "the API key has characters that can't be sent", remedy="see whether it was copied whole"
        )
    lines = [
        f"Host: {address.authority}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "User-Agent: radixbench",
    ]
    if auth is not None:
        lines.append(f"Authorization: {auth}")
    return "".join(f"{line}\r\n" for line in lines).encode()
