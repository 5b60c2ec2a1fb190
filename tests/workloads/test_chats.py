"""Recorded chats as requests, with each of the three histories."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from radixbench.errors import UsageError
from radixbench.workloads.chats import FAMILIES, Chat, asked_at, chats, salted
from radixbench.workloads.conversation import Message, Workload
from radixbench.workloads.tokens import TokenSource
from tests.workloads.judge import prompts, reuse

START, END = 1000, 1001
ROLES = {"system": 1002, "user": 1003, "assistant": 1004, "tool": 1005}


def render(messages: Sequence[Message]) -> tuple[int, ...]:
    """A template of the ChatML kind over characters: start, role, text, end, and a header for the answer."""
    ids: list[int] = []
    for message in messages:
        ids += [START, ROLES[message.role], *map(ord, message.text), END]
    return (*ids, START, ROLES["assistant"])


def chat(*texts: str, name: str = "c", system: str | None = None, output_len: int | None = None) -> Chat:
    """A chat of alternating user and assistant messages."""
    said = [
        Message(role, text) for role, text in zip(itertools.cycle(("user", "assistant")), texts, strict=False)
    ]
    head = [] if system is None else [Message("system", system)]
    return Chat(name, tuple(head + said), output_len)


SIX = chat("hello", "hi there", "and?", "nothing", "bye", "so long", system="be brief")
TWO = chat("hello you", "yes", system="be brief", name="d")


def made(*given: Chat, **options: object) -> Workload:
    wanted: dict[str, object] = {
        "history": "recorded",
        "render": render,
        "output_len": 3,
        "seed": 0,
        **options,
    }
    return chats(given, **wanted)


def test_six_turns_are_three_requests_each_a_prefix_of_the_next() -> None:
    """One request for each answer, its prompt everything before, rendered; recorded answers are in it."""
    workload = made(SIX, TWO)
    asked = prompts(workload)
    assert [len(c.turns) for c in workload.conversations] == [3, 1]
    assert asked == [
        render(SIX.messages[:2]),
        render(SIX.messages[:4]),
        render(SIX.messages[:6]),
        render(TWO.messages[:2]),
    ]
    for before, after in itertools.pairwise(asked[:3]):
        assert after[: len(before)] == before
    system = len(render(SIX.messages[:1])) - 2
    assert reuse(workload) == [0, len(asked[0]), len(asked[1]), system + 2 + len("hello")]
    assert (workload.kind, workload.prefixes) == ("conversations", ())


def test_live_history_leaves_room_for_the_servers_own_ids() -> None:
    """Each turn's ids follow the answer: the end of its message, then what the user says next."""
    first, second, third = made(SIX, history="live").conversations[0].turns
    assert tuple(first.user_ids) == render(SIX.messages[:2])
    assert tuple(second.user_ids) == (END, *render((Message("user", "and?"),)))
    assert tuple(third.user_ids) == (END, *render((Message("user", "bye"),)))
    assert first.whole_ids is None


def test_retokenized_history_hands_over_new_messages() -> None:
    """Whoever plays it renders: the first turn brings system and user, later ones what the user adds."""
    turns = made(SIX, history="retokenized").conversations[0].turns
    assert [turn.messages for turn in turns] == [SIX.messages[:2], SIX.messages[3:4], SIX.messages[5:6]]
    assert {(turn.user_ids, turn.whole_ids) for turn in turns} == {((), None)}


@pytest.mark.parametrize("history", ["recorded", "live", "retokenized"])
def test_a_recorded_answers_length_can_be_asked_for(history: str) -> None:
    """Without an output length the answers' own tokens count, without what the template puts around."""
    turns = [t for c in made(SIX, TWO, history=history, output_len=None).conversations for t in c.turns]
    assert [turn.output_len for turn in turns] == [
        len(text) for text in ("hi there", "nothing", "so long", "yes")
    ]
    assert [turn.prompt for turn in turns] == [0, 1, 2, 3]


def test_a_prompt_without_an_answer_is_asked_when_the_record_says_how_much() -> None:
    """A file of prompts and lengths: one request each; an empty recorded answer asks for one token."""
    assert [t.output_len for t in made(chat("x", output_len=7), output_len=None).conversations[0].turns] == [
        7
    ]
    assert made(chat("x", "", "y"), output_len=None).conversations[0].turns[0].output_len == 1
    assert asked_at(chat("x")) == ()
    assert asked_at(chat("x", "y", "z", output_len=2)) == (1, 3)


@pytest.mark.parametrize("history", ["recorded", "live", "retokenized"])
def test_an_answer_to_nothing_or_to_an_answer_makes_no_request(history: str) -> None:
    """A chat that starts with an answer, and two answers in a row, ask once for each question."""
    odd = Chat(
        "odd",
        (
            Message("assistant", "a"),
            Message("user", "b"),
            Message("assistant", "c"),
            Message("assistant", "d"),
            Message("user", "e"),
            Message("assistant", "f"),
        ),
    )
    workload = made(odd, history=history)
    assert asked_at(odd) == (2, 5)
    if history == "recorded":
        assert prompts(workload) == [render(odd.messages[:2]), render(odd.messages[:5])]
    elif history == "retokenized":
        assert workload.conversations[0].turns[1].messages == odd.messages[4:5]
    else:
        assert tuple(workload.conversations[0].turns[1].user_ids) == (END, *render(odd.messages[4:5]))


def test_chats_without_answers_are_left_out_and_none_at_all_is_refused() -> None:
    """Numbers stay without gaps; a file with nothing to ask is an error."""
    workload = made(chat("lonely"), TWO, chat("lonely"), SIX)
    assert [c.index for c in workload.conversations] == [0, 1]
    assert [t.prompt for c in workload.conversations for t in c.turns] == [0, 1, 2, 3]
    with pytest.raises(UsageError, match="no conversation holds an answer"):
        made(chat("lonely"))


@pytest.mark.parametrize("history", ["recorded", "live"])
def test_a_salt_parts_runs_and_keeps_what_chats_share(history: str) -> None:
    """Every run's prompts begin like no other's, and every request finds the salt on top of what it found."""
    plain = reuse(made(SIX, TWO, history=history))
    firsts = set()
    for cell in range(2):
        tokens = TokenSource.of(8192, cell=cell, families=FAMILIES)
        for seed in range(3):
            salt = tokens.opening(0, seed)
            workload = made(SIX, TWO, history=history, salt_ids=salt, seed=seed)
            found = reuse(workload)
            assert found == [0, *(tokens + len(salt) for tokens in plain[1:])]
            (first,) = {prompt[0] for prompt in prompts(workload)}
            firsts.add(first)
    assert len(firsts) == 6
    assert salted(render, (5, 6))(SIX.messages) == (5, 6, *render(SIX.messages))


def test_think_time_and_temperature_are_those_asked_for() -> None:
    """Pauses before later turns only; a seed for each sampled request."""
    turns = made(SIX, think_time_s=2.0, temperature=0.8).conversations[0].turns
    assert [turn.delay_s for turn in turns] == [0.0, 2.0, 2.0]
    assert len({turn.seed for turn in turns}) == 3


def test_a_template_that_rewrites_answered_turns_cant_keep_the_servers_ids() -> None:
    """It is refused with the chat and the first position at which the two renderings part."""

    def rewriting(messages: Sequence[Message]) -> tuple[int, ...]:
        return (*render(messages), 7, 8)

    with pytest.raises(UsageError, match=r"chat c: .* from token \d+ on.*use history recorded"):
        made(SIX, history="live", render=rewriting)
