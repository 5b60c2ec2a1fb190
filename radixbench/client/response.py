"""One HTTP response as its bytes come: the client's one door to the HTTP parser.

A response is read in pieces, each with the stamp of the read that brought it; several reads may be handed over at
once, since parsing them together costs less.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, TypeAlias

import httptools

from radixbench.client.fault import Fault, not_http

Pieces: TypeAlias = list[tuple[int, bytes]]
"""What reads brought, each with its stamp, in their order."""

_IDLE_S = 4.0
"""A connection idle for longer isn't used again: below the 5 s after which uvicorn and llama.cpp drop it."""


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
    def received(self, pieces: Pieces) -> None:
        """Pieces of the body: of each read everything of it that it brought."""

    @abstractmethod
    def ended(self, at_ns: int, fault: Fault | None) -> None:
        """The response is over; with a fault it isn't whole."""


class Response:
    """One response being parsed: what httptools calls back."""

    __slots__ = ("announced", "complete", "headers", "keep", "on_body", "parser", "pieces", "status")

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self.headers: dict[bytes, bytes] = {}
        self.status: int | None = None
        self.announced = self.complete = self.keep = False
        self.parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> Fault | None:
        """Parse what one read brought; the fault of bytes that are no HTTP."""
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            return not_http(error)
        return None

    def taken(self) -> bytes | None:
        """The body's bytes since the last call; ``None`` without any."""
        pieces = self.pieces
        if not pieces:
            return None
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        return body

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
