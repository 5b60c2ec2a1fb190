"""Files that are no log: refused in one line that says what they are and what to do."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard

from radixbench.errors import LogError
from radixbench.logs.reader import LogReader


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, np.arange(9))
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("server.log", "a log\n")
    return file.getvalue()


FOREIGN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is empty; name the file that the server's output went to"),
    "blanks": (b" \n\r\n\t\n", "is empty"),
    "NULs": (bytes(5000), "is empty"),
    "an empty gzip file": (gzip.compress(b""), "is empty"),
    "a zip archive": (archive(), "is a zip archive (or .npz, .pt), not a log; unpack it"),
    "an npz file": (npz(), "is a zip archive (or .npz, .pt), not a log"),
    "xz": (b"\xfd7zXZ\x00\x00\x04", "is compressed with xz, not a log; feed it through `xz -dc` to"),
    "bzip2": (b"BZh91AY&SY\x00\x00", "is compressed with bzip2, not a log; feed it through `bzip2 -dc` to"),
    "tar": (b"server.log".ljust(257, b"\0") + b"ustar\x0000", "is a tar archive"),
    "a packed tar archive": (
        gzip.compress(b"server.log".ljust(257, b"\0") + b"ustar\x0000"),
        "is a tar archive",
    ),
    "PNG": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is a PNG image"),
    "SQLite": (b"SQLite format 3\x00\x10\x00", "is an SQLite database"),
    "GGUF": (b"GGUF\x03\x00\x00\x00", "is a GGUF model"),
    "safetensors": (
        b"\xd0\x10\x00\x00\x00\x00\x00\x00" + b'{"__metadata__":{}}' * 200,
        "is binary, not a log",
    ),
    "noise": (random.Random(0).randbytes(5000), "is binary, not a log"),
    "UTF-32": ("a log".encode("utf-32"), "is binary, not a log"),
    "a capture": (
        b'{\n "schema": "radixbench.capture/1",',
        "is a capture, not a log; read it with `radixbench report`",
    ),
    "a packed capture": (zstandard.compress(b'{"schema":"radixbench.capture/1"}'), "is a capture, not a log"),
    "a comparison": (b'{"schema":"radixbench.compare/1"}', "is what `radixbench compare --json` printed"),
    "half of a gzip header": (b"\x1f\x8b\x08", "can't be read: the gzip data breaks off"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_log_is_refused(name: str, tmp_path: Path) -> None:
    """In one line: what, where, and what to do."""
    data, message = FOREIGN[name]
    path = tmp_path / "server.log"
    path.write_bytes(data)
    with pytest.raises(LogError) as refusal:
        list(LogReader(path).blocks())
    assert str(refusal.value).startswith(f"{path}: {message}")
    assert refusal.value.remedy
    with pytest.raises(LogError, match=r"^standard input: "):
        list(LogReader("-", stdin=io.BytesIO(data)).blocks())
