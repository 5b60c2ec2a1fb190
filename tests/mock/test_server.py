"""Answers over a real socket: shapes, counts, cache."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from radixbench.errors import OutputError, PortError, UsageError
from radixbench.mock.server import start
from radixbench.mock.settings import CacheSettings, MockSettings, Reporting, Shape
from radixbench.mock.which import parse_which
from tests.mock.raw import ask, chat, complete, get
from tests.mock.start import running_mock


async def test_a_streamed_completion() -> None:
    """One event to a token, the finish reason with the last, usage apart when asked, then [DONE]."""
    async with running_mock() as mock:
        seen = await complete(mock.base_url, [5, 6, 7], 3, return_token_ids=True)
    assert seen.status == 200
    assert seen.payloads[-1] == "[DONE]"
    choices = [event["choices"][0] for event in seen.events[:-1]]
    assert [len(choice["token_ids"]) for choice in choices] == [1, 1, 1]
    assert [choice["finish_reason"] for choice in choices] == [None, None, "length"]
    assert choices[0]["prompt_token_ids"] == [5, 6, 7]
    assert seen.events[-1]["choices"] == []
    assert seen.usage == {
        "prompt_tokens": 3,
        "completion_tokens": 3,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


async def test_a_whole_answer_says_what_a_stream_says() -> None:
    """Streamed and whole, the same prompt gets the same text, ids and counts."""
    async with running_mock() as mock:
        body = {"prompt": [5, 6, 7], "max_tokens": 4, "return_token_ids": True}
        streamed = await complete(mock.base_url, [5, 6, 7], 4, return_token_ids=True)
        whole = (await ask(mock.base_url, "/v1/completions", body)).document
    choices = [event["choices"][0] for event in streamed.events[:-1]]
    (choice,) = whole["choices"]
    assert "".join(part["text"] for part in choices) == choice["text"]
    assert [token for part in choices for token in part["token_ids"]] == choice["token_ids"]
    assert whole["usage"]["completion_tokens"] == 4
    assert whole["usage"]["prompt_tokens_details"] == {"cached_tokens": 2}


async def test_a_chat_opens_with_its_role() -> None:
    """The role comes in an event of its own without text, then content; whole, a message has both."""
    async with running_mock() as mock:
        seen = await chat(mock.base_url, [("user", "hi")], 2)
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
        whole = (await ask(mock.base_url, "/v1/chat/completions", body)).document
    deltas = [event["choices"][0]["delta"] for event in seen.events[:-1]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta["content"] for delta in deltas) == whole["choices"][0]["message"]["content"]


@pytest.mark.parametrize("channel", ["reasoning_content", "reasoning"])
async def test_reasoning_comes_on_its_channel(channel: Any) -> None:
    """The first tokens come as reasoning, of either name, the rest as content."""
    shape = Shape(reasoning=channel, reasoning_tokens=2, role_chunk=False)
    async with running_mock(MockSettings(shape=shape)) as mock:
        seen = await chat(mock.base_url, [("user", "hi")], 4)
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}
        message = (await ask(mock.base_url, "/v1/chat/completions", body)).document["choices"][0]["message"]
    deltas = [event["choices"][0]["delta"] for event in seen.events[:-1]]
    assert [bool(delta.get(channel)) for delta in deltas] == [True, True, False, False]
    assert "".join(delta.get(channel) or "" for delta in deltas) == message[channel]
    assert "".join(delta["content"] or "" for delta in deltas) == message["content"]


async def test_oddities_of_streams() -> None:
    """An event without choices first, comments in between, the finish reason alone, no early head."""
    shape = Shape(
        empty_choices=True,
        comment_every=2,
        finish_apart=True,
        early_head=False,
        line_end="crlf",
        letters="blank",
    )
    async with running_mock(MockSettings(shape=shape)) as mock:
        seen = await complete(mock.base_url, [5, 6], 3)
    assert seen.events[0]["choices"] == []
    assert seen.body.count(b": ping\r\n\r\n") == 3
    assert seen.events[-2]["choices"][0] == {
        "index": 0,
        "logprobs": None,
        "finish_reason": "length",
        "text": "",
    }
    texts = [event["choices"][0]["text"] for event in seen.events[1:-2]]
    assert not "".join(texts).strip()


async def test_answers_end_by_themselves_unless_told_not_to() -> None:
    """With a natural length answers stop there, unless end-of-sequence is to be ignored."""
    async with running_mock(MockSettings(answer_tokens=2)) as mock:
        natural = await complete(mock.base_url, [5], 5)
        forced = await complete(mock.base_url, [5], 5, ignore_eos=True)
    assert natural.usage is not None
    assert forced.usage is not None
    assert natural.usage["completion_tokens"] == 2
    assert natural.events[-2]["choices"][0]["finish_reason"] == "stop"
    assert forced.usage["completion_tokens"] == 5


@pytest.mark.parametrize(
    ("mode", "asked", "places"),
    [
        ("asked", True, [3]),
        ("asked", False, []),
        ("always", False, [3]),
        ("never", True, []),
        ("last", True, [2]),
        ("continuous", False, [0, 1, 2]),
        ("continuous", True, [0, 1, 2, 3]),
    ],
)
async def test_where_usage_is_told(mode: Any, asked: bool, places: list[int]) -> None:
    """Usage comes with the events that the mode says, and only there."""
    async with running_mock(MockSettings(reporting=Reporting(usage=mode))) as mock:
        seen = await complete(mock.base_url, [5, 6], 3, stream_options={"include_usage": asked})
    assert [place for place, event in enumerate(seen.events) if "usage" in event] == places


async def test_usage_missing_in_some_answers() -> None:
    """Every second answer has no usage; every third tells no cached tokens."""
    reporting = Reporting(usage_missing=parse_which("1/2", ""), cached_missing=parse_which("1/3", ""))
    async with running_mock(MockSettings(reporting=reporting)) as mock:
        seen = [await complete(mock.base_url, [5, 6], 1) for _ in range(4)]
    assert [answer.usage is None for answer in seen] == [False, True, False, True]
    assert [answer.cached for answer in seen] == [0, None, None, None]


async def test_no_cached_tokens_may_be_left_out() -> None:
    """A cached count of 0 is left out, another one told."""
    async with running_mock(MockSettings(reporting=Reporting(cached="nonzero"))) as mock:
        seen = [await complete(mock.base_url, [5, 6], 1) for _ in range(2)]
    assert [answer.cached for answer in seen] == [None, 1]


async def test_cached_tokens_that_never_were() -> None:
    """Told counts are too high by what was asked, also beyond the prompt; times and log follow the truth."""
    reporting = Reporting(overcount=100, overcounted=parse_which("1/2", ""))
    async with running_mock(MockSettings(reporting=reporting)) as mock:
        seen = [await complete(mock.base_url, [5, 6], 1) for _ in range(2)]
        truth = [writes["cached_tokens"] for writes in mock.writes["requests"]]
    assert [answer.cached for answer in seen] == [0, 101]
    assert truth == [0, 1]


async def test_history_in_words_is_found_again() -> None:
    """A chat's second turn finds its first turn and its answer, less the answer's last token."""
    async with running_mock() as mock:
        first = await chat(mock.base_url, [("user", "hi")], 6)
        said = "".join(event["choices"][0]["delta"]["content"] for event in first.events[:-1])
        second = await chat(mock.base_url, [("user", "hi"), ("assistant", said), ("user", "more")])
    assert first.usage is not None
    assert second.cached == first.usage["prompt_tokens"] + 5


async def test_pages_salts_and_flags_reach_the_cache() -> None:
    """Hits are whole pages; a salt finds nothing of others; cache_prompt false finds nothing at all."""
    async with running_mock(MockSettings(cache=CacheSettings(page_size=4))) as mock:
        prompt = list(range(10, 20))
        seen = [
            await complete(mock.base_url, prompt, 1),
            await complete(mock.base_url, prompt, 1),
            await complete(mock.base_url, prompt, 1, cache_salt="a"),
            await complete(mock.base_url, prompt, 1, cache_prompt=False),
        ]
    assert [answer.cached for answer in seen] == [0, 8, 0, 0]


async def test_a_connection_serves_many_requests() -> None:
    """Requests on one connection are answered in their order, also those sent before the answer came."""
    async with running_mock() as mock:
        port = int(mock.base_url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for count in (1, 2, 3):
            body = json.dumps({"prompt": [5], "max_tokens": count}).encode()
            head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
        counts = []
        for _ in range(3):
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            counts.append(json.loads(await reader.readexactly(length))["usage"]["completion_tokens"])
        writer.close()
        await writer.wait_closed()
    assert counts == [1, 2, 3]


async def test_expectations_and_garbage() -> None:
    """Expect: 100-continue is answered at once; what is no HTTP gets 400 and a closed connection."""
    async with running_mock() as mock:
        port = int(mock.base_url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /flush_cache HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"{}")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
        writer.close()


async def test_a_bad_request_is_told_why() -> None:
    """A wrong body gets 400 with OpenAI's error object, an unknown path 404."""
    async with running_mock() as mock:
        wrong = await ask(mock.base_url, "/v1/completions", {"prompt": []})
        lost = await get(mock.base_url, "/nowhere")
    assert (wrong.status, lost.status) == (400, 404)
    assert wrong.document["error"]["message"].startswith("prompt must be")


async def test_what_can_t_be_started() -> None:
    """A taken port, an unknown host, a log that can't be written: one line each, and nothing left open."""
    async with running_mock() as mock:
        port = int(mock.base_url.rpartition(":")[2])
        with pytest.raises(PortError, match="is taken; give another --port"):
            await start(MockSettings(port=port))
    with pytest.raises(UsageError, match=r"host .* is unknown"):
        await start(MockSettings(host="no.such.host.invalid"))
    with pytest.raises(OutputError, match="can't be written"):
        await start(MockSettings(write_log=Path("/no/such/folder/log")))
