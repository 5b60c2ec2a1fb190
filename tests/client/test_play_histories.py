"""What goes over the wire: histories of every kind, sampling, further fields, and what comes before a request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from radixbench.errors import IncompleteError, UsageError
from radixbench.scenario.model import LoadSpec
from radixbench.workloads.conversation import Conversation, Message, Turn, Workload
from tests.client.playing import chats, played, statuses
from tests.client.scripted_server import Out, Request, answer_well, token, usage
from tests.client.test_chat_state import spell

ONE = LoadSpec(max_concurrency=1)


def one_chat(*turns: Turn) -> Workload:
    return Workload("test", (Conversation(0, 0, turns),))


def talk(prompt: int, text: str) -> Turn:
    return Turn(prompt, (), 2, messages=(Message("user", text),))


async def say(request: Request, out: Out) -> None:
    """The same two pieces of text on either endpoint."""
    await out.start_stream()
    for number, text in enumerate(("he", "y")):
        ends = "stop" if number else None
        if request.path == "/v1/chat/completions":
            choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": ends}
            await out.event({"id": "chat-1", "choices": [choice]})
        else:
            await out.event(token([number], text=text, finish=ends))
    await out.event({"id": "x", "choices": [], "usage": usage(9, 2)})
    await out.end_stream()


async def test_messages_are_rendered_into_ids_for_completions() -> None:
    """The ids sent are those of the rendered chat, the server's text in it, and are kept as the prompt."""
    result, server = await played(one_chat(talk(0, "a"), talk(1, "b")), say, ONE, render=spell)
    assert statuses(result) == {"completed": 2}
    said = (Message("user", "a"), Message("assistant", "hey"), Message("user", "b"))
    assert [request.path for request in server.requests] == ["/v1/completions"] * 2
    assert tuple(server.requests[1].json["prompt"]) == spell(said) == tuple(result.prompts[1])
    assert result.records[1].sent_prompt_tokens == len(spell(said))


async def test_reasoning_is_not_said_again() -> None:
    """A chat client sends the answer back without its reasoning; the record counts both."""

    async def think(request: Request, out: Out) -> None:
        await out.start_stream()
        for delta, ends in (({"reasoning_content": "hm"}, None), ({"content": "yes"}, "stop")):
            await out.event({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": ends}]})
        await out.end_stream()

    chat = one_chat(talk(0, "a"), talk(1, "b"))
    result, server = await played(
        chat, think, ONE, render=spell, client={"endpoint": "chat", "keep_text": True}
    )
    assert server.requests[1].json["messages"][1] == {"role": "assistant", "content": "yes"}
    record = result.records[0]
    assert (record.text, record.reasoning_chars, record.content_chars) == ("hmyes", 2, 3)


async def test_messages_go_out_as_messages_where_chats_are_answered() -> None:
    """The chat endpoint gets roles and texts; the rendered ids stay what we know of the prompt."""
    chat = one_chat(talk(0, "a"), talk(1, "b"))
    result, server = await played(chat, say, ONE, render=spell, client={"endpoint": "chat"})
    assert statuses(result) == {"completed": 2}
    assert server.requests[1].path == "/v1/chat/completions"
    assert server.requests[1].json["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "hey"},
        {"role": "user", "content": "b"},
    ]
    assert tuple(result.prompts[0]) == spell((Message("user", "a"),))


@pytest.mark.parametrize("keep", [True, False])
async def test_text_is_kept_in_records_only_if_asked_for(keep: bool) -> None:
    """A history of text needs the answers' text while it is played, a capture doesn't."""
    chat = one_chat(talk(0, "a"), talk(1, "b"))
    result, _ = await played(chat, say, ONE, render=spell, client={"keep_text": keep})
    assert statuses(result) == {"completed": 2}
    assert [record.text for record in result.records] == (["hey", "hey"] if keep else [None, None])


async def test_messages_need_someone_who_renders_them() -> None:
    """Said before anything is sent."""
    with pytest.raises(UsageError, match="turns are messages; give a tokenizer"):
        await played(one_chat(talk(0, "a")), say, ONE)


@pytest.mark.parametrize("refused", [0, 1])
async def test_a_template_that_refuses_messages_costs_that_conversation(refused: int) -> None:
    """The turn fails with the template's reason, the rest of it is cancelled, other conversations go on."""

    def strict(messages: Sequence[Message]) -> tuple[int, ...]:
        if len(messages) == 2 * refused + 1 and messages[-1].text == "no":
            raise UsageError("the chat template refuses this chat: roles must alternate")
        return spell(messages)

    bad = Conversation(0, 0, tuple(talk(place, "no" if place == refused else "a") for place in range(3)))
    good = Conversation(1, 0, (talk(3, "b"), talk(4, "b")))
    result, server = await played(Workload("test", (bad, good)), say, ONE, render=strict)
    ran = ["completed"] * refused
    assert [record.status for record in result.records[:3]] == [*ran, "failed", "cancelled", "cancelled"][:3]
    why = "the chat template refuses this chat: roles must alternate"
    assert (result.records[refused].error, result.records[2].error) == (why, f"not sent: {why}")
    assert [record.status for record in result.records[3:]] == ["completed", "completed"]
    assert len(server.requests) == refused + 2


async def test_a_recorded_history_goes_on_after_a_failure() -> None:
    """Its prompts don't depend on answers: every one is sent, refused or not."""

    async def handle(request: Request, out: Out) -> None:
        if len(request.json["prompt"]) == 2:
            await out.whole(429, {"error": {"message": "slow down"}})
        else:
            await answer_well(request, out)

    turns = [Turn(place, (), 1, whole_ids=range(place + 1)) for place in range(4)]
    result, server = await played(one_chat(*turns), handle, ONE)
    assert [record.status for record in result.records] == ["completed", "failed", "completed", "completed"]
    assert result.records[1].http_status == 429
    assert [request.json["prompt"] for request in server.requests] == [list(range(n)) for n in (1, 2, 3, 4)]
    assert result.prompts[3] is turns[3].whole_ids


async def test_sampling_and_further_fields_go_out() -> None:
    """Temperature and seed of the turn, the caller's fields beside them, made once for each request."""
    made: list[int] = []

    def body(turn: Turn) -> dict[str, object]:
        made.append(turn.prompt)
        return {"cache_salt": f"radixbench-{turn.prompt}"}

    chat = one_chat(Turn(0, (1,), 1), Turn(1, (2,), 1, temperature=0.7, seed=11))
    _, server = await played(chat, answer_well, ONE, body=body)
    first, second = (request.json for request in server.requests)
    assert (first["temperature"], "seed" in first, first["cache_salt"]) == (0, False, "radixbench-0")
    assert (second["temperature"], second["seed"], second["cache_salt"]) == (0.7, 11, "radixbench-1")
    assert made == [0, 1]


async def test_something_may_be_done_before_each_request() -> None:
    """It is over before the request is sent, and the answer before is whole by then."""
    seen: list[str] = []

    async def handle(request: Request, out: Out) -> None:
        seen.append("request")
        await answer_well(request, out)
        seen.append("answered")

    async def before() -> None:
        await asyncio.sleep(0.005)
        seen.append("before")

    result, _ = await played(chats(2, turns=2), handle, ONE, before_request=before)
    assert statuses(result) == {"completed": 4}
    assert seen == ["before", "request", "answered"] * 4


async def test_what_cannot_be_done_before_a_request_ends_the_load() -> None:
    """A flush that is refused: what was measured stays, the rest is cancelled with the reason."""
    left = [1, 1, 1]

    async def before() -> None:
        if not left:
            raise IncompleteError("cache not flushed after 3 tries", remedy="see the log")
        left.pop()

    result, server = await played(chats(3, turns=2), answer_well, ONE, before_request=before)
    assert statuses(result) == {"completed": 3, "cancelled": 3}
    assert result.stopped == "cache not flushed after 3 tries; see the log"
    assert result.records[3].error == f"not sent: {result.stopped}"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "load", [LoadSpec(), LoadSpec("constant", request_rate=5), LoadSpec(max_concurrency=2)]
)
async def test_nothing_can_be_done_before_requests_that_overlap(load: LoadSpec) -> None:
    """It would fall into another request's time: one at a time is asked for."""

    async def before() -> None:
        raise AssertionError

    with pytest.raises(UsageError, match="one at a time; give a max concurrency of 1"):
        await played(chats(2), answer_well, load, before_request=before)
