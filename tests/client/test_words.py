"""Characters by channel, and how many of them are blank."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.client.words import Words


def delta(**fields: Any) -> dict[str, Any]:
    return {"delta": fields}


def test_channels_are_counted_apart_and_joined_in_order() -> None:
    """Reasoning, content and reasoning again: two sums, one text."""
    words = Words()
    for choice in (
        delta(reasoning="hm "),
        delta(content="So"),
        delta(reasoning_content="!"),
        delta(content=" x"),
    ):
        assert words.take(choice)
    assert words.count() == (4, 4, 2)
    assert words.joined() == "hm So! x"


def test_a_chunk_may_bring_both_channels() -> None:
    """The event in which thinking ends carries the end of one and the start of the other."""
    words = Words()
    words.take(delta(reasoning_content="a", content="bc"))
    assert words.count() == (2, 1, 0)
    assert words.joined() == "abc"


def test_both_names_of_reasoning_in_one_event_are_one_text() -> None:
    """Servers in transition send the same text twice."""
    words = Words()
    words.take(delta(reasoning_content="ab", reasoning="ab"))
    assert words.count() == (0, 2, 0)


@pytest.mark.parametrize("choice", [{}, {"text": None}, {"delta": None}, {"delta": "x"}, {"message": []}])
def test_where_no_text_was_looked_at_nothing_is_known(choice: dict[str, Any]) -> None:
    """A server that sends ids only has unknown text, not an empty one."""
    words = Words()
    assert not words.take(choice)
    assert words.count() == (None, None, None)


@pytest.mark.parametrize(
    "choice", [{"text": ""}, delta(content=""), delta(role="assistant"), delta(content=None)]
)
def test_an_empty_text_is_a_known_one(choice: dict[str, Any]) -> None:
    """Nothing was said, and that was looked at."""
    words = Words()
    assert not words.take(choice)
    assert words.count() == (0, 0, 0)


@pytest.mark.parametrize(
    ("choices", "like"),
    [
        ([{"text": ' \n{"a": 1'}], True),
        ([delta(content=" "), delta(content="\n ["), delta(content="1")], True),
        ([delta(tool_calls=[{"function": {"arguments": '{"x": 1}'}}])], True),
        ([delta(reasoning="{"), delta(content="so [1]")], False),
        ([delta(reasoning="{}")], False),
        ([{"text": ""}], False),
        ([{"text": " \n"}], False),
        ([{}], None),
    ],
)
def test_an_answer_that_begins_like_json_is_known_without_its_text(
    choices: list[dict[str, Any]], like: bool | None
) -> None:
    """The first character of the content that isn't blank decides, in whichever chunk it comes; reasoning doesn't."""
    words = Words()
    for choice in choices:
        words.take(choice)
    assert words.json_like() is like


@given(st.lists(st.text()))
def test_blanks_are_what_python_calls_whitespace(texts: list[str]) -> None:
    """However the text is cut into chunks, every character is counted once."""
    words = Words()
    for text in texts:
        assert words.take({"text": text}) == bool(text)
    whole = "".join(texts)
    if texts:
        assert words.count() == (len(whole), 0, sum(character.isspace() for character in whole))
    assert words.joined() == whole
