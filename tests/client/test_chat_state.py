"""Histories: what the next prompt is made of, and what it can't be made of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.client.answer import Answer
from radixbench.client.chat_state import NO_IDS, NO_TEXT, ChatState, Joined
from radixbench.workloads.conversation import Message, Turn

PARTS = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=5)


def answer(ids: tuple[int, ...] | None = None, text: str | None = None) -> Answer:
    return Answer(0, 1, "completed", output_ids=ids, content=text)


def spell(messages: Sequence[Message]) -> tuple[int, ...]:
    """A template of a kind: role and text as code points, then the opening of an answer."""
    return tuple(map(ord, "".join(f"<{message.role}>{message.text}" for message in messages) + "<assistant>"))


@given(parts=PARTS, more=PARTS)
def test_joined_parts_are_the_whole(parts: list[list[int]], more: list[list[int]]) -> None:
    """Length, items from both ends, slices, equality and hash are those of the tuple of all ids."""
    inner = Joined(*parts)
    joined = Joined(inner, *more)
    whole = tuple(token for part in [*parts, *more] for token in part)
    assert tuple(joined) == whole
    assert len(joined) == len(whole)
    assert joined == whole
    assert hash(joined) == hash(Joined(whole)) == hash(whole)
    assert [joined[place] for place in range(-len(whole), len(whole))] == list(whole * 2)
    for part in (slice(1, -1), slice(3), slice(-2, None), slice(None, None, -1), slice(4, 1), slice(0, 9, 2)):
        assert joined[part] == whole[part]
    assert joined != (*whole, 1)
    for place in (len(whole), -len(whole) - 1):
        with pytest.raises(IndexError, match="of"):
            joined[place]


def test_joined_is_no_text() -> None:
    """What is no sequence is not equal, and asking is no error."""
    assert Joined((1, 2)) != 12


def test_live_history_repeats_what_the_server_said() -> None:
    """Prompt k + 1 = prompt k, the answer's ids, the new ids; no id is kept twice."""
    state = ChatState(None)
    first, second = Turn(0, (1, 2), 2), Turn(1, (5,), 2)
    assert state.ask(first).ids is first.user_ids
    state.hear(answer((3, 4)))
    assert state.obstacle(second) is None
    assert state.ask(second).ids == (1, 2, 3, 4, 5)
    state.hear(answer(()))
    assert state.ask(Turn(2, (6,), 2)).ids == (1, 2, 3, 4, 5, 6)


def test_a_whole_prompt_is_sent_as_it_is() -> None:
    """A recorded history ignores the answers, and its sequence isn't copied."""
    state = ChatState(None)
    state.ask(Turn(0, (), 2, whole_ids=range(5)))
    state.hear(Answer(0, 1, "failed", error="lost"))
    turn = Turn(1, (), 2, whole_ids=range(9))
    assert state.obstacle(turn) is None
    assert state.ask(turn).ids is turn.whole_ids


def test_messages_are_rendered_with_the_text_that_came_back() -> None:
    """What a chat client does: its messages and the server's text, encoded anew every turn."""
    state = ChatState(spell)
    system, hello, more = Message("system", "s"), Message("user", "a"), Message("user", "b")
    asked = state.ask(Turn(0, (), 2, messages=(system, hello)))
    assert asked.ids == spell((system, hello))
    state.hear(answer(text="yes"))
    second = Turn(1, (), 2, messages=(more,))
    assert state.obstacle(second) is None
    said = (system, hello, Message("assistant", "yes"), more)
    assert state.ask(second) == (spell(said), said)


def test_an_empty_answer_is_a_message_all_the_same() -> None:
    """Nothing said isn't nothing known: the assistant's empty turn stays in the history."""
    state = ChatState(spell)
    state.ask(Turn(0, (), 2, messages=(Message("user", "a"),)))
    state.hear(answer(text=""))
    assert state.ask(Turn(1, (), 2, messages=(Message("user", "b"),))).messages[1] == Message("assistant", "")


def test_an_answer_may_not_carry_what_the_next_turn_needs() -> None:
    """Ids for ids, text for messages; said by name."""
    state = ChatState(spell)
    state.hear(answer())
    assert state.obstacle(Turn(1, (1,), 2)) == NO_IDS
    assert state.obstacle(Turn(1, (), 2, messages=(Message("user", "b"),))) == NO_TEXT
