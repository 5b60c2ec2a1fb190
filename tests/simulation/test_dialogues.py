"""Conversations as the sequences a server would see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from radixbench.errors import RequestError
from radixbench.simulation.dialogues import Departure, Dialogues, History, Order
from radixbench.simulation.hits import Ask, CacheSize, token_hits
from radixbench.workloads.chats import Chat
from radixbench.workloads.conversation import Message


def chat(own: str, *texts: str) -> Chat:
    """User and assistant in turns."""
    return Chat(own, tuple(Message(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)))


def encode(text: str) -> list[int]:
    return [ord(character) for character in text]


def render(messages: Sequence[Message]) -> tuple[int, ...]:
    """A template that never changes what it has said."""
    return tuple(encode("".join(f"<{one.role}>{one.text}</>" for one in messages) + "<assistant>"))


def thinking(messages: Sequence[Message]) -> tuple[int, ...]:
    """A template that opens an empty thought before the answer and drops it from the history."""
    return (*render(messages), *encode("<think></think>"))


def text_of(ask: Ask) -> tuple[str, str]:
    ids = "".join(map(chr, np.frombuffer(ask.ids, dtype=np.int32)))
    return ids[: ask.prompt_len], ids[ask.prompt_len :]


def dialogues(*chats: Chat, history: History = "live", order: Order = "rounds") -> Dialogues:
    return Dialogues(chats, render=render, encode=encode, history=history, order=order)


def test_one_request_for_each_answer() -> None:
    """The prompt is everything before it; the answer is left but for its last token."""
    first, second = map(text_of, dialogues(chat("a", "q1", "r1", "q2", "r2")))
    assert first == ("<user>q1</><assistant>", "r")
    assert second == ("<user>q1</><assistant>r1</><user>q2</><assistant>", "r")


def test_recorded_history_leaves_no_answers() -> None:
    """The server made up others; recorded ones are in the cache once they were prompt."""
    chats = (chat("a", "q1", "r" * 40, "q2", "r2"),)
    assert [text_of(ask)[1] for ask in dialogues(*chats, history="recorded")] == ["", ""]
    (live,) = token_hits(dialogues(*chats), [CacheSize(1)])
    (recorded,) = token_hits(dialogues(*chats, history="recorded"), [CacheSize(1)])
    assert live.cached_tokens - recorded.cached_tokens == 39


@pytest.mark.parametrize(
    ("order", "openings"),
    [("rounds", ["a1", "b1", "a2"]), ("conversations", ["a1", "a2", "b1"])],
)
def test_orders(order: Order, openings: list[str]) -> None:
    """Round by round, or conversation by conversation."""
    asks = dialogues(chat("a", "a1", "x", "a2", "y"), chat("b", "b1", "z"), order=order)
    assert [text_of(ask)[0].split("</>")[-2][-2:] for ask in asks] == openings


def test_a_prompt_without_an_answer_is_asked() -> None:
    """Where the record names an output length."""
    (ask,) = dialogues(Chat("p", (Message("user", "q"),), output_len=4))
    assert text_of(ask) == ("<user>q</><assistant>", "")


def test_a_steady_template_departs_nowhere() -> None:
    """Every prompt begins with the one before it and its answer."""
    steady = dialogues(chat("a", "q1", "r1", "q2", "r2", "q3", "r3"))
    assert len(list(steady)) == 3
    assert (steady.later_turns, steady.prompt_departures, steady.answer_departures) == (2, 0, 0)
    assert steady.first_departure is None


def test_a_template_that_rewrites_its_past_is_found() -> None:
    """The first token that isn't what was said before is named."""
    rewriting = Dialogues([chat("a", "q1", "r1", "q2", "r2")], render=thinking, encode=encode)
    assert len(list(rewriting)) == 2
    assert (rewriting.later_turns, rewriting.prompt_departures) == (1, 1)
    assert rewriting.first_departure == Departure("a", 2, len("<user>q1</><assistant>"), in_answer=False)


def test_an_answer_encoded_otherwise_in_the_history_is_found() -> None:
    """Hanzi against Han-zi: the prompt before holds, the answer doesn't."""
    other = Dialogues(
        [chat("a", "q1", "Hanzi", "q2", "r2")], render=render, encode=lambda text: [*encode(text[:1]), 7, 8]
    )
    list(other)
    assert (other.prompt_departures, other.answer_departures) == (0, 1)
    assert other.first_departure == Departure("a", 2, len("<user>q1</><assistant>H"), in_answer=True)


def test_what_the_template_refuses_is_left_out() -> None:
    """One conversation it can't render costs that one, and the reason is kept."""

    def strict(messages: Sequence[Message]) -> tuple[int, ...]:
        if messages[0].role != "user":
            raise RequestError("the model's chat template refuses these messages: no system")
        return render(messages)

    chats = [Chat("s", (Message("system", "x"), *chat("", "q", "r").messages)), chat("a", "q", "r")]
    picky = Dialogues(chats, render=strict, encode=encode)
    assert len(list(picky)) == 1
    assert picky.refused == 1
    assert picky.first_refusal == "the model's chat template refuses these messages: no system"
