"""An output is checked before the run that fills it: hours of measuring must not end at a full disk.

Nothing that exists is ever overwritten by a new run. Writing goes to a file beside the target that
takes its name only once it is complete and on the disk, so a crash leaves the former file whole.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from radixbench.errors import OutputError
from radixbench.units import Bytes, Tokens

SUFFIXES = (".json", ".json.gz", ".json.zst")

_MIB = 1 << 20
_LEAST_BYTES: Bytes = 16 * _MIB


def expected_bytes(requests: int, output_len: Tokens) -> Bytes:
    """What a capture of so many requests takes uncompressed, at most about.

    A request is some 600 bytes and 25 for each output token (arrival, count, id); steps of the server
    and telemetry add as much again. Twice that, since the former file stays until the new is complete.
    """
    return max(_LEAST_BYTES, 4 * requests * (600 + 25 * output_len))


def check_writable(path: Path, *, need_bytes: Bytes = _LEAST_BYTES) -> None:
    """Make sure that a new capture can be written to ``path``, making its folder if need be.

    Raises ``OutputError``: wrong suffix, the file exists, a folder that can't be made or written,
    fewer than ``need_bytes`` free on its disk.
    """
    if not path.name.endswith(SUFFIXES):
        raise OutputError(f"{path}: a capture's name ends in {', '.join(SUFFIXES)}", remedy="name it so")
    check_new(path)
    check_folder(path)
    free = shutil.disk_usage(path.parent).free
    if free < need_bytes:
        raise OutputError(
            f"{path}: needs about {_mib(need_bytes)} MiB and {_mib(free)} MiB are free",
            remedy="free some space or name another disk",
        )


def check_new(path: Path) -> None:
    """Raise ``OutputError`` if anything stands at ``path``, a broken link included."""
    if os.path.lexists(path):
        raise OutputError(f"{path}: exists and is not overwritten", remedy="name another file or remove it")


def refuse_same_file(*paths: Path) -> None:
    """Refuse two names of one file among inputs and outputs: the later would destroy the earlier."""
    seen: dict[Path, Path] = {}
    for path in paths:
        real = path.resolve()
        if real in seen:
            raise OutputError(f"{path}: is named twice among inputs and outputs", remedy="name another file")
        seen[real] = path


def check_folder(path: Path) -> None:
    """Make the folder that ``path`` lies in and prove that files can be made there, else ``OutputError``."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder", remedy="name a file")
    if _is_device(path):
        raise OutputError(f"{path}: is a device", remedy="name a file")
    with _explained(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".radixbench-"):
            pass


def _is_device(path: Path) -> bool:
    """To replace a name such as ``/dev/stdout`` is to break the machine; ``/dev/shm`` holds ordinary files."""
    parts = path.absolute().parts[1:3]
    return (parts[:1] == ("dev",) and parts[1:] != ("shm",)) or (parts[:1] == ("proc",) and path.exists())


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that becomes ``path`` when the block ends well, and vanishes when it doesn't.

    Where ``path`` is a link, what it leads to is replaced, and the link stays.
    """
    path = path.resolve() if path.is_symlink() else path
    part = path.with_name(f".{path.name}-{os.getpid()}.part")
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """The system's refusals as one line that names the path."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: can't be written: {error.strerror or error}",
            remedy="name a folder you may write to, on a disk with space",
        ) from error


def _sync_folder(folder: Path) -> None:
    """Bring the new name itself to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mib(size: Bytes) -> str:
    return f"{size / _MIB:,.0f}"
