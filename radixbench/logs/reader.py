"""A log as blocks of lines, from a file, a pipe or standard input, plain or compressed, whole or as it grows.

What a file is is told by its bytes, not by its name. A file that is no log is refused; of a damaged one
everything that can be read is read, and ``problems`` says what could not. Memory is flat, whatever
the length of the log, of a line, or of what a small file unpacks to.
"""

from __future__ import annotations

import codecs
import sys
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import zstandard

from radixbench.errors import LogError
from radixbench.logs.source.foreign import ENOUGH, refuse_foreign
from radixbench.logs.source.lines import LINE_LIMIT, LineCutter
from radixbench.logs.source.tail import CHUNK, Tail
from radixbench.logs.source.unpack import Packing, Unpacker

_GZIP = Packing("gzip", (b"\x1f\x8b",), lambda: zlib.decompressobj(wbits=31), zlib.error)
_ZSTD = Packing(
    "zstd",
    (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + n,)) + b"\x2a\x4d\x18" for n in range(16))),  # or a frame to skip
    lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
    zstandard.ZstdError,
)
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class LogReader:
    """The lines of one log. ``problems`` holds what was found wrong so far, as (code, text)."""

    def __init__(
        self,
        target: str | Path,
        *,
        stdin: BinaryIO | None = None,
        follow: Callable[[], bool] | None = None,
    ) -> None:
        """``target`` ``-`` is standard input. ``follow`` is asked whether to go on when a file's end is reached, and does the waiting."""
        self._stdin = (stdin or sys.stdin.buffer) if str(target) == "-" else None
        self._name = "standard input" if self._stdin else str(target)
        self._tail = Tail(Path(target), follow)
        self._patient = follow is not None
        self._cutter = LineCutter()
        self._unpackers: list[Unpacker] = []
        self._nuls = 0

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What was found wrong so far, as (code, text).

        Codes: ``cut-off``, ``damaged``, ``trailing-bytes``, ``nul-bytes``, ``read-error``, ``rotated``, ``long-lines``,
        ``invalid-utf8``.
        """
        found = dict(unpacker.problem for unpacker in self._unpackers if unpacker.problem is not None)
        if self._nuls:
            found["nul-bytes"] = f"{self._nuls} NUL bytes before the first line were passed over"
        if self._tail.error is not None:
            found["read-error"] = f"reading stopped: {self._tail.error}"
        if self._tail.renewals:
            found["rotated"] = (
                f"the file was replaced or emptied {_times(self._tail.renewals)} and read from its new start"
            )
        if self._cutter.cut_lines:
            found["long-lines"] = (
                f"{_line_count(self._cutter.cut_lines)} longer than {LINE_LIMIT >> 20} MB and cut off there"
            )
        if self._cutter.invalid_lines:
            found["invalid-utf8"] = (
                f"{_line_count(self._cutter.invalid_lines)} not all UTF-8; what is not reads as \ufffd"
            )
        return list(found.items())

    def blocks(self) -> Iterator[list[str]]:
        """Lists of whole lines in order, without their line ends; the last line of the log even if nothing ends it.

        Raises ``LogError`` for what can't be read or is no log and, at the end, for a log of blanks alone,
        unless it is followed.
        """
        blank = True
        for chunks in self._files():
            for lines in self._lines(chunks):
                blank = blank and not any(map(str.strip, lines))
                yield lines
        if blank and not self._patient:
            self._refuse_blank()

    def _refuse_blank(self) -> None:
        problems = [text for code, text in self.problems if code != "nul-bytes"]
        if problems:
            raise LogError(f"{self._name}: can't be read: {problems[0]}", remedy="copy or fetch it again")
        raise LogError(f"{self._name}: is empty", remedy="name the file that the server's output went to")

    def _files(self) -> Iterator[Iterator[bytes]]:
        if self._stdin is None:
            yield from self._tail.files()
        else:
            read = getattr(
                self._stdin, "read1", self._stdin.read
            )  # what a pipe holds by now, not a full chunk
            yield iter(lambda: read(CHUNK), b"")

    def _lines(self, chunks: Iterator[bytes]) -> Iterator[list[str]]:
        """The lines of one file."""
        for piece in self._text(self._unpacked(chunks)):
            lines = self._cutter.feed(piece)
            if lines:
                yield lines
        lines = self._cutter.finish()
        if lines:
            yield lines

    def _unpacked(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        head, chunks = _peeked(chunks)
        for packing in (_GZIP, _ZSTD):
            if head.startswith(packing.magics):
                unpacker = Unpacker(packing)
                self._unpackers.append(unpacker)
                return unpacker.plain(chunks)
        return chunks

    def _text(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """UTF-8 without a byte order mark; refuses what is no text."""
        head, data = _peeked(data)
        if head.startswith(b"\0"):
            head, data = _peeked(self._after_nuls(data))
        encoding = _UTF16.get(head[:2])
        if encoding is not None and head[2:4] != b"\0\0":
            yield from _transcoded(data, encoding)
            return
        refuse_foreign(head, self._name)
        if head.startswith(_UTF8_MARK):
            data = chain([next(data).removeprefix(_UTF8_MARK)], data)
        yield from data

    def _after_nuls(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """Where a log was copied and emptied under a server that writes on at its old place, there is a gap of NULs."""
        for piece in data:
            rest = piece.lstrip(b"\0")
            self._nuls += len(piece) - len(rest)
            if rest:
                yield rest
                yield from data


def _peeked(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to tell what they are, and everything."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= ENOUGH:
            break
    return head, chain([head], pieces)


def _transcoded(data: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """UTF-16, as PowerShell redirects write it, to UTF-8 without a byte order mark."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(next(data)).removeprefix("\ufeff").encode()
    for piece in data:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _line_count(number: int) -> str:
    return "1 line is" if number == 1 else f"{number} lines are"
