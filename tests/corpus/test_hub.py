"""Data sets through the ``datasets`` library: local ones really read, a hub that isn't there in one line."""

from __future__ import annotations

import socket
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from radixbench.corpus.conversations import load_conversations
from radixbench.errors import CorpusError
from tests.corpus.files import lines, said


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library keeps its caches here."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def _parquet(path: Path, count: int) -> Path:
    rows = [said("a", "b", "c", "d", own=f"p{number}") for number in range(count)]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_a_parquet_file(tmp_path: Path) -> None:
    """Rows are items; nested columns are turns."""
    chats, record = load_conversations(_parquet(tmp_path / "a.parquet", 3))
    assert [chat.id for chat in chats] == ["p0", "p1", "p2"]
    assert [message.text for message in chats[0].messages] == ["a", "b", "c", "d"]
    assert (record.items_used, record.format) == (3, "sharegpt")


def test_a_folder_of_lines_with_splits(tmp_path: Path) -> None:
    """A split is chosen, train where none is; the others are named."""
    folder = tmp_path / "set"
    folder.mkdir()
    lines(folder / "train.jsonl", [said("a", "b", own="t")] * 2)
    lines(folder / "test.jsonl", [said("a", "b", own="e")])
    chats, record = load_conversations(None, dataset=str(folder))
    assert [chat.id for chat in chats] == ["t", "t"]
    assert "split train of train, test" in record.notes
    assert record.sha256 is None
    chats, _ = load_conversations(None, dataset=str(folder), split="test")
    assert [chat.id for chat in chats] == ["e"]
    with pytest.raises(CorpusError, match=r"can't be opened: .*; check its split"):
        load_conversations(None, dataset=str(folder), split="nope")


def test_a_limit_of_a_stream(tmp_path: Path) -> None:
    """A split is streamed, not loaded."""
    chats, _ = load_conversations(_parquet(tmp_path / "a.parquet", 5), limit=2)
    assert len(chats) == 2


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    """Whatever the library raises."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(CorpusError, match=r"a\.parquet: can't be (opened|read)"):
        load_conversations(tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="doesn't exist; check the path"):
        load_conversations(None, dataset="./nowhere")


def test_a_hub_that_cannot_be_reached_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is looked up in vain for half a minute, and the way out is named."""

    def refuse(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(
        CorpusError, match=r"data set owner/name: the hub can't be reached: .*; give a local file"
    ) as told:
        load_conversations(None, dataset="owner/name")
    assert "\n" not in str(told.value)


def test_a_name_that_cannot_be_one_is_refused() -> None:
    """Before anything is asked."""
    with pytest.raises(CorpusError, match="data set a/b/c/d: isn't on the hub"):
        load_conversations(None, dataset="a/b/c/d")
