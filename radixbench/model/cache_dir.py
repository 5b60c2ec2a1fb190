"""Where converted models and file fingerprints are kept between runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from radixbench.errors import ModelError


def cache_dir() -> Path:
    """``$RADIXBENCH_CACHE``, else ``$XDG_CACHE_HOME/radixbench``, else ``~/.cache/radixbench``."""
    own = os.environ.get("RADIXBENCH_CACHE")
    if own:
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "radixbench"


@contextmanager
def published(target: Path) -> Iterator[Path]:
    """A fresh directory that becomes ``target`` when the block ends well, and vanishes otherwise.

    Readers see all of it or nothing. When two processes do the same, the first to finish wins and
    the other's work is dropped. Raises ``ModelError`` when there is no room or no permission.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".partial-", dir=target.parent, ignore_cleanup_errors=True
        ) as partial:
            room = Path(partial) / target.name
            room.mkdir()
            yield room
            if not target.exists():
                _rename(room, target)
    except OSError as error:
        raise ModelError(
            f"can't write {target}: {error.strerror or error}",
            remedy="make room or set RADIXBENCH_CACHE to another directory",
        ) from error


def _rename(room: Path, target: Path) -> None:
    try:
        room.rename(target)
    except OSError:
        if not target.exists():  # else another process was faster
            raise
