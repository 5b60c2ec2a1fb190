"""Files that are no text log, told by their first bytes, and what to do with each."""

from __future__ import annotations

import re

from radixbench.errors import LogError

ENOUGH = 8
"""Bytes that tell most kinds apart; more are looked at where there are more."""

_START = 16
_LOOK = 64 << 10
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x07\x1b"))
_MOST_CONTROL = 0.01
_FEW_CONTROL = 8

_UNPACK = "unpack it and name the log file inside"
_SERVER_LOG = "name the file that the server's output went to"
_THROUGH = "feed it through `{}` to `radixbench logs -`"

_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "is a zip archive (or .npz, .pt)", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", _UNPACK),
    (b"\xfd7zXZ\x00", "is compressed with xz", _THROUGH.format("xz -dc")),
    (b"BZh", "is compressed with bzip2", _THROUGH.format("bzip2 -dc")),
    (b"\x04\x22\x4d\x18", "is compressed with lz4", _THROUGH.format("lz4 -dc")),
    (b"LPKSHHRH", "is a journal of systemd", _THROUGH.format("journalctl -o short-iso --file")),
    (b"\x89PNG", "is a PNG image", _SERVER_LOG),
    (b"\xff\xd8\xff", "is a JPEG image", _SERVER_LOG),
    (b"%PDF-", "is a PDF document", _SERVER_LOG),
    (b"SQLite format 3\x00", "is an SQLite database", _SERVER_LOG),
    (b"\x93NUMPY", "is a NumPy array", _SERVER_LOG),
    (b"GGUF", "is a GGUF model", _SERVER_LOG),
    (b"\x7fELF", "is a program", _SERVER_LOG),
)
_TAR = (257, b"ustar")
_OURS = re.compile(rb'\s*\{\s*"schema"\s*:\s*"radixbench\.([a-z]{1,20})/')
_BZIP2_BLOCK = b"1AY&SY"


def refuse_foreign(head: bytes, name: str) -> None:
    """Raises ``LogError`` if a file that begins with ``head`` is no log; text in whatever encoding passes."""
    found = _known(head) or _ours(head) or _binary(head)
    if found is not None:
        what, remedy = found
        raise LogError(f"{name}: {what}, not a log", remedy=remedy)


def _known(head: bytes) -> tuple[str, str] | None:
    for magic, what, remedy in _MAGIC:
        if head.startswith(magic) and (magic != b"BZh" or head[4:10] == _BZIP2_BLOCK):
            return what, remedy
    at, word = _TAR
    return ("is a tar archive", _UNPACK) if head[at:].startswith(word) else None


def _ours(head: bytes) -> tuple[str, str] | None:
    match = _OURS.match(head)
    if match is None:
        return None
    kind = match[1].decode()
    if kind == "capture":
        return "is a capture", "read it with `radixbench report`"
    return f"is what `radixbench {kind} --json` printed", _SERVER_LOG


def _binary(head: bytes) -> tuple[str, str] | None:
    """A NUL at the very start or many control characters; a stray one, such as a crash leaves, is no reason."""
    looked = head[:_LOOK]
    control = len(looked) - len(looked.translate(None, _CONTROL))
    if b"\x00" in head[:_START] or control > max(_FEW_CONTROL, _MOST_CONTROL * len(looked)):
        return "is binary", _SERVER_LOG
    return None
