"""Servers that misbehave under load: every request keeps its own record, and the load ends."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from radixbench.scenario.model import LoadSpec
from radixbench.workloads.conversation import Conversation, Turn, Workload
from tests.client.playing import chats, played, statuses
from tests.client.scripted_server import Out, Request, answer_well, token

STALL_S = 0.3
OPEN = LoadSpec("poisson", request_rate=1000.0)
CLOSED = LoadSpec(max_concurrency=16)


async def chunk_then_silence(out: Out) -> None:
    await out.start_stream()
    await out.event(token([1]))
    await asyncio.sleep(60)


@pytest.mark.parametrize("load", [LoadSpec(max_concurrency=2), OPEN], ids=["closed", "open"])
async def test_fault_104_a_stalled_stream_does_not_hold_the_results(load: LoadSpec) -> None:
    """A chunk, then silence: after the stall timeout one request has failed, with its token, and all is returned."""

    async def handle(request: Request, out: Out) -> None:
        await (chunk_then_silence(out) if request.json["prompt"][0] == 300 else answer_well(request, out))

    result, _ = await played(chats(8), handle, load, client={"stall_timeout_s": STALL_S})
    assert statuses(result) == {"completed": 7, "failed": 1}
    stalled = result.records[3]
    assert stalled.error == f"stalled: nothing new came for {STALL_S:g} s"
    assert stalled.chunk_tokens == (1,)
    assert stalled.end_ns - stalled.chunk_ns[-1] >= STALL_S * 1e9
    assert result.stopped is None


async def test_fault_104_pings_do_not_keep_a_stalled_stream_alive() -> None:
    """Comments bring nothing new: the stream counts as stalled though bytes come."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        while True:
            await out.part(b": ping\n\n")
            await asyncio.sleep(0.02)

    result, _ = await played(chats(2), handle, CLOSED, client={"stall_timeout_s": STALL_S})
    assert statuses(result) == {"failed": 2}
    assert {record.chunk_ns for record in result.records} == {()}


async def test_fault_a_stalled_stream_among_a_thousand_good_ones() -> None:
    """It costs one record: the thousand others are completed, and none of them waits for it."""

    async def handle(request: Request, out: Out) -> None:
        await (chunk_then_silence(out) if request.json["prompt"] == [7] else answer_well(request, out))

    workload = Workload("test", tuple(Conversation(n, 0, (Turn(n, (n,), 2),)) for n in range(1001)))
    result, server = await played(
        workload, handle, LoadSpec(max_concurrency=64), client={"stall_timeout_s": 8 * STALL_S}
    )
    assert statuses(result) == {"completed": 1000, "failed": 1}
    assert (result.records[7].status, len(server.requests)) == ("failed", 1001)
    assert [record.prompt for record in result.records] == list(range(1001))
    assert max(record.end_ns for record in result.records if record.prompt != 7) < result.records[7].end_ns


@pytest.mark.parametrize("load", [CLOSED, OPEN], ids=["closed", "open"])
async def test_fault_429_storms_are_failures_and_not_retried(load: LoadSpec) -> None:
    """A server that refuses most of 300 requests in waves: each is asked once and keeps its status and reason."""
    seen = 0

    async def handle(request: Request, out: Out) -> None:
        nonlocal seen
        seen += 1
        if seen % 50 < 40:
            await out.whole(429, {"error": {"message": "rate limit reached", "type": "rate_limit_exceeded"}})
        else:
            await answer_well(request, out)

    result, server = await played(chats(300), handle, load)
    assert statuses(result) == {"completed": 60, "failed": 240}
    assert len(server.requests) == 300
    assert {tuple(request.json["prompt"]) for request in server.requests} == set(
        map(tuple, result.prompts.values())
    )
    refused = [record for record in result.records if record.status == "failed"]
    assert Counter((record.http_status, record.error) for record in refused) == {
        (429, "HTTP 429: rate limit reached"): 240
    }
    assert result.stopped is None


async def test_fault_429_storms_end_the_conversations_they_hit() -> None:
    """Turns that would need the refused answer are cancelled with that reason; other conversations go on."""

    async def handle(request: Request, out: Out) -> None:
        second_turn = len(request.json["prompt"]) == 6
        if second_turn and request.json["prompt"][0] // 100 % 2:
            await out.whole(429, b"Too Many Requests", "text/plain")
        else:
            await answer_well(request, out)

    result, _ = await played(chats(40, turns=3), handle, CLOSED)
    assert statuses(result) == {"completed": 80, "failed": 20, "cancelled": 20}
    errors = {record.error for record in result.records if record.status == "cancelled"}
    assert errors == {"not sent: turn 2 failed: HTTP 429: Too Many Requests"}
