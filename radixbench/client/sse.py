"""Server-sent events out of bytes, however the network cut them.

Works on bytes: a character of several bytes may be cut anywhere, and U+0085 or U+2028 inside a payload
are no line ends. Lines end in LF, CRLF or CR; an event ends at an empty line. Comments (``: ping``) and
fields other than ``data`` are skipped. Costs a few C calls per read, no loop over bytes.
"""

from __future__ import annotations

from radixbench.errors import RadixbenchError

MAX_EVENT_BYTES = 64 << 20
"""An event longer than this is no event of a completion; reading on would only fill memory."""


class EventStreamError(RadixbenchError):
    """The bytes are no stream of completion events."""


class SseParser:
    """Cuts a stream of bytes into the payloads of its events; bytes of an unfinished event are kept."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads of all events that ``data`` completes, in order."""
        buffer = self._rest + data if self._rest else data
        held = b""
        if b"\r" in buffer:
            if buffer.endswith(b"\r"):  # perhaps the first half of a CRLF
                buffer, held = buffer[:-1], b"\r"
            buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        complete, separator, rest = buffer.rpartition(b"\n\n")
        self._rest = rest + held
        if len(self._rest) > MAX_EVENT_BYTES:
            raise EventStreamError(f"an event of more than {MAX_EVENT_BYTES >> 20} MiB never ended")
        return _payloads(complete) if separator else []

    def close(self) -> list[bytes]:
        """What the last bytes hold when the stream ends without the empty line."""
        rest, self._rest = self._rest, b""
        return _payloads(rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


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
