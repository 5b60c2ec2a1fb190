"""What goes wrong, over a real socket."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.mock.settings import CutKind, Failure, Faults, MockSettings, Shape
from radixbench.mock.which import parse_which
from tests.mock.raw import ask, chat, complete, until
from tests.mock.start import running_mock


async def test_a_connection_is_reset_at_every_byte() -> None:
    """Request n is reset after exactly n - 1 bytes of its response, until it is complete."""
    body = {"prompt": [5, 6], "max_tokens": 2, "stream": True}
    async with running_mock() as mock:
        length = len((await ask(mock.base_url, "/v1/completions", body)).raw)
    async with running_mock(MockSettings(faults=Faults(cut_after_bytes=0, cut_step=1))) as mock:
        seen = [await ask(mock.base_url, "/v1/completions", body) for _ in range(length)]
        outcomes = {writes["outcome"] for writes in mock.writes["requests"]}
    assert [len(answer.raw) for answer in seen] == list(range(length))
    assert all(answer.reset for answer in seen)
    assert outcomes == {"cut"}


@pytest.mark.parametrize("kind", ["reset", "close"])
async def test_a_connection_ends_early(kind: CutKind) -> None:
    """A reset is an error to the reader, a close an early end; other requests are answered."""
    faults = Faults(cut_after_bytes=300, cut_kind=kind, cut=parse_which("1/2", ""))
    async with running_mock(MockSettings(faults=faults)) as mock:
        seen = [await complete(mock.base_url, [5, 6], 20) for _ in range(2)]
    assert seen[0].payloads[-1] == "[DONE]"
    assert len(seen[1].raw) == 300
    assert seen[1].reset is (kind == "reset")


async def test_refusals_by_number_and_share() -> None:
    """Each third request gets 429 with Retry-After, the first 503; they aren't answered and count as refused."""
    failures = (Failure(429, parse_which("1/3", "")), Failure(503, parse_which("first:1", "")))
    async with running_mock(MockSettings(faults=Faults(failures=failures, retry_after_s=1.5))) as mock:
        seen = [await complete(mock.base_url, [5, 6]) for _ in range(6)]
        outcomes = [writes["outcome"] for writes in mock.writes["requests"]]
    assert [answer.status for answer in seen] == [503, 200, 429, 200, 200, 429]
    assert "Retry-After: 1.5" in seen[2].head
    assert "Retry-After" in seen[0].head
    assert seen[2].document["error"]["code"] == 429
    assert outcomes == ["refused", "answered", "refused", "answered", "answered", "refused"]


async def test_empty_answers() -> None:
    """An empty answer has a finish reason and a usage of no tokens, streamed or whole."""
    async with running_mock(MockSettings(faults=Faults(empty=parse_which("all", "")))) as mock:
        seen = await complete(mock.base_url, [5, 6])
        whole = (await ask(mock.base_url, "/v1/completions", {"prompt": [5, 6]})).document
    assert [event["choices"][0]["finish_reason"] for event in seen.events[:-1]] == ["stop"]
    assert seen.usage is not None
    assert seen.usage["completion_tokens"] == whole["usage"]["completion_tokens"] == 0
    assert whole["choices"][0]["text"] == ""


async def test_streams_without_an_end_mark() -> None:
    """The stream ends properly, only [DONE] is missing."""
    async with running_mock(MockSettings(faults=Faults(no_done=parse_which("all", "")))) as mock:
        seen = await complete(mock.base_url, [5, 6])
    assert "[DONE]" not in seen.payloads
    assert seen.raw.endswith(b"0\r\n\r\n")


async def test_another_model_answers() -> None:
    """Every second answer carries another model's name."""
    faults = Faults(answer_model="other", renamed=parse_which("1/2", ""))
    async with running_mock(MockSettings(model="m", faults=faults)) as mock:
        seen = [await complete(mock.base_url, [5, 6]) for _ in range(2)]
    assert [answer.events[0]["model"] for answer in seen] == ["m", "other"]


async def test_an_error_in_the_middle() -> None:
    """After two events an error event ends the stream."""
    async with running_mock(MockSettings(faults=Faults(error_after_frames=2))) as mock:
        seen = await complete(mock.base_url, [5, 6])
    assert len(seen.events) == 3
    assert "error" in seen.events[-1]


async def test_one_stream_stalls_among_others() -> None:
    """The second of three never goes on; the others are answered, and its reader's leaving is noticed."""
    faults = Faults(stall_after_frames=1, stalled=parse_which("1/2", ""))
    async with running_mock(MockSettings(faults=faults)) as mock:
        first = await complete(mock.base_url, [5, 6])
        stalled = asyncio.create_task(complete(mock.base_url, [5, 6]))
        await until(lambda: len(mock.writes["requests"]) == 2)
        third = await complete(mock.base_url, [5, 6])
        assert not stalled.done()
        assert mock.writes["requests"][1]["outcome"] == "running"
        stalled.cancel()
        await asyncio.gather(stalled, return_exceptions=True)
        assert first.payloads[-1] == third.payloads[-1] == "[DONE]"
        await until(lambda: mock.writes["requests"][1]["outcome"] == "vanished")


async def test_a_client_that_leaves_lets_the_cache_go() -> None:
    """A reader that hangs up is noted as vanished and holds nothing: a flush works."""
    async with running_mock(MockSettings(faults=Faults(stall_after_frames=1))) as mock:
        await ask(
            mock.base_url,
            "/v1/completions",
            {"prompt": [5, 6], "max_tokens": 4, "stream": True},
            stop_after=1,
        )
        await until(lambda: mock.writes["requests"][0]["outcome"] == "vanished")
        assert (await ask(mock.base_url, "/flush_cache")).status == 200


async def test_characters_of_several_bytes_are_cut_anywhere() -> None:
    """Written byte by byte, the text is whole for whoever joins before decoding."""
    shape = Shape(letters="multibyte", split_bytes=1)
    async with running_mock(MockSettings(shape=shape)) as mock:
        seen = await chat(mock.base_url, [("user", "hi")], 3)
        (writes,) = mock.writes["requests"]
    text = "".join(event["choices"][0]["delta"]["content"] for event in seen.events[:-1])
    assert text.count("🙂") == 3
    assert set(writes["bytes"]) == {1}
    assert sum(writes["bytes"]) == len(seen.raw)
    assert sum(writes["tokens"]) == 3
