"""Talking to any OpenAI-compatible server: the client's one door to aiohttp.

Prompts go out as token ids on ``/v1/completions``, greedy, with the end-of-sequence token ignored.
A request never raises for what a server or network does: every fault becomes an ``Answer`` with status
``failed`` and one line that says what happened. Bytes are stamped when they are read, before anything is
parsed. Control calls (health, info, flush) are small exchanges with a time limit of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace, TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import aiohttp
import orjson

from radixbench.client.answer import Answer, one_line
from radixbench.client.control import ControlCalls
from radixbench.client.sse import EventStreamError
from radixbench.client.stream import CompletionStream
from radixbench.client.whole import Reply, refusal, whole_answer
from radixbench.clock import Clock, MonotonicClock
from radixbench.errors import UsageError
from radixbench.records import RequestStatus
from radixbench.units import NS_PER_S

_DRAIN_S = 1.0
_IDLE_CONNECTION_S = 4.0  # below the 5 s after which uvicorn drops an idle connection


class ServerClient(ControlCalls):
    """One server, many requests: an asynchronous context manager around one pool of connections.

    ``stall_timeout_s`` bounds the time without a new token on a stream; pings don't prolong it.
    ``keep_text`` keeps the text of streamed answers. ``model`` is the name sent along; ``None`` sends none.
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
    ) -> None:
        self.base_url = _checked(base_url)
        self.model = model
        self.stall_timeout_s = stall_timeout_s
        self.keep_text = keep_text
        self.clock: Clock = MonotonicClock() if clock is None else clock
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(_stamp_send)
        trace.on_connection_reuseconn.append(_stamp_send)
        self._session = aiohttp.ClientSession(
            headers=self._headers,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_CONNECTION_S),
            trace_configs=[trace],
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The pool of connections; only inside ``async with``."""
        assert self._session is not None, "a ServerClient is used inside `async with`"
        return self._session

    async def generate(self, token_ids: Sequence[int], max_tokens: int) -> Answer:
        """One answer in one piece, for warm-up and probes; carries the server's usage and token ids."""
        send_ns = self.clock.now_ns()
        reply = await self.exchange(
            "POST",
            "/v1/completions",
            limit_s=self.stall_timeout_s,
            body=self._request(token_ids, max_tokens, stream=False),
        )
        return whole_answer(reply, send_ns, self.clock.now_ns())

    def flight(self, token_ids: Sequence[int], max_tokens: int) -> Flight:
        """A streamed request that isn't sent yet."""
        return Flight(self, self._request(token_ids, max_tokens, stream=True))

    async def stream_completion(self, token_ids: Sequence[int], max_tokens: int) -> Answer:
        """Send a prompt, read the streamed answer to its end."""
        return await self.flight(token_ids, max_tokens).run()

    def _request(self, token_ids: Sequence[int], max_tokens: int, *, stream: bool) -> bytes:
        body: dict[str, Any] = {
            "prompt": token_ids,
            "max_tokens": max_tokens,
            "temperature": 0,
            "ignore_eos": True,
            "return_token_ids": True,
            "stream": stream,
        }
        if stream:
            body["stream_options"] = {"include_usage": True}
        if self.model is not None:
            body["model"] = self.model
        return orjson.dumps(body)

    async def exchange(self, method: str, path: str, *, limit_s: float, body: bytes | None = None) -> Reply:
        """One small request and its whole answer, within ``limit_s``; never raises for a fault."""
        timeout = aiohttp.ClientTimeout(total=limit_s)
        try:
            async with self.session.request(
                method, self.base_url + path, data=body, timeout=timeout
            ) as response:
                return Reply(response.status, await response.read())
        except _FAULTS as error:
            return Reply(None, _explain(error, limit_s).message.encode())


class Flight:
    """One streamed request: sent by ``run``, readable as an ``Answer`` at any moment of its life."""

    __slots__ = ("_body", "_client", "_end_ns", "_http_status", "_stream", "_timer", "send_ns")

    def __init__(self, client: ServerClient, body: bytes) -> None:
        self._client = client
        self._body = body
        self._stream = CompletionStream(keep_text=client.keep_text)
        self._http_status: int | None = None
        self._end_ns: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.send_ns = client.clock.now_ns()

    async def run(self) -> Answer:
        """Send the request and read the answer to its end; raises only when the task is cancelled."""
        self.sent()
        fault: _Fault | None = None
        try:
            async with asyncio.timeout(None) as limit:
                self._watch(limit)
                fault = await self._exchange()
        except EventStreamError as error:
            fault = _Fault(error.message)
        except _FAULTS as error:
            fault = _explain(error, self._client.stall_timeout_s)
        finally:
            if self._timer is not None:
                self._timer.cancel()
        return self._settle(fault)

    async def _exchange(self) -> _Fault | None:
        """Request and response; the fault of a response that is no stream."""
        client = self._client
        async with client.session.post(
            f"{client.base_url}/v1/completions", data=self._body, trace_request_ctx=self
        ) as response:
            self._http_status = response.status
            if response.status != 200 or response.content_type in {"application/json", "text/html"}:
                return _Fault(refusal(Reply(response.status, await response.read())))
            await self._read(response.content)
            return None

    def _watch(self, limit: asyncio.Timeout) -> None:
        """End the request if nothing new came for the stall time, else look again when it could be so.

        One timer per request and stall time, instead of one per read.
        """
        loop = asyncio.get_running_loop()
        idle_ns = self._client.clock.now_ns() - (self._stream.last_progress_ns or self.send_ns)
        left_s = self._client.stall_timeout_s - idle_ns / NS_PER_S
        if left_s > 0:
            self._timer = loop.call_later(left_s, self._watch, limit)
        else:
            limit.reschedule(loop.time())

    def sent(self) -> None:
        """The request is being written now."""
        self.send_ns = self._client.clock.now_ns()

    def cancelled(self, why: str) -> Answer:
        """What has come so far, for a request that is given up; one that was whole stays completed."""
        return self._answer("completed", None) if self._stream.complete else self._answer("cancelled", why)

    async def _read(self, content: aiohttp.StreamReader) -> None:
        now_ns, read, stream = self._client.clock.now_ns, content.readany, self._stream
        while not (stream.done or stream.error):
            data = await read()
            at_ns = now_ns()
            if not data:
                stream.close(at_ns)
                break
            stream.feed(data, at_ns)
        self._end_ns = now_ns()
        if not content.at_eof() and stream.complete:  # let the connection end cleanly, to be used again
            async with asyncio.timeout(_DRAIN_S):
                await content.readany()

    def _settle(self, fault: _Fault | None) -> Answer:
        stream = self._stream
        if stream.complete:
            return self._answer("completed", None)
        if stream.error is not None:
            return self._answer("failed", f"the server reported: {stream.error}")
        if fault is None:
            fault = _Fault("the stream ended without a finish reason or [DONE]")
        if fault.broken_off:
            fault = _Fault(f"{fault.message} after {stream.chunks} events with tokens")
        return self._answer("failed", fault.message, refused=fault.refused)

    def _answer(self, status: RequestStatus, error: str | None, *, refused: bool = False) -> Answer:
        end_ns = self._client.clock.now_ns() if self._end_ns is None else self._end_ns
        return self._stream.answer(
            send_ns=self.send_ns,
            end_ns=end_ns,
            status=status,
            http_status=self._http_status,
            error=error,
            refused=refused,
        )


def _checked(url: str) -> str:
    """The address without a trailing ``/v1``; ``UsageError`` unless it names a host over HTTP."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, half a bracket
        usable = False
    if not usable:
        raise UsageError(f"{url!r} is no server address", remedy="give one like http://127.0.0.1:30000")
    return url.rstrip("/").removesuffix("/v1")


class _Fault(NamedTuple):
    """Why there is no answer; ``refused``: nobody listens; ``broken_off``: the connection was lost."""

    message: str
    refused: bool = False
    broken_off: bool = False


_FAULTS = (aiohttp.ClientError, OSError, TimeoutError)


def _explain(error: Exception, limit_s: float) -> _Fault:
    """A fault of server or network in one line."""
    if isinstance(error, aiohttp.ClientConnectorError):
        place = f"{error.host}:{error.port}"
        if isinstance(error.os_error, ConnectionRefusedError):
            return _Fault(f"connection refused by {place}", refused=True)
        return _Fault(one_line(f"can't connect to {place}: {error.os_error}"))
    if isinstance(error, TimeoutError):
        message = f"stalled: nothing new came for {limit_s:g} s"
    elif isinstance(error, aiohttp.ServerDisconnectedError):
        message = "the server closed the connection before it answered"
    elif isinstance(error, aiohttp.ClientResponseError):
        message = f"not an HTTP answer: {error.message}"
    elif isinstance(error, aiohttp.ClientPayloadError | ConnectionError | aiohttp.ClientConnectionError):
        return _Fault("the connection broke off", broken_off=True)
    else:
        message = f"{type(error).__name__}: {error}"
    return _Fault(one_line(message))


async def _stamp_send(session: aiohttp.ClientSession, context: SimpleNamespace, params: object) -> None:
    """A connection is there and the request is written next: that is the moment of sending."""
    del session, params
    if isinstance(context.trace_request_ctx, Flight):
        context.trace_request_ctx.sent()
