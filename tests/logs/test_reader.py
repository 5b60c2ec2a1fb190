"""A log's bytes to lines: cut anywhere, packed any way, growing, damaged, or no log at all."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import LogError
from radixbench.logs.reader import LogReader
from radixbench.logs.source.lines import LINE_LIMIT, LineCutter

TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"])
    | st.sampled_from("\n\n\n\r\t\x85\u2028\u2029\x0b\x0c\x1c"),
    max_size=200,
).map(lambda text: f"a log of a server\n{text}")
"""Logs that hold something, with every character that some program takes for a line end."""

LOG = "".join(f"[2026-10-01 12:00:{n % 60:02}] Decode batch, #running-req: {n}\n" for n in range(20_000))


class Trickle(io.RawIOBase):
    """A pipe that hands out these pieces, one a read."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = iter([piece for piece in pieces if piece])

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # a writable buffer, of whatever kind
        piece = next(self._pieces, b"")
        buffer[: len(piece)] = piece
        return len(piece)


def lines_of(text: str) -> list[str]:
    """The physical lines of a text, by definition."""
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]


def read(data: bytes) -> tuple[list[str], list[tuple[str, str]]]:
    """Lines and problems of a log on standard input."""
    reader = LogReader("-", stdin=io.BytesIO(data))
    return [line for block in reader.blocks() for line in block], reader.problems


def cut(data: bytes, rng: random.Random, most: int = 6) -> list[bytes]:
    """The same bytes in pieces."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(most)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


SKIPPED_FRAME = struct.pack("<II", 0x184D2A53, 4) + b"note"

PACKINGS: dict[str, Callable[[list[bytes]], bytes]] = {
    "plain": b"".join,
    "with a byte order mark": lambda pieces: b"\xef\xbb\xbf" + b"".join(pieces),
    "gzip": lambda pieces: gzip.compress(b"".join(pieces)),
    "gzip of several members": lambda pieces: b"".join(map(gzip.compress, pieces)),
    "gzip with padding": lambda pieces: b"".join(gzip.compress(piece) + bytes(5) for piece in pieces),
    "zstd": lambda pieces: zstd(b"".join(pieces)),
    "zstd of several frames": lambda pieces: b"".join(map(zstd, pieces)),
    "zstd with frames to skip": lambda pieces: b"".join(SKIPPED_FRAME + zstd(piece) for piece in pieces),
    "behind a gap of NULs": lambda pieces: bytes(40) + b"".join(pieces),
    "UTF-16, little end first": lambda pieces: b"\xff\xfe" + b"".join(pieces).decode().encode("utf-16-le"),
    "UTF-16, big end first": lambda pieces: b"\xfe\xff" + b"".join(pieces).decode().encode("utf-16-be"),
}


@pytest.mark.parametrize("packing", PACKINGS)
@settings(deadline=None)
@given(text=TEXTS, seed=st.integers(0, 1 << 30))
def test_lines_are_those_of_the_text_however_it_arrives(packing: str, text: str, seed: int) -> None:
    """Packed any way, cut anywhere, only a newline ends a line."""
    rng = random.Random(seed)
    data = PACKINGS[packing](cut(text.encode(), rng))
    reader = LogReader("-", stdin=io.BufferedReader(Trickle(cut(data, rng, most=40))))
    assert [line for block in reader.blocks() for line in block] == lines_of(text)
    assert [code for code, _ in reader.problems] == (
        ["nul-bytes"] if packing == "behind a gap of NULs" else []
    )


@pytest.mark.parametrize("packing", ["plain", "gzip of several members", "zstd of several frames"])
def test_a_file_is_told_by_its_bytes(packing: str, tmp_path: Path) -> None:
    """Whatever it is called; blocks stay small and hold whole lines."""
    path = tmp_path / "server.txt"
    text = LOG * 4
    path.write_bytes(PACKINGS[packing](cut(text.encode(), random.Random(0))))
    blocks = list(LogReader(path).blocks())
    assert [line for block in blocks for line in block] == lines_of(text)
    assert max(sum(map(len, block)) for block in blocks) < 4 << 20
    assert len(blocks) > 1


def test_a_pipe_is_read_as_it_fills(tmp_path: Path) -> None:
    """A named pipe can't be rewound; a line is there as soon as it is written."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    seen = threading.Event()

    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(b"the first line of a log\nthe second ")
            seen.wait(10)
            pipe.write(b"line\n")

    writer = threading.Thread(target=write)
    writer.start()
    blocks = LogReader(path).blocks()
    assert next(blocks) == ["the first line of a log"]
    seen.set()
    assert next(blocks) == ["the second line"]
    assert list(blocks) == []
    writer.join()


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    """Once for the log, however many lines; a replacement character that was logged is none."""
    lines, problems = read(b"caf\xe9\nfine \xef\xbf\xbd\n\xff\xfe and \x80\nok\n")
    assert lines == ["caf\ufffd", "fine \ufffd", "\ufffd\ufffd and \ufffd", "ok"]
    assert problems == [("invalid-utf8", "2 lines are not all UTF-8; what is not reads as \ufffd")]


def test_a_stray_nul_is_no_reason_to_refuse_a_log() -> None:
    """A crash may leave some where a line was to be."""
    lines, _ = read(LOG.encode() + b"\0\0\0[2026-10-01 12:00:01] x\n")
    assert lines[-1] == "\0\0\0[2026-10-01 12:00:01] x"


def test_an_endless_line_is_cut_off() -> None:
    """It is one line of the limit's length, and said."""
    text = (
        b"first line of the log\n" + b"x" * (LINE_LIMIT + 3_000_000) + b"\nlast\n" + b"y" * (LINE_LIMIT + 1)
    )
    lines, problems = read(text)
    assert [len(line) for line in lines] == [21, LINE_LIMIT, 4, LINE_LIMIT]
    assert problems == [("long-lines", "2 lines are longer than 4 MB and cut off there")]


@settings(deadline=None)
@given(
    lines=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=40)),
    seed=st.integers(0, 1 << 30),
)
def test_where_a_line_is_cut_off_does_not_hang_on_the_chunks(lines: list[str], seed: int) -> None:
    """At the limit, no character cut in two, the lines around it whole."""
    limit, size = 32, 8
    data = "\n".join(lines).encode()
    cutter = LineCutter(limit)
    rng = random.Random(seed)
    found: list[str] = []
    while data:
        n = rng.randrange(1, size)
        found += cutter.feed(data[:n])
        data = data[n:]
    found += cutter.finish()
    expected = [line.encode()[:limit].decode(errors="ignore") for line in lines]
    assert found == (expected[:-1] if expected and not expected[-1] else expected)
    assert cutter.cut_lines == sum(len(line.encode()) > limit for line in lines)
    assert cutter.invalid_lines == 0


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
def test_memory_is_flat(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Whatever the log's length, its longest line, or what a small file unpacks to."""
    path = tmp_path / "server.log"
    path.write_bytes(pack(b"a log\n" + b"x" * (48 << 20) + b"\n" + LOG.encode() * 8))
    tracemalloc.start()
    try:
        assert sum(len(block) for block in LogReader(path).blocks()) == 2 + 8 * 20_000
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_a_file_that_breaks_off_is_read_up_to_there(pack: Callable[[bytes], bytes]) -> None:
    """And the reader says how far that was."""
    data = pack("".join(random.Random(0).choices("0123456789\n", k=400_000)).encode())
    whole, _ = read(data)
    lines, problems = read(data[: len(data) // 2])
    assert lines[:-1] == whole[: len(lines) - 1]
    assert 0 < len(lines) < len(whole)
    ((code, problem),) = problems
    assert code == "cut-off"
    kept = len("\n".join(lines))
    assert any(f"the {size} bytes of text before" in problem for size in (kept, kept + 1))


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
@pytest.mark.parametrize("length", [200, 400_000])
def test_a_damaged_file_is_read_up_to_the_damage(pack: Callable[[bytes], bytes], length: int) -> None:
    """Also if only its check sum shows it."""
    text = "".join(random.Random(0).choices("0123456789\n", k=length))
    data = bytearray(pack(text.encode()))
    data[-1 if length == 200 else len(data) * 3 // 4] ^= 0x55
    lines, problems = read(bytes(data))
    kept = len("\n".join(lines))
    assert kept >= length // 2
    assert [code for code, _ in problems] == ["damaged"]


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_what_follows_packed_data_is_passed_over(pack: Callable[[bytes], bytes]) -> None:
    """Such as a line appended by hand to a packed log."""
    lines, problems = read(pack(b"one\ntwo\n") + b"three\n")
    assert lines == ["one", "two"]
    assert [code for code, _ in problems] == ["trailing-bytes"]


@settings(deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"a log\n", b"BZh"]),
)
def test_no_bytes_break_it(data: bytes, head: bytes) -> None:
    """They are lines, or refused in one."""
    with suppress(LogError):
        assert all("\n" not in line for line in read(head + data)[0])


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """Missing, a directory, or a link to itself."""
    (tmp_path / "loop").symlink_to("loop")
    for path, message in (
        (tmp_path / "none.log", "doesn't exist"),
        (tmp_path, "is a directory"),
        (tmp_path / "loop", "can't be read: Too many levels of symbolic links"),
    ):
        with pytest.raises(LogError) as refusal:
            list(LogReader(str(path)).blocks())
        assert str(refusal.value).startswith(f"{path}: {message}; ")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's reason."""

    def refuse(path: Path) -> io.FileIO:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("radixbench.logs.source.tail.FileIO", refuse)  # root may read everything
    with pytest.raises(LogError, match="can't be read: Permission denied; check its permissions"):
        list(LogReader(tmp_path / "server.log").blocks())


def test_what_was_read_before_an_error_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network file system may fail in the middle."""
    path = tmp_path / "server.log"
    path.write_text(LOG)

    class Failing(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().read(1000) or b""

    monkeypatch.setattr("radixbench.logs.source.tail.FileIO", Failing)
    reader = LogReader(path)
    assert [line for block in reader.blocks() for line in block] == lines_of(LOG[:1000])
    assert reader.problems == [("read-error", "reading stopped: Input/output error after 1000 bytes")]


def test_a_reader_that_is_left_closes_its_file(tmp_path: Path) -> None:
    """No warning of an open file, which would fail this test."""
    path = tmp_path / "server.log"
    path.write_text(LOG * 4)
    blocks: Iterator[list[str]] = LogReader(path).blocks()
    next(blocks)
    del blocks
