"""``--records``: one JSON object per line for each recognised record, written as it is read."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radixbench.logs.record import LogRecord

STDOUT = "-"
_encode = json.JSONEncoder(allow_nan=False).encode


class RecordLines:
    """Writes each record that it is called with as a line; ``file`` leads where there are several logs."""

    def __init__(self, write: Callable[[str], object], file: str | None = None) -> None:
        self._write = write
        self._file = file

    def of(self, file: str) -> RecordLines:
        """The same for the records of one of several logs."""
        return RecordLines(self._write, file)

    def __call__(self, record: LogRecord) -> None:
        """Write one record."""
        document = record.document()
        if self._file is not None:
            document = {"file": self._file, **document}
        try:
            line = _encode(document)
        except ValueError:
            line = _encode(_finite(document))
        self._write(f"{line}\n")


@contextmanager
def record_lines(target: str | None, *, growing: bool = False) -> Iterator[RecordLines | None]:
    """What writes to the file ``--records`` names, or to stdout for ``-``; ``None`` without the flag.

    A file takes its name once it is complete, unless it is ``growing`` with a log that is followed.
    """
    if target is None:
        yield None
    elif target == STDOUT:
        yield RecordLines(_to_stdout_at_once if growing else sys.stdout.write)
        sys.stdout.flush()
    elif growing:
        with Path(target).open("w", encoding="ascii", buffering=1) as lines:
            yield RecordLines(lines.write)
    else:
        from radixbench.capture.output import replacing

        with replacing(Path(target)) as file:
            yield RecordLines(lambda line: file.write(line.encode()))


def _to_stdout_at_once(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    """The value with nothing in it that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
