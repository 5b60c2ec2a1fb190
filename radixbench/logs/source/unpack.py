"""Compressed bytes to plain ones, member by member, of a damaged or cut file as much as can be had.

A decompressor that finds an error gives nothing of what it was fed last, so it is fed little at a time; this
also bounds what a malicious file can blow up. A small member is then read again byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple, Protocol

_PIECE = 256
_GATHERED = 1 << 20
_REPLAYED = 64 << 10


class Member(Protocol):
    """A decompressor of one gzip member or one zstd frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class Packing(NamedTuple):
    """A way to compress: the bytes a member may begin with, its decompressor, and what that raises."""

    name: str
    magics: tuple[bytes, ...]
    member: Callable[[], Member]
    error: type[Exception]


class Unpacker:
    """Reads one compressed file; ``problem`` says, as (code, text), what of it could not be read."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._member = packing.member()
        self._fed: list[bytes] = []
        self._fed_size = 0
        self._done = 0
        self._fault: str | None = None

    @property
    def problem(self) -> tuple[str, str] | None:
        """``cut-off``, ``damaged`` or ``trailing-bytes``, once ``plain`` has come to it."""
        if self._fault is None:
            return None
        what, read = self._packing.name, f"the {self._done} bytes of text before that are read"
        texts = {
            "cut-off": f"the {what} data breaks off; {read}",
            "damaged": f"the {what} data is damaged; {read}",
            "trailing-bytes": f"bytes that are no {what} data follow the log; {read}",
        }
        return self._fault, texts[self._fault]

    def plain(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """What ``chunks`` hold, up to the first damage; all of a chunk before the next one is asked for."""
        for chunk in chunks:
            yield from _gathered(self._texts(chunk))
            if self._fault is not None:
                return
        if not self._member.eof:
            self._fault = "cut-off"

    def _texts(self, chunk: bytes) -> Iterator[bytes]:
        for at in range(0, len(chunk), _PIECE):
            text = self._text(chunk[at : at + _PIECE])
            self._done += len(text)
            yield text
            if self._fault is not None:
                return

    def _text(self, piece: bytes) -> bytes:
        texts: list[bytes] = []
        while piece and self._fault is None:
            if self._member.eof:
                piece = piece.lstrip(b"\0")  # some writers pad what they write
                if piece:
                    self._begin_member(piece)
            else:
                texts.append(self._decompressed(piece))
                piece = self._member.unused_data if self._member.eof else b""
        return b"".join(texts)

    def _begin_member(self, piece: bytes) -> None:
        if any(magic.startswith(piece[: len(magic)]) for magic in self._packing.magics):
            self._member = self._packing.member()
            self._fed, self._fed_size = [], 0
        else:
            self._fault = "trailing-bytes"

    def _decompressed(self, piece: bytes) -> bytes:
        if self._fed_size < _REPLAYED:
            self._fed.append(piece)
        self._fed_size += len(piece)
        try:
            return self._member.decompress(piece)
        except self._packing.error:
            self._fault = "damaged"
            return self._until_damage() if self._fed_size <= _REPLAYED else b""

    def _until_damage(self) -> bytes:
        """What the last piece of a small member gives up to its fault."""
        *before, last = self._fed
        member = self._packing.member()
        for piece in before:
            member.decompress(piece)
        texts: list[bytes] = []
        with suppress(self._packing.error):
            texts.extend(member.decompress(last[n : n + 1]) for n in range(len(last)))
        return b"".join(texts)


def _gathered(texts: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in larger pieces."""
    held: list[bytes] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= _GATHERED:
            yield b"".join(held)
            held, size = [], 0
    if size:
        yield b"".join(held)
