"""The bytes of what a path names, once or for as long as it grows; like ``tail -F``.

A followed file may be replaced by another (its old one is read to the end first) or cut back to nothing
(copied and truncated); what is there then is a new file. Waiting is the caller's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path

from radixbench.errors import LogError

CHUNK = 1 << 19
"""Bytes read at once."""


class Tail:
    """The files that one path named in turn. ``follow`` is asked at an end whether to go on, and waits as it likes.

    ``renewals`` counts the files after the first, ``error`` is what stopped the reading before its end.
    """

    def __init__(self, path: Path, follow: Callable[[], bool] | None = None) -> None:
        self._path = path
        self._follow = follow
        self._next: FileIO | None = None
        self.renewals = 0
        self.error: str | None = None

    def files(self) -> Iterator[Iterator[bytes]]:
        """One stream of chunks a file; read each to its end. Raises ``LogError`` if the first can't be opened."""
        self._next = _opened(self._path)
        while self._next is not None:
            with self._next as file:
                self._next = None
                yield self._chunks(file)

    def _chunks(self, file: FileIO) -> Iterator[bytes]:
        grows = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        while True:
            yield from self._rest(file)
            if self._follow is None or self._next is not None or not grows:
                return
            if not self._follow():
                self._follow = None  # what was written while it waited still counts
            self._look_again(file)

    def _rest(self, file: FileIO) -> Iterator[bytes]:
        try:
            while chunk := file.read(CHUNK):
                yield chunk
        except OSError as error:
            self.error = f"{error.strerror} after {file.tell()} bytes"

    def _look_again(self, file: FileIO) -> None:
        """Whether the path names another file by now, or this one was emptied; while it names none, this one counts."""
        held = os.fstat(file.fileno())
        try:
            named = self._path.stat()
            if os.path.samestat(held, named) and held.st_size >= file.tell():
                return
            self._next = FileIO(self._path)
        except OSError:
            return
        self.renewals += 1


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(path)
    except IsADirectoryError:
        raise LogError(f"{path}: is a directory", remedy="name the log files in it") from None
    except FileNotFoundError:
        raise LogError(
            f"{path}: doesn't exist", remedy="name a server's log, or `-` for standard input"
        ) from None
    except OSError as error:
        raise LogError(
            f"{path}: can't be read: {error.strerror}",
            remedy="check its permissions, or feed it to `radixbench logs -`",
        ) from None
