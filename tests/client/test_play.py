"""Playing in a closed loop: order, concurrency, conversations, and one record per request whatever happens."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.client.http import ServerClient
from radixbench.client.play import LoadResult, play
from radixbench.errors import UsageError
from radixbench.scenario.model import LoadSpec
from radixbench.workloads.conversation import Conversation, Turn, Workload
from tests.client.playing import BEHAVIOURS, chats, played, statuses
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well, token


async def closed(
    workload: Workload, handler: Handler, *, max_concurrency: int | None = 4, **options: object
) -> tuple[LoadResult, ScriptedServer]:
    return await played(workload, handler, LoadSpec(max_concurrency=max_concurrency), **options)


async def test_every_request_leaves_its_record() -> None:
    """Records come by prompt number, with place, lengths and the exact ids that were sent."""
    seen: list[tuple[int, int]] = []
    result, server = await closed(chats(10), answer_well, on_progress=lambda *step: seen.append(step))
    assert [record.prompt for record in result.records] == list(range(10))
    assert statuses(result) == {"completed": 10}
    assert result.stopped is None
    record = result.records[3]
    assert (record.conversation, record.turn, record.group) == (3, 0, 1)
    assert (record.requested_tokens, record.sent_prompt_tokens, record.output_tokens) == (2, 2, 2)
    assert record.due_ns == record.send_ns <= record.chunk_ns[0] <= record.end_ns
    assert result.prompts == {c: (100 * c, 100 * c + 1) for c in range(10)}
    assert seen == [(n, 10) for n in range(1, 11)]
    assert len(server.requests) == 10


async def test_no_more_than_the_asked_concurrency() -> None:
    """The server never sees more requests at once, and sees that many when it is slow."""
    running = peak = 0

    async def handle(request: Request, out: Out) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.01)
        running -= 1  # before the end reaches the client, who may then send the next
        await answer_well(request, out)

    result, _ = await closed(chats(20), handle, max_concurrency=3)
    assert statuses(result) == {"completed": 20}
    assert peak == 3


async def test_conversations_start_in_order() -> None:
    """With one at a time the server sees the workload's order."""
    _, server = await closed(chats(6, turns=2), answer_well, max_concurrency=1)
    firsts = [request.json["prompt"][0] for request in server.requests]
    assert firsts == [0, 0, 100, 100, 200, 200, 300, 300, 400, 400, 500, 500]


async def test_a_turn_is_asked_with_everything_said_so_far() -> None:
    """Fault 25: prompt of turn k + 1 = prompt of turn k + the live answer's ids + new user ids."""
    result, server = await closed(chats(2, turns=3), answer_well)
    assert statuses(result) == {"completed": 6}
    second, third = result.prompts[1], result.prompts[2]
    assert second == (0, 1, *(2, 3), 10, 11)
    assert third == (*second, *(6, 7), 20, 21)
    assert [record.sent_prompt_tokens for record in result.records] == [2, 6, 10] * 2
    assert sorted(tuple(r.json["prompt"]) for r in server.requests) == sorted(
        map(tuple, result.prompts.values())
    )


async def test_turns_need_token_ids() -> None:
    """A server without ids can't be chatted with: said clearly, for that turn; single turns are fine."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        event = token([1], finish="length")
        del event["choices"][0]["token_ids"]
        await out.event(event)
        await out.end_stream()

    result, server = await closed(chats(1, turns=3), handle)
    assert [record.status for record in result.records] == ["completed", "failed", "cancelled"]
    assert "doesn't return token ids" in str(result.records[1].error)
    assert len(server.requests) == 1
    result, _ = await closed(chats(2), handle)
    assert statuses(result) == {"completed": 2}


async def test_a_failed_turn_ends_its_conversation_only() -> None:
    """The rest of the conversation is cancelled with the reason; the others go on."""

    async def handle(request: Request, out: Out) -> None:
        if request.json["prompt"][0] == 100 and len(request.json["prompt"]) == 6:
            await out.whole(500, {"error": {"message": "boom"}})
        else:
            await answer_well(request, out)

    result, _ = await closed(chats(3, turns=3), handle)
    assert [r.status for r in result.records if r.conversation == 1] == ["completed", "failed", "cancelled"]
    assert result.records[4].error == "HTTP 500: boom"
    assert result.records[5].error == "not sent: turn 2 failed: HTTP 500: boom"
    assert statuses(result) == {"completed": 7, "failed": 1, "cancelled": 1}
    assert 5 not in result.prompts
    assert result.stopped is None


async def test_failures_of_single_requests_do_not_stop_the_loop() -> None:
    """Every second request refused by the server: all are tried, and whoever watches hears of each that failed."""
    failures: list[None] = []

    async def handle(request: Request, out: Out) -> None:
        if request.json["prompt"][0] // 100 % 2:
            await out.reset()
        else:
            await answer_well(request, out)

    result, _ = await closed(chats(8), handle, on_failure=lambda: failures.append(None))
    assert statuses(result) == {"completed": 4, "failed": 4}
    assert len(failures) == 4


@given(st.lists(st.sampled_from(range(len(BEHAVIOURS))), min_size=12, max_size=12), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_whatever_the_server_does_each_request_has_one_true_record(
    kinds: list[int], concurrency: int
) -> None:
    """Any mixture of faults: one record each, an error exactly when not completed, stamps in order."""

    async def handle(request: Request, out: Out) -> None:
        await BEHAVIOURS[kinds[request.json["prompt"][-1] // 10 % 12]](request, out)

    workload = Workload(
        kind="test",
        conversations=tuple(
            Conversation(c, 0, tuple(Turn(2 * c + t, (10 * (2 * c + t),), 2) for t in range(2)))
            for c in range(6)
        ),
    )
    result, _ = asyncio.run(closed(workload, handle, max_concurrency=concurrency))
    assert [record.prompt for record in result.records] == list(range(12))
    assert result.stopped is None
    for record in result.records:
        assert (record.error is None) == (record.status == "completed")
        assert "\n" not in str(record.error)
        stamps = [record.send_ns, *record.chunk_ns, record.end_ns]
        assert stamps == sorted(stamps)
        assert len(record.chunk_ns) == len(record.chunk_tokens)
        assert (record.prompt in result.prompts) == (record.sent_prompt_tokens > 0)
        if record.turn == 0:
            assert record.status == ("completed" if kinds[record.prompt] in {0, 3} else "failed")


async def test_a_dead_server_stops_the_loop() -> None:
    """The server dies mid-run: what was in flight failed, the rest is cancelled, nothing hangs or is lost."""
    dying: list[ScriptedServer] = []

    async def handle(request: Request, out: Out) -> None:
        if len(dying[0].requests) > 5:
            dying.append(dying[0])
            task = asyncio.create_task(dying[0].die())
            dying_tasks.append(task)
            await asyncio.sleep(30)
        await answer_well(request, out)

    dying_tasks: list[asyncio.Task[None]] = []
    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        dying.append(server)
        result = await asyncio.wait_for(play(chats(40), client, LoadSpec(max_concurrency=2), seed=0), 20)
        await asyncio.gather(*dying_tasks)
    counted = statuses(result)
    assert sum(counted.values()) == 40
    assert counted["completed"] >= 4
    assert 1 <= counted["failed"] <= 4
    assert result.stopped == f"connection refused by 127.0.0.1:{server.port}"
    assert result.records[-1].error == f"not sent: {result.stopped}"
    assert result.records[-1].sent_prompt_tokens == 0


async def hold(request: Request, out: Out) -> None:
    """The first two conversations are answered, then one token and silence."""
    if request.json["prompt"][0] < 200:
        await answer_well(request, out)
        return
    await out.start_stream()
    await out.event(token([1]))
    await asyncio.sleep(30)


async def test_a_stop_gives_up_what_is_in_flight() -> None:
    """``should_stop``: two completed, two cancelled with the token they had, the rest not sent."""
    done = 0

    def progress(so_far: int, total: int) -> None:
        nonlocal done
        done = so_far

    result, _ = await closed(
        chats(6, turns=2), hold, max_concurrency=2, should_stop=lambda: done >= 4, on_progress=progress
    )
    assert statuses(result) == {"completed": 4, "cancelled": 8}
    assert result.stopped == "stopped"
    flown = [record for record in result.records if record.status == "cancelled" and record.chunk_tokens]
    assert {record.error for record in flown} <= {"stopped"}
    assert result.records[-1].error == "not sent: stopped"


async def test_a_cancelled_loop_returns_what_it_has() -> None:
    """Ctrl-C cancels the task: the result comes back, and the task can go on to save it."""
    done = asyncio.Event()

    def progress(so_far: int, total: int) -> None:
        if so_far == 2:
            done.set()

    async def bench() -> LoadResult:
        result, _ = await closed(chats(6), hold, max_concurrency=2, on_progress=progress)
        await asyncio.sleep(0)  # saving may wait: the cancellation was taken
        return result

    task = asyncio.create_task(bench())
    await done.wait()
    await asyncio.sleep(0.1)
    task.cancel()
    result = await asyncio.wait_for(task, 10)
    assert statuses(result) == {"completed": 2, "cancelled": 4}
    assert result.stopped == "interrupted"
    assert [record.chunk_tokens for record in result.records[2:4]] == [(1,), (1,)]
    assert result.records[5].error == "not sent: interrupted"


async def test_cancelled_before_it_began() -> None:
    """A loop cancelled at once still has a record for each request."""
    task = asyncio.create_task(closed(chats(3), hold))
    await asyncio.sleep(0.02)
    task.cancel()
    result, _ = await asyncio.wait_for(task, 10)
    assert sum(statuses(result).values()) == 3


async def test_our_own_fault_is_not_made_a_record() -> None:
    """An error in a callback comes out as it is, and ends the loop."""

    def broken(so_far: int, total: int) -> None:
        raise RuntimeError("in the progress bar")

    with pytest.raises(RuntimeError, match="progress bar"):
        await closed(chats(6), answer_well, on_progress=broken)


async def test_no_concurrency_is_refused() -> None:
    """A loop of nobody would wait for ever."""
    with pytest.raises(UsageError, match="give 1 or more"):
        await closed(chats(1), answer_well, max_concurrency=0)


async def test_an_empty_workload_is_over_at_once() -> None:
    """Nothing to do is no fault."""
    result, _ = await closed(chats(0), answer_well)
    assert result == LoadResult(records=(), prompts={}, stopped=None)


async def test_a_result_of_many_records_has_a_short_repr() -> None:
    """asyncio takes the repr of a task's result: with 100,000 records in it that would last seconds."""
    result, _ = await closed(chats(20), answer_well)
    assert repr(result) == "LoadResult(stopped=None, planned=20)"
