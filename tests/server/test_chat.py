"""Chats, through raw HTTP and through the official client."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from radixbench.model.tokenizer import plain_chat
from tests.server.conftest import Front

HELLO = [{"role": "user", "content": "hello"}]


async def test_a_chat_is_answered(front: Front) -> None:
    """A whole chat body holds one message, its finish reason and the usage of the rendered prompt."""
    body = {"messages": HELLO, "max_tokens": 4, "return_token_ids": True}
    status, reply = await front.post("/v1/chat/completions", body)
    (choice,) = reply["choices"]
    assert status == 200
    assert reply["object"] == "chat.completion"
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"]
    assert len(choice["token_ids"]) == reply["usage"]["completion_tokens"] == 4
    assert bytes(reply["prompt_token_ids"]).decode() == plain_chat(HELLO)


async def test_a_chat_stream_opens_with_the_role(front: Front) -> None:
    """The first chunk says who speaks and nothing else; ids and text follow, usage at the end."""
    body = {"messages": HELLO, "max_completion_tokens": 3, "return_token_ids": True}
    chunks = await front.stream("/v1/chat/completions", body)
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "token_ids" not in chunks[0]["choices"][0]
    assert [len(chunk["choices"][0]["token_ids"]) for chunk in chunks[1:]] == [1, 1, 1]
    assert "prompt_token_ids" in chunks[1]
    assert chunks[-1]["usage"]["completion_tokens"] == 3


async def test_text_parts_are_joined(front: Front) -> None:
    """A content made of text parts is the same prompt as its joined text."""
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    replies = [
        await front.post(
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": content}], "max_tokens": 1, "return_token_ids": True},
        )
        for content in ("hello", parts)
    ]
    assert replies[0][1]["prompt_token_ids"] == replies[1][1]["prompt_token_ids"]


async def test_a_second_turn_reuses_the_first(front: Front) -> None:
    """A conversation's next turn finds what the previous one computed."""
    body: dict[str, Any] = {"messages": list(HELLO), "max_tokens": 4, "temperature": 0}
    first = (await front.post("/v1/chat/completions", body))[1]
    answer = first["choices"][0]["message"]
    body["messages"] += [answer, {"role": "user", "content": "go on"}]
    second = (await front.post("/v1/chat/completions", body))[1]
    cached = second["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached >= first["usage"]["prompt_tokens"]


async def test_without_a_limit_a_chat_may_fill_the_context(front: Front) -> None:
    """max_tokens left out means all the room there is, so a stop string ends the chat."""
    first = (await front.post("/v1/chat/completions", {"messages": HELLO, "max_tokens": 30}))[1]
    stop = first["choices"][0]["message"]["content"][-6:]
    reply = (await front.post("/v1/chat/completions", {"messages": HELLO, "stop": stop}))[1]
    assert reply["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_official_client_is_served(front: Front, streamed: bool) -> None:
    """The openai package gets a chat, streamed and whole, and a list of models."""
    async with openai.AsyncOpenAI(base_url=f"{front.url}/v1", api_key="none") as client:
        assert [model.id async for model in client.models.list()] == ["tiny"]
        if streamed:
            stream = await client.chat.completions.create(
                model="tiny",
                messages=[{"role": "user", "content": "hello"}],
                max_tokens=4,
                stream=True,
                stream_options={"include_usage": True},
            )
            chunks = [chunk async for chunk in stream]
            assert chunks[-1].usage is not None
            assert chunks[-1].usage.completion_tokens == 4
            assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        else:
            whole = await client.chat.completions.create(
                model="tiny", messages=[{"role": "user", "content": "hello"}], max_tokens=4
            )
            assert whole.choices[0].message.content


async def test_the_official_client_reads_our_errors(front: Front) -> None:
    """A refused request is the client's BadRequestError, with our message and field."""
    async with openai.AsyncOpenAI(base_url=f"{front.url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.completions.create(model="tiny", prompt="a", max_tokens=0)
    assert caught.value.param == "max_tokens"
    assert "max_tokens must be from 1" in caught.value.message
