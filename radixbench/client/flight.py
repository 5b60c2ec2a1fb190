"""One streamed request in flight, readable as an ``Answer`` at any moment of its life.

It never raises for what a server or network does: every fault becomes an answer with status ``failed`` and
one line that says what happened. A response that is whole stays whole, however its connection ends.
"""

from __future__ import annotations

import asyncio
from abc import ABC
from dataclasses import dataclass

from radixbench.client.answer import Answer
from radixbench.client.fault import Fault, stalled, unreachable
from radixbench.client.response import Head, Pieces, Receiver
from radixbench.client.sse import EventStreamError
from radixbench.client.stream import CompletionStream
from radixbench.client.whole import Reply, refusal
from radixbench.client.wire import Connection, Wire
from radixbench.clock import Clock
from radixbench.records import RequestStatus
from radixbench.units import NS_PER_S

_DRAIN_S = 1.0
_NO_STREAM = frozenset({"application/json", "text/html"})


@dataclass(slots=True)
class Traffic:
    """What streams have brought so far: reads, chunks with tokens, and chunks that shared a read with the one before."""

    reads: int = 0
    chunks: int = 0
    coalesced_chunks: int = 0

    def plus(self, other: Traffic, times: int) -> Traffic:
        """The sum with so many times ``other``, as a new value."""
        return Traffic(
            self.reads + times * other.reads,
            self.chunks + times * other.chunks,
            self.coalesced_chunks + times * other.coalesced_chunks,
        )


class Source(ABC):
    """What a flight needs of the client that sends it."""

    wire: Wire
    clock: Clock
    traffic: Traffic
    stall_timeout_s: float


class Flight(Receiver):
    """One streamed request: sent by ``run``, once."""

    __slots__ = (
        "_body",
        "_connection",
        "_end_ns",
        "_ended",
        "_fault",
        "_http_status",
        "_request",
        "_source",
        "_stream",
        "_timer",
        "send_ns",
    )

    def __init__(self, source: Source, request: bytes, *, keep_text: bool) -> None:
        self._source = source
        self._request = request
        self._stream = CompletionStream(keep_text=keep_text)
        self._http_status: int | None = None
        self._body: list[bytes] | None = None  # of a response that is no stream
        self._fault: Fault | None = None
        self._end_ns: int | None = None
        self._connection: Connection | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[None] | None = None
        self.send_ns = source.clock.now_ns()

    async def run(self) -> Answer:
        """Send the request and read the answer to its end; raises only when the task is cancelled."""
        source = self._source
        try:
            connection = await source.wire.connection()
        except OSError as error:
            self._fault = unreachable(source.wire.address.place, error)
            return self._settle()
        self._connection = connection
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        self.send_ns = source.clock.now_ns()
        connection.send(self._request, self)
        self._timer = loop.call_later(source.stall_timeout_s, self._watch)
        try:
            await self._ended
        except asyncio.CancelledError:
            source.wire.inbox.catch_up()
            if self._connection is not None:  # the answer isn't over: the server shall not go on with it
                self._connection.abort()
                self._connection = None
            raise
        finally:
            self._timer.cancel()
        return self._settle()

    def cancelled(self, why: str) -> Answer:
        """What has come so far, for a request that is given up; one that was whole stays completed."""
        return self._answer("completed", None) if self._stream.complete else self._answer("cancelled", why)

    def opened(self, head: Head) -> None:
        self._http_status = head.status
        if head.encoding not in {"", "identity"}:
            self._drop(Fault(f"the server compresses its answer ({head.encoding}) though asked not to"))
        elif head.status != 200 or head.content_type in _NO_STREAM:
            self._body = [f"redirected to {head.location}".encode()] if head.location else []

    def received(self, pieces: Pieces) -> None:
        if self._body is not None:
            self._body.extend(data for _, data in pieces)
            return
        stream, traffic = self._stream, self._source.traffic
        chunks, bearing = stream.chunks, stream.bearing
        try:
            stream.feed_all(pieces)
        except EventStreamError as error:
            self._drop(Fault(error.message))
        traffic.reads += len(pieces)
        new = stream.chunks - chunks
        traffic.chunks += new
        traffic.coalesced_chunks += new - (stream.bearing - bearing)
        if stream.error is not None:
            self._end_ns = stream.last_event_ns
            self._drop(None)
        elif stream.done and self._end_ns is None:
            self._end_ns = stream.last_event_ns
            self._await_end()

    def ended(self, at_ns: int, fault: Fault | None) -> None:
        if self._end_ns is None:
            self._end_ns = at_ns
        self._fault = fault
        if self._body is not None:
            self._fault = Fault(refusal(Reply(self._http_status, b"".join(self._body))))
        elif fault is None:
            try:
                self._stream.close(at_ns)
            except EventStreamError:
                self._fault = Fault("the stream ended in the middle of an event", broken_off=True)
        self._over()

    def _await_end(self) -> None:
        """All is said; let the response end properly, so that the connection can be used again."""
        if self._connection is not None and self._connection.reading:
            asyncio.get_running_loop().call_later(_DRAIN_S, self._drop, None)

    def _watch(self) -> None:
        """End the request if nothing new came for the stall time, else look again when it could be so.

        One timer per request and stall time, instead of one per read.
        """
        source = self._source
        source.wire.inbox.catch_up()
        if self._connection is None:  # that was its end
            return
        idle_ns = source.clock.now_ns() - (self._stream.last_progress_ns or self.send_ns)
        left_s = source.stall_timeout_s - idle_ns / NS_PER_S
        if left_s > 0:
            self._timer = asyncio.get_running_loop().call_later(left_s, self._watch)
        else:
            self._drop(stalled(source.stall_timeout_s))

    def _drop(self, fault: Fault | None) -> None:
        """Nothing more is wanted of a response that isn't over."""
        if self._ended is not None and not self._ended.done() and self._connection is not None:
            self._fault = fault
            self._connection.abort()
            self._over()

    def _over(self) -> None:
        self._connection = None
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _settle(self) -> Answer:
        stream = self._stream
        if stream.complete:
            return self._answer("completed", None)
        if stream.error is not None:
            return self._answer("failed", f"the server reported: {stream.error}")
        fault = self._fault or Fault("the stream ended without a finish reason or [DONE]")
        message = fault.message
        if fault.broken_off:
            message += f" after {stream.chunks} events with tokens"
        return self._answer("failed", message, refused=fault.refused)

    def _answer(self, status: RequestStatus, error: str | None, *, refused: bool = False) -> Answer:
        end_ns = self._source.clock.now_ns() if self._end_ns is None else self._end_ns
        return self._stream.answer(
            send_ns=self.send_ns,
            end_ns=end_ns,
            status=status,
            http_status=self._http_status,
            error=error,
            refused=refused,
        )
