"""Clients that leave: their slots are free at once, nobody else notices."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.server.conftest import SLOW, fake, open_front


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_client_that_disconnects_frees_its_slots(streamed: bool) -> None:
    """Closing the connection aborts the request long before its length, streamed or not."""
    async with open_front(fake(fake_cost=SLOW)) as front:
        reader, writer = await asyncio.open_connection(*front.url.removeprefix("http://").split(":"))
        body = json.dumps({"prompt": [1] * 50, "max_tokens": 10_000, "stream": streamed}).encode()
        head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        if streamed:
            await reader.readuntil(b"data: ")
        await front.until(busy=True)
        writer.close()
        await front.until(busy=False)
        stats = front.service.loop.stats
        assert stats.aborted_total == 1
        assert stats.used_slots == 0
        assert stats.generation_tokens_total < 10_000
        await front.service.loop.audit()
        async with front.session.post("/flush_cache") as response:
            assert response.status == 200


async def test_others_go_on_when_one_leaves() -> None:
    """The answer of a client that stays is the same whether or not another leaves in the middle."""
    async with open_front(fake(fake_cost=SLOW)) as front:
        alone = await front.complete([2, 2], max_tokens=20)
        leaver = asyncio.create_task(front.complete([3] * 9, max_tokens=5000, n=3))
        await front.until(busy=True)
        stayer = asyncio.create_task(front.complete([2, 2], max_tokens=20))
        await asyncio.sleep(0.02)
        leaver.cancel()
        assert (await stayer)["choices"] == alone["choices"]
        await front.until(busy=False)
        assert front.service.loop.stats.aborted_total == 3
        await front.service.loop.audit()


async def test_a_refused_rid_leaves_its_namesake_alone() -> None:
    """A second request with a rid in use gets 400 and does not abort the first."""
    async with open_front(fake(fake_cost=SLOW)) as front:
        first = asyncio.create_task(front.complete([1], max_tokens=30, rid="same"))
        await front.until(busy=True)
        status, body = await front.post("/v1/completions", {"prompt": [2], "rid": "same"})
        assert status == 400
        assert "same" in body["error"]["message"]
        assert (await first)["usage"]["completion_tokens"] == 30


async def test_a_refused_prompt_takes_its_companions_along() -> None:
    """Of a list with one prompt that is too long nothing runs and nothing stays."""
    async with open_front(fake(context_len=100)) as front:
        status, body = await front.post("/v1/completions", {"prompt": [[1], [2] * 200, [3]]})
        assert status == 400
        assert "context" in body["error"]["message"]
        await front.until(busy=False)
        assert front.service.loop.stats.generation_tokens_total == 0
        await front.service.loop.audit()
