"""Conversations from files: what is used, what is dropped and why, and what is said of them."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from radixbench.corpus.conversations import ConversationReader, load_conversations
from radixbench.corpus.traces import load_trace
from radixbench.errors import CorpusError
from radixbench.workloads.chats import asked_at
from tests.corpus.files import array, lines, messages, row, said, wheel

GOOD = said("hi", "hello", "why?", "because", own="g")


def test_a_six_turn_item_is_three_requests(tmp_path: Path) -> None:
    """One request for each answer, each with everything said before."""
    (chat,), record = load_conversations(array(tmp_path / "a.json", [said("1", "2", "3", "4", "5", "6")]))
    assert asked_at(chat) == (1, 3, 5)
    assert (record.format, record.items_read, record.items_used, record.dropped) == ("sharegpt", 1, 1, {})
    assert record.sha256 is not None
    assert "requests per conversation: 3: 1" in record.notes


def test_what_is_dropped_is_counted_by_reason(tmp_path: Path) -> None:
    """Every item read is either used or dropped, for one reason."""
    items = [GOOD, said("a"), said("a", None), said("b", None), GOOD, {"text": "x"}]
    chats, record = load_conversations(array(tmp_path / "a.json", items))
    assert [chat.id for chat in chats] == ["g", "g"]
    assert record.dropped == {
        "a turn's text is null or no string": 2,
        "no question with a reply in it": 1,
        "neither conversations nor messages nor prompt in it": 1,
    }
    assert record.items_read == record.items_used + sum(record.dropped.values())


def test_mends_are_notes(tmp_path: Path) -> None:
    """What was changed in an item is said with how many were."""
    items = [said("late", "a", "b", first="gpt"), said("late", "a", "b", first="gpt"), said("a", "b", "c")]
    _, record = load_conversations(array(tmp_path / "a.json", items))
    assert any(note.startswith("2 conversations: began with a reply") for note in record.notes)
    assert "1 conversation: the last question has no reply: left out" in record.notes


def test_an_array_cut_off_inside_a_wheel(tmp_path: Path) -> None:
    """Read to its last whole item, and that is said; the file inside is named."""
    path = wheel(tmp_path / "sharegpt.whl", [GOOD] * 5, cut=30)
    chats, record = load_conversations(path)
    assert len(chats) == 4
    assert record.name == f"{path}:pkg/data/ShareGPT.json"
    assert any("the array breaks off" in note and "whole item, number 4" in note for note in record.notes)


def test_lines_that_are_no_json_are_dropped(tmp_path: Path) -> None:
    """One broken line costs one item."""
    _, record = load_conversations(lines(tmp_path / "a.jsonl", [GOOD, "{oops", GOOD]))
    assert (record.items_used, record.dropped) == (2, {"a line that is no JSON": 1})


def test_mixed_shapes_are_told_apart_item_by_item(tmp_path: Path) -> None:
    """A file may hold all of them; a format asked for leaves the others out."""
    items = [GOOD, messages(("user", "a"), ("assistant", "b")), {"prompt": "p", "output_len": 3}]
    path = lines(tmp_path / "a.jsonl", items)
    chats, record = load_conversations(path)
    assert (len(chats), record.format) == (3, "custom+openai+sharegpt")
    assert "shapes are mixed: 1 custom, 1 openai, 1 sharegpt" in record.notes
    chats, record = load_conversations(path, format="openai")
    assert (len(chats), record.format) == (1, "openai")
    assert record.dropped == {
        "sharegpt, while openai was asked for": 1,
        "custom, while openai was asked for": 1,
    }


def test_a_limit_ends_the_reading(tmp_path: Path) -> None:
    """Items behind it aren't even decoded."""
    path = lines(tmp_path / "a.jsonl", [GOOD, said("a"), GOOD, GOOD])
    chats, record = load_conversations(path, limit=2)
    assert (len(chats), record.items_read) == (2, 3)
    assert "read up to the first 2 usable conversations" in record.notes


def test_a_packed_file_that_breaks_off_says_so(tmp_path: Path) -> None:
    """The conversations before the break are used."""
    whole = lines(tmp_path / "a.jsonl", [said("q", "x" * 5000)] * 50).read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(whole)[:-40])
    chats, record = load_conversations(tmp_path / "a.jsonl.gz")
    assert chats
    assert any("the gzip data breaks off" in note for note in record.notes)


def test_a_prompt_head_with_the_time_in_it_is_noted(tmp_path: Path) -> None:
    """System prompts that differ only in a date end all sharing there."""
    items = [
        messages(("system", f"Be kind. Now: 2026-10-{day}. Go."), ("user", "a"), ("assistant", "b"))
        for day in (16, 17)
    ]
    _, record = load_conversations(lines(tmp_path / "a.jsonl", items))
    assert any(note.startswith("prompt head changes over time at char 14") for note in record.notes)


def test_how_much_of_the_prompts_repeats(tmp_path: Path) -> None:
    """Characters of a prompt that were in the prompt before it, over all prompts' characters."""
    _, record = load_conversations(array(tmp_path / "a.json", [said("aaaa", "bb", "cc", "d")]))
    assert any(note.startswith("33.3% of the prompts' characters") for note in record.notes)


def test_requests_are_counted_in_classes(tmp_path: Path) -> None:
    """Few have many turns; classes stay readable."""
    items = [said(*["x"] * (2 * turns)) for turns in (1, 1, 4, 6, 40)]
    _, record = load_conversations(array(tmp_path / "a.json", items))
    assert "requests per conversation: 1: 2, 4: 1, 5-8: 1, 33 or more: 1" in record.notes


def test_a_file_without_a_conversation_is_refused(tmp_path: Path) -> None:
    """The reasons are in the one line, and what would be read."""
    with pytest.raises(
        CorpusError, match=r"a\.json: no conversation in it: 2 x no question with a reply in it; "
    ):
        load_conversations(array(tmp_path / "a.json", [said("a"), said("b")]))
    with pytest.raises(CorpusError, match="no conversation in it: it has no whole item"):
        load_conversations(array(tmp_path / "b.json", []))


def test_one_source_and_the_right_kind(tmp_path: Path) -> None:
    """A file or a data set; a trace has no text."""
    with pytest.raises(CorpusError, match="name one of the two"):
        load_conversations(None)
    with pytest.raises(CorpusError, match="name one of the two"):
        load_conversations(tmp_path, dataset="a/b")
    with pytest.raises(CorpusError, match="mooncake is a trace without text"):
        load_conversations(tmp_path, format="mooncake")


def test_a_reader_keeps_nothing(tmp_path: Path) -> None:
    """Conversations can be taken one by one, with the account at any time."""
    reader = ConversationReader(lines(tmp_path / "a.jsonl", [GOOD] * 3))
    assert next(iter(reader)).chat.id == "g"
    assert reader.record().items_read == 1


WHOLE = json.dumps(
    [said("hi", "hello", "why?", "because"), messages(("user", "a"), ("assistant", "b"))] * 3
).encode()
LINED = b"\n".join(json.dumps(row(at, 655, [1, at + 2])).encode() for at in range(4))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file, packed or not, with some bytes of it changed, and cut."""
    data = bytearray(draw(st.sampled_from([WHOLE, LINED, gzip.compress(WHOLE), zstandard.compress(LINED)])))
    for _ in range(draw(st.integers(0, 4))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))])


def complaint(load: Callable[[Path], object], path: Path) -> str | None:
    """The one line a file is refused with; ``None`` where it is read."""
    try:
        load(path)
    except CorpusError as error:
        return str(error)
    return None


@given(damaged() | st.binary(max_size=60))
def test_any_file_is_read_or_refused_in_one_line(data: bytes) -> None:
    """Whatever the damage: conversations or a trace, or one line that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_bytes(data)
        told = [complaint(load, path) for load in (load_conversations, load_trace)]
        for line in filter(None, told):
            assert line.startswith(str(path))
            assert "\n" not in line
