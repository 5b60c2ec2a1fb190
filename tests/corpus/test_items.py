"""Items of arrays and lines, whole, cut and damaged, in pieces of any size."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.corpus.items import Broken, Item, ItemReader
from radixbench.errors import CorpusError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), min_size=1, max_size=5)


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def read(text: str, size: int = 7) -> tuple[list[Item | Broken], ItemReader]:
    reader = ItemReader(pieces(text, size), "f.json")
    return list(reader), reader


@given(OBJECTS, st.integers(1, 40), st.sampled_from([None, 2]), st.booleans())
def test_an_array_gives_its_items(
    objects: list[dict[str, object]], size: int, indent: int | None, ascii_only: bool
) -> None:
    """Whatever the pieces it arrives in, each item is what json.loads gives, in the line it begins in."""
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    found, reader = read(text, size)
    assert [item.value for item in found if isinstance(item, Item)] == objects
    assert reader.cut is None
    assert found[0].line == (1 if indent is None else 2)


@given(OBJECTS, st.integers(1, 40), st.data())
def test_a_cut_array_gives_its_whole_items(
    objects: list[dict[str, object]], size: int, data: st.DataObject
) -> None:
    """Cut anywhere, every item before the cut is there and nothing else, and the cut is told."""
    text = json.dumps(objects)
    at = data.draw(st.integers(1, len(text) - 1))
    found, reader = read(text[:at], size)
    ends = [len(json.dumps(objects[: count + 1])) - 1 for count in range(len(objects))]
    whole = sum(end <= at for end in ends)
    assert [item.value for item in found if isinstance(item, Item)] == objects[:whole]
    assert reader.cut is not None
    assert f"whole item, number {whole}" in reader.cut


@given(OBJECTS, st.integers(1, 40))
def test_lines_give_their_items(objects: list[dict[str, object]], size: int) -> None:
    """One object per line, with its line's number; blank lines are passed over."""
    text = "\n\n".join(json.dumps(one) for one in objects)
    found, _ = read(text, size)
    assert [(item.line, item.value) for item in found if isinstance(item, Item)] == [
        (2 * place + 1, one) for place, one in enumerate(objects)
    ]


def test_a_broken_line_is_handed_on() -> None:
    """A line that is no JSON doesn't end the file."""
    found, reader = read('{"a": 1}\n{"a": \n{"a": 3}\n')
    assert [type(one) for one in found] == [Item, Broken, Item]
    assert (found[1].line, reader.cut) == (2, None)


def test_a_last_line_that_breaks_off_is_a_cut() -> None:
    """Without a line end, broken JSON is the mark of a file cut short."""
    found, reader = read('{"a": 1}\n{"a": 2')
    assert len(found) == 1
    assert reader.cut == "line 2 breaks off (Expecting ',' delimiter); read to the line before"


def test_damage_inside_an_array_is_told_with_its_line() -> None:
    """What no end of file explains is no cut: the rest can't be trusted."""
    text = '[\n  {"a": 1},\n  {"a": oops, "b": "' + "x" * 100 + '"}\n]'
    with pytest.raises(CorpusError, match=r"f\.json:3: is no JSON: Expecting value; mend it"):
        read(text)


@pytest.mark.parametrize("text", ["", " \n\n \t"])
def test_an_empty_text_is_refused(text: str) -> None:
    """Nothing to read is said, not passed over."""
    with pytest.raises(CorpusError, match=r"f\.json: is empty"):
        read(text)


def test_other_text_is_refused_with_what_it_begins_with() -> None:
    """A CSV file is told from JSON by its first character."""
    with pytest.raises(CorpusError, match=r"f\.json:2: is no JSON: it begins with 'TIMESTAMP,ContextTokens'"):
        read("\nTIMESTAMP,ContextTokens\n1,2\n")


def test_deep_nesting_is_no_crash() -> None:
    """An item nobody can decode is damage, in an array as in a line."""
    deep = '{"a":' * 100_000
    with pytest.raises(CorpusError, match="nested too deeply"):
        read(f"[{deep}", 1 << 20)
    (found,), _ = read(f"{deep}\n", 1 << 20)
    assert isinstance(found, Broken)


def test_a_large_array_is_read_in_flat_memory() -> None:
    """What is held never grows with the file: a piece and an item."""
    item = json.dumps({"text": "x" * 1000})

    def stream() -> Iterator[str]:
        yield "["
        for _ in range(2000):
            yield item + ",\n"
        yield item + "]"

    reader = ItemReader(stream(), "f.json")
    held = [len(reader._held) for _ in reader]
    assert len(held) == 2001
    assert max(held) <= (1 << 20) + 2 * len(item)
