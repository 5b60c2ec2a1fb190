"""What was really written, and when it was due: the truth a client's stamps are held against.

Stamps are ``CLOCK_MONOTONIC`` nanoseconds taken right before the bytes go into the socket, so that no reader on this
host can have seen them earlier. ``due_ns`` lies on the same axis.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import IO, Any

import numpy as np
import orjson

from radixbench.mock.settings import MockSettings

Json = dict[str, Any]


class RequestWrites:
    """The writes of one response. ``outcome`` is ``running``, ``answered``, ``refused``, ``cut`` or ``vanished``.

    ``buffered`` counts writes that a slow reader made wait behind the socket: their stamps are when they were handed
    over.
    """

    __slots__ = (
        "buffered",
        "bytes",
        "cached_tokens",
        "due_ns",
        "id",
        "number",
        "outcome",
        "path",
        "prompt_tokens",
        "received_ns",
        "tokens",
        "write_ns",
    )

    def __init__(self, number: int, path: str, received_ns: int) -> None:
        self.number = number
        self.path = path
        self.received_ns = received_ns
        self.id: str | None = None
        self.prompt_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.outcome = "running"
        self.buffered = 0
        self.due_ns, self.write_ns = array("q"), array("q")
        self.tokens, self.bytes = array("q"), array("q")

    def add(self, due_ns: int, write_ns: int, tokens: int, size: int) -> None:
        """One write."""
        self.due_ns.append(due_ns)
        self.write_ns.append(write_ns)
        self.tokens.append(tokens)
        self.bytes.append(size)

    def document(self) -> Json:
        """All of it, ready for JSON; the four columns have one entry for each write."""
        return {
            "number": self.number,
            "id": self.id,
            "path": self.path,
            "received_ns": self.received_ns,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "outcome": self.outcome,
            "buffered": self.buffered,
            "due_ns": self.due_ns.tolist(),
            "write_ns": self.write_ns.tolist(),
            "tokens": self.tokens.tolist(),
            "bytes": self.bytes.tolist(),
        }


class WriteLog:
    """The latest requests and, if asked for, all of them as lines of a file."""

    def __init__(self, settings: MockSettings, file: IO[bytes] | None = None) -> None:
        self._kept: deque[RequestWrites] = deque(maxlen=settings.keep_requests)
        self._file = file
        self.dropped = 0
        """Requests that are no longer kept in memory."""
        self.fault: str | None = None
        """Why the file is incomplete."""

    def open(self, number: int, path: str, received_ns: int) -> RequestWrites:
        """A new request's writes, kept from now on."""
        if len(self._kept) == self._kept.maxlen:
            self.dropped += 1
        writes = RequestWrites(number, path, received_ns)
        self._kept.append(writes)
        return writes

    def close(self, writes: RequestWrites, outcome: str) -> None:
        """The response has ended."""
        writes.outcome = outcome
        if self._file is None or self.fault is not None:
            return
        try:
            self._file.write(orjson.dumps(writes.document()) + b"\n")
        except OSError as error:
            self.fault = f"the write log ends early: {error.strerror}"

    def clear(self) -> None:
        """Forget all requests that have ended; those under way stay."""
        running = [writes for writes in self._kept if writes.outcome == "running"]
        self._kept.clear()
        self._kept.extend(running)
        self.dropped = 0

    def document(self) -> Json:
        """Every request in the order of arrival, and how late the writes were."""
        kept = list(self._kept)
        return {
            "requests": [writes.document() for writes in kept],
            "dropped": self.dropped,
            "write_log_fault": self.fault,
            "lateness": lateness(kept),
        }


def lateness(requests: list[RequestWrites]) -> Json | None:
    """How long after they were due writes were made, in nanoseconds; ``None`` without any."""
    late = [
        np.frombuffer(writes.write_ns, dtype=np.int64) - np.frombuffer(writes.due_ns, dtype=np.int64)
        for writes in requests
        if writes.due_ns
    ]
    if not late:
        return None
    values = np.concatenate(late)
    p50, p90, p99 = np.percentile(values, (50, 90, 99)).tolist()
    return {
        "writes": len(values),
        "p50_ns": round(p50),
        "p90_ns": round(p90),
        "p99_ns": round(p99),
        "max_ns": int(values.max()),
    }
