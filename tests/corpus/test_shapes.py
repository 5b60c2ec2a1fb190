"""One item becomes one chat, whichever shape it has, or says why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.corpus import turns
from radixbench.corpus.shapes import Shaped, shape
from radixbench.corpus.turns import Refused
from radixbench.workloads.chats import asked_at
from radixbench.workloads.conversation import Message
from tests.corpus.files import messages, said


def shaped(item: Any) -> Shaped:
    found = shape(item, "item 1")
    assert isinstance(found, Shaped), found
    return found


def text_of(item: Any) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in shaped(item).chat.messages]


def refusal(item: Any) -> str:
    found = shape(item, "item 1")
    assert isinstance(found, Refused), found
    return found.reason


def test_sharegpt() -> None:
    """Humans ask, gpt answers."""
    item = said("hi", "hello", "why?", "because", own="x_0")
    assert text_of(item) == [
        ("user", "hi"),
        ("assistant", "hello"),
        ("user", "why?"),
        ("assistant", "because"),
    ]
    assert (shaped(item).chat.id, shaped(item).format, shaped(item).mended) == ("x_0", "sharegpt", ())


def test_names_mix() -> None:
    """ShareGPT with OpenAI's names for speakers, and messages that hold from and value."""
    mixed = {"conversations": [{"from": "User", "value": "a"}, {"role": "assistant", "content": "b"}]}
    other = {"messages": [{"from": "human", "value": "a"}, {"from": "chatgpt", "value": "b"}]}
    assert text_of(mixed) == text_of(other) == [("user", "a"), ("assistant", "b")]
    assert (shaped(mixed).format, shaped(other).format) == ("sharegpt", "openai")


def test_an_item_without_an_id_is_named_by_its_place() -> None:
    """Every chat can be found again."""
    assert shaped(messages(("user", "a"), ("assistant", "b"))).chat.id == "item 1"


def test_columns_instead_of_rows() -> None:
    """Columnar files may hold a list for each key, and nulls for keys of other rows."""
    item = {"conversations": {"from": ["human", "gpt"], "value": ["a", "b"], "content": [None, None]}}
    assert text_of(item) == [("user", "a"), ("assistant", "b")]


@pytest.mark.parametrize("key", ["system", "system_prompt"])
def test_a_system_prompt_beside_the_turns(key: str) -> None:
    """It comes first."""
    assert text_of({**said("a", "b"), key: "be kind"})[0] == ("system", "be kind")


def test_text_parts_are_joined() -> None:
    """Content may be a list of parts, as long as all of them are text."""
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert text_of(messages(("user", parts), ("assistant", "c")))[0] == ("user", "ab")
    picture = [{"type": "image_url", "image_url": {"url": "x"}}]
    assert refusal(messages(("user", picture), ("assistant", "c"))) == "content other than text"


def test_tool_calls_stand_for_content() -> None:
    """An answer that only calls tools is its calls; a tool's answer is a message."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}
    item = {
        "messages": [
            {"role": "user", "content": "a"},
            call,
            {"role": "tool", "content": "7"},
            {"role": "assistant", "content": "b"},
        ]
    }
    assert text_of(item) == [
        ("user", "a"),
        ("assistant", '[{"function":{"name":"f"}}]'),
        ("tool", "7"),
        ("assistant", "b"),
    ]
    assert asked_at(shaped(item).chat) == (1, 3)


def test_tool_definitions_are_part_of_the_prompt() -> None:
    """They stand in front, as templates put them, and that is said."""
    item = messages(("system", "s"), ("user", "a"), ("assistant", "b"), tools=[{"name": "f"}])
    assert text_of(item)[0] == ("system", '[{"name":"f"}]\ns')
    assert "tool definitions" in shaped(item).mended[0]
    assert text_of(messages(("user", "a"), ("assistant", "b"), tools=[{}]))[:2] == [
        ("system", "[{}]\n"),
        ("user", "a"),
    ]


def test_reasoning_is_left_out_and_said() -> None:
    """Templates leave it out of the history."""
    item = {
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "reasoning_content": "hm"},
        ]
    }
    assert text_of(item)[1] == ("assistant", "b")
    assert "reasoning left out" in shaped(item).mended[0]


def test_prompts_with_an_output_length() -> None:
    """A bare prompt is asked once, for the length the item gives or that of its answer."""
    for key in ("output_len", "output_tokens"):
        found = shaped({"prompt": "p", key: 7})
        assert (found.format, found.chat.output_len, asked_at(found.chat)) == ("custom", 7, (1,))
    assert text_of({"prompt": "p", "completion": "c"}) == [("user", "p"), ("assistant", "c")]
    assert refusal({"prompt": " ", "output_len": 7}) == "the prompt is blank or no string"
    assert refusal({"prompt": "p"}) == "a prompt with neither output length nor answer"
    for wrong in (0, -1, 1.5, True, "7"):
        assert refusal({"prompt": "p", "output_len": wrong}) == "an output length that is no positive number"


def test_a_first_turn_from_gpt_is_left_out() -> None:
    """A part of a longer conversation begins in its middle."""
    item = said("ok", "a", "b", first="gpt")
    assert text_of(item) == [("user", "a"), ("assistant", "b")]
    assert shaped(item).mended == (turns.BEGAN_LATE,)


@pytest.mark.parametrize(
    ("item", "left", "mend"),
    [
        (said("a", "b", "c"), 2, turns.NO_LAST_REPLY),
        (said("a", "b", "c", " "), 2, turns.BLANK_REPLY),
        (said("a", "b", "", "d"), 4, turns.BLANK_TEXT),
        (messages(("user", "a"), ("assistant", "b"), ("assistant", "c")), 2, turns.TWO_REPLIES),
        (
            messages(("user", "a"), ("assistant", "b"), ("system", "c"), ("user", "d"), ("assistant", "e")),
            5,
            turns.LATE_SYSTEM,
        ),
    ],
)
def test_turns_out_of_order_are_mended_and_said(item: Any, left: int, mend: str) -> None:
    """What can be asked again is kept."""
    found = shaped(item)
    assert len(found.chat.messages) == left
    assert mend in found.mended


def test_two_questions_in_a_row_are_one_prompt() -> None:
    """Both are said before the answer."""
    assert len(shaped(messages(("user", "a"), ("user", "b"), ("assistant", "c"))).chat.messages) == 3


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (7, "no JSON object"),
        ({}, "neither conversations nor messages nor prompt in it"),
        ({"conversations": []}, "no question with a reply in it"),
        (said("a"), "no question with a reply in it"),
        (said("a", first="gpt"), "no question with a reply in it"),
        (said("a", None), "a turn's text is null or no string"),
        (said("a", "b", None, "d"), "a turn's text is null or no string"),
        (messages(("user", 3), ("assistant", "b")), "a turn's text is null or no string"),
        (said("a", ""), "a blank reply"),
        ({"messages": [{"from": "narrator", "value": "x"}]}, "a speaker nobody knows"),
        ({"messages": [{"value": "x"}]}, "a speaker nobody knows"),
        ({"messages": ["x"]}, "a turn is no object"),
        ({"messages": {"a": 1}}, "turns that are no list"),
    ],
)
def test_items_that_cannot_be_used_say_why(item: Any, reason: str) -> None:
    """The reason is what the account counts them under."""
    assert refusal(item) == reason


def test_lone_surrogates_are_replaced() -> None:
    """Broken escapes would stop every encoder."""
    found = shaped(said("a\ud83d b", "c"))
    assert found.chat.messages[0] == Message("user", "a\ufffd b")
    assert found.mended == ("characters that are no text read as \ufffd",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["from", "role", "value", "content", "text", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["conversations", "messages", "prompt", "output_len", "system", "tools", "id"]), JSON
    )
)
def test_any_item_is_used_or_refused(item: dict[str, Any]) -> None:
    """No item is an error, and what is used can be asked and encoded."""
    found = shape(item, "item 1")
    if isinstance(found, Shaped):
        assert asked_at(found.chat)
        assert all(message.text.encode() is not None for message in found.chat.messages)
