"""Server-sent events out of bytes, however the network cut them.

Works on bytes: a character of several bytes may be cut anywhere, and U+0085 or U+2028 inside a payload
are no line ends. Lines end in LF, CRLF or CR; an event ends at an empty line, and is given out with the
byte that ends it. Comments (``: ping``) and fields other than ``data`` are skipped. Costs a few C calls per
read, no loop over bytes, and no copy of a long event for each of its reads.
"""

from __future__ import annotations

from radixbench.errors import RadixbenchError

MAX_EVENT_BYTES = 64 << 20
"""An event longer than this is no event of a completion; reading on would only fill memory."""

_LF = 10


class EventStreamError(RadixbenchError):
    """The bytes are no stream of completion events."""


class SseParser:
    """Cuts a stream of bytes into the payloads of its events; bytes of an unfinished event are kept."""

    __slots__ = ("_after_cr", "_held", "_rest")

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._held = 0
        self._after_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads of all events that ``data`` completes, in order."""
        if self._held or self._after_cr or not data.startswith(b"data: ") or b"\r" in data:
            return self._any(self._lf_only(data))
        if data.find(b"\n") == len(data) - 2 and data[-1] == _LF:
            return [data[6:-2]]  # one event, whole, one line: nearly every read
        return self._any(data)

    def close(self) -> list[bytes]:
        """What the last bytes hold when the stream ends without the empty line."""
        rest, self._rest, self._held = b"".join(self._rest), [], 0
        return _payloads(rest)

    def _lf_only(self, data: bytes) -> bytes:
        """``data`` with every line end as LF. A CR at its end is one; the LF of a CRLF may then follow."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _any(self, data: bytes) -> list[bytes]:
        if b"\n" not in data:  # inside a line: nothing can end here
            self._keep(data)
            return []
        buffer = b"".join((*self._rest, data)) if self._rest else data
        complete, separator, rest = buffer.rpartition(b"\n\n")
        self._rest, self._held = [], 0
        self._keep(rest)
        return _payloads(complete) if separator else []

    def _keep(self, data: bytes) -> None:
        if data:
            self._rest.append(data)
            self._held += len(data)
        if self._held > MAX_EVENT_BYTES:
            raise EventStreamError(f"an event of more than {MAX_EVENT_BYTES >> 20} MiB never ended")


def _payloads(blocks: bytes) -> list[bytes]:
    payloads = []
    for block in blocks.split(b"\n\n"):
        if block.startswith(b"data: ") and b"\n" not in block:
            payloads.append(block[6:])
        elif (payload := _slow_payload(block)) is not None:
            payloads.append(payload)
    return payloads


def _slow_payload(block: bytes) -> bytes | None:
    """The data lines of a block joined by LF; ``None`` when it has none."""
    lines = [
        line[5:].removeprefix(b" ")
        for line in block.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if line.startswith(b"data:")
    ]
    return b"\n".join(lines) if lines else None
