"""What the client says of itself: counts of the watched window only, and stalls of its own loop."""

from __future__ import annotations

import asyncio

from radixbench.client.http import ServerClient
from radixbench.client.self_check import STALL_NS, TICK_NS, SelfCheck
from tests.client.scripted_server import ScriptedServer, answer_well


async def test_only_what_happens_inside_is_counted() -> None:
    """Requests before and after the window leave no trace in it."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        await client.stream_completion((1, 2), 5)
        async with SelfCheck(client) as check:
            await client.stream_completion((1, 2), 7)
        await client.stream_completion((1, 2), 3)
        record = check.record()
    assert record.chunks == 7
    assert 1 <= record.reads <= 9
    assert record.chunks - record.coalesced_chunks <= record.reads
    assert record.cpu_ns > 0


async def test_a_blocked_loop_is_a_stall() -> None:
    """Whatever keeps the loop from its sockets shows as a tick that came late."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        async with SelfCheck(client) as check:
            await asyncio.sleep(0.03)
            client.clock.sleep_ns(60_000_000)
            await asyncio.sleep(0.03)
        record = check.record()
    assert record.stalls >= 1
    assert record.stall_max_ns >= 40_000_000
    assert (record.tick_interval_ns, record.stall_threshold_ns) == (TICK_NS, STALL_NS)
    assert record.ticks >= 2


async def test_a_stall_at_the_very_end_counts() -> None:
    """The loop was blocked until the window closed: no tick came any more, and that is seen."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        async with SelfCheck(client) as check:
            client.clock.sleep_ns(50_000_000)
        assert check.record().stalls == 1


async def test_an_idle_client_costs_next_to_nothing() -> None:
    """Watching counts nothing by itself and stops with the window."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        async with SelfCheck(client) as check:
            await asyncio.sleep(0.05)
        ticks = check.record().ticks
        await asyncio.sleep(0.05)
    assert check.record().ticks == ticks
    assert (check.record().chunks, check.record().reads) == (0, 0)
