"""Open loops: due times on one schedule, lateness kept, caps, bounds by time, think time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.client.http import ServerClient
from radixbench.client.play import LoadResult, play
from radixbench.errors import UsageError
from radixbench.records import RequestRecord
from radixbench.scenario.model import LoadSpec
from radixbench.workloads.arrivals import constant, gamma, poisson
from radixbench.workloads.conversation import Workload
from tests.client.playing import BEHAVIOURS, chats, played, statuses
from tests.client.scripted_server import Out, Request, ScriptedServer, answer_well, token

MS = 1_000_000


def traced(workload: Workload, due_s: list[float | None]) -> Workload:
    """The workload with timestamps."""
    talks = zip(workload.conversations, due_s, strict=True)
    return replace(workload, conversations=tuple(replace(talk, due_s=due) for talk, due in talks))


def due_after_start(result: LoadResult) -> list[int]:
    """When each conversation was due, in nanoseconds after the first."""
    firsts = [record for record in result.records if record.turn == 0]
    start = min(record.due_ns for record in firsts)
    return [record.due_ns - start for record in firsts]


def assert_sent_when_due(records: tuple[RequestRecord, ...]) -> None:
    """Never early; the lateness is what it is."""
    assert all(record.send_ns >= record.due_ns for record in records)


@pytest.mark.parametrize(
    ("load", "offsets"),
    [
        (LoadSpec("constant", request_rate=100.0), constant(12, 100.0)),
        (LoadSpec("poisson", request_rate=100.0), poisson(12, 100.0, seed=3)),
        (LoadSpec("gamma", request_rate=100.0, burstiness=0.2), gamma(12, 100.0, burstiness=0.2, seed=3)),
    ],
)
async def test_due_times_are_the_schedule(load: LoadSpec, offsets: tuple[float, ...]) -> None:
    """Every due time is the start plus its offset to the nanosecond, whatever the load does; none is sent early."""
    result, _ = await played(chats(12), answer_well, load, seed=3)
    assert statuses(result) == {"completed": 12}
    assert due_after_start(result) == pytest.approx([round(offset * 1e9) for offset in offsets], abs=1)
    assert_sent_when_due(result.records)


async def test_a_slow_server_does_not_slow_the_arrivals() -> None:
    """All requests are sent although none is answered yet: an open loop doesn't wait for answers."""
    together = 0
    all_here = asyncio.Event()

    async def handle(request: Request, out: Out) -> None:
        nonlocal together
        together += 1
        if together == 10:
            all_here.set()
        await all_here.wait()
        await answer_well(request, out)

    result, _ = await played(chats(10), handle, LoadSpec("constant", request_rate=500.0))
    assert statuses(result) == {"completed": 10}
    assert max(record.send_ns for record in result.records) <= min(record.end_ns for record in result.records)


async def test_a_trace_is_played_at_its_times_and_speed() -> None:
    """Timestamps divided by the speed; the earliest is due at once, an order by time isn't needed."""
    workload = traced(chats(4), [7.3, 7.0, 7.1, 7.1])
    result, server = await played(workload, answer_well, LoadSpec("trace", speed=5.0))
    assert due_after_start(result) == pytest.approx([60 * MS, 0, 20 * MS, 20 * MS], abs=1)
    assert_sent_when_due(result.records)
    assert [request.json["prompt"][0] // 100 for request in server.requests][::3] == [1, 0]


async def test_a_trace_without_timestamps_is_refused() -> None:
    """One conversation without a time is enough; nothing is sent."""
    with pytest.raises(UsageError, match="no timestamps; choose another --arrival"):
        await played(traced(chats(2), [0.0, None]), answer_well, LoadSpec("trace"))


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (LoadSpec("poisson"), "poisson arrivals need a rate; give --request-rate"),
        (LoadSpec("constant", request_rate=0.0), "a rate of 0 makes no arrivals"),
        (LoadSpec("gamma", request_rate=1.0, burstiness=0.0), "a burstiness of 0 makes no arrivals"),
        (LoadSpec("trace", speed=-1.0), "a speed of -1 makes no arrivals"),
        (LoadSpec("trace", speed=0.0), "a speed of 0 makes no arrivals"),
        (LoadSpec("constant", request_rate=1.0, max_concurrency=0), "give 1 or more"),
        (LoadSpec(num_prompts=0), "a load of 0 conversations is none"),
        (LoadSpec(duration_s=0.0), "a load of 0 s is none"),
    ],
)
async def test_a_load_that_is_none_is_refused(load: LoadSpec, says: str) -> None:
    """One clear line, before anything is sent."""
    with pytest.raises(UsageError, match=says):
        await played(traced(chats(2), [0.0, 1.0]), answer_well, load)


async def test_a_cap_delays_and_the_delay_is_kept() -> None:
    """One at a time: each request is sent after the one before ended, its due time stays on the schedule."""

    async def handle(request: Request, out: Out) -> None:
        await asyncio.sleep(0.02)
        await answer_well(request, out)

    load = LoadSpec("constant", request_rate=1000.0, max_concurrency=1)
    result, _ = await played(chats(6), handle, load)
    assert due_after_start(result) == [place * MS for place in range(6)]
    assert all(after.send_ns >= before.end_ns for before, after in pairwise(result.records))
    assert result.records[5].send_ns - result.records[5].due_ns >= 5 * 20 * MS - 5 * MS


async def test_time_between_turns_follows_the_answer() -> None:
    """In an open loop a later turn is due its delay after the answer before, exactly."""
    load = LoadSpec("constant", request_rate=500.0)
    result, _ = await played(chats(3, turns=3, delay_s=0.03), answer_well, load)
    assert statuses(result) == {"completed": 9}
    for before, after in pairwise(result.records):
        if after.turn:
            assert after.due_ns == before.end_ns + 30 * MS
    assert_sent_when_due(result.records)


async def test_a_fast_trace_thinks_fast() -> None:
    """Time between a trace's turns shrinks with its speed, as the time between its conversations does."""
    result, _ = await played(
        traced(chats(1, turns=2, delay_s=0.3), [0.0]), answer_well, LoadSpec("trace", speed=10)
    )
    assert result.records[1].due_ns == result.records[0].end_ns + 30 * MS


async def test_a_closed_loop_thinks_too_and_is_never_late() -> None:
    """The pause is kept; what is sent after it is due when it is sent."""
    result, _ = await played(chats(2, turns=2, delay_s=0.03), answer_well, LoadSpec(max_concurrency=2))
    for first, second in (result.records[:2], result.records[2:]):
        assert second.send_ns >= first.end_ns + 30 * MS
        assert second.due_ns == second.send_ns


async def test_what_is_not_due_within_the_bound_leaves_no_record() -> None:
    """50 ms at 100 per second: five conversations were asked for, and the plan says of how many."""
    load = LoadSpec("constant", request_rate=100.0, duration_s=0.05)
    result, server = await played(chats(40), answer_well, load)
    assert [record.prompt for record in result.records] == [0, 1, 2, 3, 4]
    assert statuses(result) == {"completed": 5}
    assert (result.planned, result.stopped, len(server.requests)) == (40, None, 5)


async def test_what_was_due_just_before_the_bound_is_sent() -> None:
    """A timer that wakes after the bound costs nobody a request: due is due."""
    workload = traced(chats(3), [0.0, 0.0199999, 0.02])
    result, _ = await played(workload, answer_well, LoadSpec("trace", duration_s=0.02, max_concurrency=3))
    assert [(record.prompt, record.status) for record in result.records] == [
        (0, "completed"),
        (1, "completed"),
    ]


async def test_what_is_in_flight_when_time_is_up_is_finished() -> None:
    """Answers may take longer than the load; turns that would follow aren't asked, and leave no record."""

    async def handle(request: Request, out: Out) -> None:
        await asyncio.sleep(0.1)
        await answer_well(request, out)

    load = LoadSpec("constant", request_rate=100.0, duration_s=0.03)
    result, _ = await played(chats(5, turns=2), handle, load)
    assert [(record.conversation, record.turn) for record in result.records] == [(0, 0), (1, 0), (2, 0)]
    assert statuses(result) == {"completed": 3}


async def test_what_was_due_and_found_no_place_was_asked_for() -> None:
    """A server that can't keep up isn't hidden by the bound: what waited for a place in vain is cancelled."""

    async def handle(request: Request, out: Out) -> None:
        await asyncio.sleep(0.1)
        await answer_well(request, out)

    load = LoadSpec("constant", request_rate=200.0, duration_s=0.05, max_concurrency=2)
    result, server = await played(chats(40), handle, load)
    assert statuses(result) == {"completed": 2, "cancelled": 8}
    assert {record.error for record in result.records[2:]} == {
        "not sent: no place was free before the load's time was up"
    }
    assert (result.planned, len(server.requests)) == (40, 2)


async def test_a_closed_loop_is_bounded_by_time() -> None:
    """One at a time, 20 ms each, for 50 ms: what began is finished, the rest leaves no record."""

    async def handle(request: Request, out: Out) -> None:
        await asyncio.sleep(0.02)
        await answer_well(request, out)

    load = LoadSpec(max_concurrency=1, duration_s=0.05)
    result, server = await played(chats(100), handle, load)
    begun = len(result.records)
    assert 1 <= begun <= 3
    assert statuses(result) == {"completed": begun}
    assert (result.planned, len(server.requests)) == (100, begun)


async def test_a_bound_by_number_counts_conversations() -> None:
    """The first three of ten are played whole, and no more were planned."""
    result, server = await played(chats(10, turns=2), answer_well, LoadSpec(num_prompts=3))
    assert [record.prompt for record in result.records] == list(range(6))
    assert (result.planned, len(server.requests)) == (6, 6)
    result, _ = await played(chats(2), answer_well, LoadSpec("constant", request_rate=500, num_prompts=30))
    assert statuses(result) == {"completed": 2}


async def test_a_stop_in_an_open_loop_leaves_a_record_for_everything_due_in_its_bounds() -> None:
    """Interrupted in the middle: in flight cancelled, the rest not sent, what lay beyond the bound not asked for."""

    async def hold(request: Request, out: Out) -> None:
        await out.start_stream()
        await out.event(token([1]))
        await asyncio.sleep(30)

    load = LoadSpec("constant", request_rate=10.0, duration_s=1.0)
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked == 2

    result, _ = await played(chats(30), hold, load, should_stop=should_stop)
    assert result.stopped == "stopped"
    assert statuses(result) == {"cancelled": 10}
    assert result.records[0].error == "stopped"
    assert result.records[9].error == "not sent: stopped"
    assert (result.records[9].sent_prompt_tokens, 9 in result.prompts) == (0, False)


async def test_a_dead_port_stops_an_open_loop() -> None:
    """Connection refused: the loop ends at once with a record for all, sent when it looked for a connection."""
    async with ScriptedServer(answer_well) as gone:
        pass

    async with ServerClient(gone.url) as client:
        result = await play(chats(20), client, LoadSpec("constant", request_rate=50.0), seed=0)
    assert result.stopped == f"connection refused by 127.0.0.1:{gone.port}"
    assert len(result.records) == 20
    assert result.records[0].status == "failed"
    assert result.records[0].send_ns >= result.records[0].due_ns
    assert {record.error for record in result.records[1:]} == {f"not sent: {result.stopped}"}


async def test_requests_are_built_before_they_are_due() -> None:
    """The bodies of the first conversations exist before the first is sent; later ones follow meanwhile."""
    built: list[int] = []
    at_first_send: list[int] = []

    def body(turn: Any) -> None:
        built.append(turn.prompt)

    async def handle(request: Request, out: Out) -> None:
        if not at_first_send:
            at_first_send.append(len(built))
        await answer_well(request, out)

    result, _ = await played(chats(50), handle, LoadSpec("constant", request_rate=1000.0), body=body)
    assert at_first_send[0] >= 32
    assert built == list(range(50))
    assert statuses(result) == {"completed": 50}


LOADS = st.builds(
    LoadSpec,
    arrival=st.sampled_from(["closed", "constant", "poisson", "gamma", "trace"]),
    max_concurrency=st.sampled_from([None, 1, 3]),
    request_rate=st.just(1000.0),
    burstiness=st.just(0.3),
    speed=st.just(50.0),
    num_prompts=st.sampled_from([None, 4, 9]),
    duration_s=st.sampled_from([None, 0.004, 10.0]),
)


@given(load=LOADS, kinds=st.lists(st.sampled_from(range(len(BEHAVIOURS))), min_size=12, max_size=12))
@settings(max_examples=40, deadline=None)
def test_whatever_load_and_server_do_each_request_has_one_true_record(
    load: LoadSpec, kinds: list[int]
) -> None:
    """Under any pattern, cap and bound: one record at most, none missing without a bound by time, none early."""

    async def handle(request: Request, out: Out) -> None:
        await BEHAVIOURS[kinds[request.json["prompt"][-1] // 10 % 12]](request, out)

    workload = traced(chats(8, turns=2, delay_s=0.001), [place / 10 for place in range(8)])
    result, server = asyncio.run(played(workload, handle, load))
    assert result.stopped is None
    assert result.planned == 2 * min(8, load.num_prompts or 8)
    numbers = [record.prompt for record in result.records]
    assert numbers == sorted(set(numbers))
    if load.duration_s != 0.004:
        assert numbers == list(range(result.planned))
    for record in result.records:
        assert (record.error is None) == (record.status == "completed")
        stamps = [record.send_ns, *record.chunk_ns, record.end_ns]
        assert stamps == sorted(stamps)
        assert record.due_ns <= record.send_ns
        assert (record.prompt in result.prompts) == (record.sent_prompt_tokens > 0)
    assert len(server.requests) == len(result.prompts)
