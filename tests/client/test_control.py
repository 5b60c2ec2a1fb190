"""Health, information and flushing, against servers that hesitate, refuse or don't know the endpoint."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.client.flush import FlushOutcome
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well


def replies(*answers: tuple[int, object]) -> Handler:
    """A handler that gives one answer after the other, the last one for ever."""
    waiting = list(answers)

    async def handle(request: Request, out: Out) -> None:
        status, body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        await out.whole(status, body, "text/plain" if isinstance(body, bytes) else "application/json")

    return handle


def endpoints(**known: object) -> Handler:
    """A handler that knows some paths and answers 404 elsewhere."""

    async def handle(request: Request, out: Out) -> None:
        name = request.path.strip("/").replace("/", "_")
        await out.whole(200 if name in known else 404, known.get(name, {"detail": "Not Found"}))

    return handle


async def flush(handler: Handler, limit_s: float) -> tuple[FlushOutcome, int]:
    async with ScriptedServer(handler) as server, ServerClient(server.url) as client:
        outcome = await client.flush(limit_s=limit_s, pause_s=0.01)
        assert {(request.method, request.path) for request in server.requests} == {("POST", "/flush_cache")}
        return outcome, len(server.requests)


BUSY = (400, b"Flush cache failed: requests\r\nare pending.")


async def test_a_refused_flush_is_asked_again() -> None:
    """Faults 100, 103: 400, 400, 200 is a flush after three tries."""
    outcome, asked = await flush(replies(BUSY, BUSY, (200, b"Cache flushed.\n")), 10)
    assert outcome == FlushOutcome(ok=True, status=200, body="Cache flushed.", attempts=3)
    assert asked == 3


async def test_a_flush_that_is_refused_for_ever_ends() -> None:
    """Fault 101: tries are bounded and paced, and the body of the refusal is kept."""
    outcome, asked = await flush(replies(BUSY), 0.3)
    assert (outcome.ok, outcome.status) == (False, 400)
    assert outcome.body == "Flush cache failed: requests are pending."
    assert outcome.attempts == asked
    assert 2 <= asked <= 6


async def test_success_false_is_a_refusal() -> None:
    """A 200 whose body says otherwise is asked again, and never believed."""
    outcome, asked = await flush(replies((200, {"success": False})), 0.1)
    assert (outcome.ok, outcome.status) == (False, 200)
    assert asked > 1
    outcome, _ = await flush(replies((200, {"success": False}), (200, {"success": True})), 5)
    assert (outcome.ok, outcome.attempts) == (True, 2)


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_other_errors_are_not_asked_again(status: int) -> None:
    """A missing endpoint or key won't appear by waiting."""
    outcome, asked = await flush(replies((status, b"no")), 5)
    assert (outcome.ok, outcome.status, outcome.body, asked) == (False, status, "no", 1)


async def test_flushing_a_dead_server_says_so() -> None:
    """No status, the reason as the body, no traceback."""
    async with ScriptedServer(answer_well) as server:
        port = server.port
    async with ServerClient(f"http://127.0.0.1:{port}") as client:
        outcome = await client.flush()
    assert outcome == FlushOutcome(False, None, f"connection refused by 127.0.0.1:{port}", 1)


async def test_waiting_lasts_until_the_server_is_well() -> None:
    """503 while starting, then 200."""
    handler = replies((503, b""), (503, b""), (200, b""))
    async with ScriptedServer(handler) as server, ServerClient(server.url) as client:
        await client.wait_ready(20)
        assert len(server.requests) == 3


async def test_waiting_lasts_until_the_port_opens() -> None:
    """Fault 106: nobody listens at first; the client waits instead of failing every request."""
    async with ScriptedServer(answer_well) as server:
        port = server.port
    async with ServerClient(f"http://127.0.0.1:{port}") as client:
        waiting = asyncio.create_task(client.wait_ready(20))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        async with ScriptedServer(answer_well, port=port):
            await waiting


async def test_waiting_ends_with_a_clear_message() -> None:
    """Fault 106: a port that never opens is exit code 3 with the address in the message."""
    async with ScriptedServer(answer_well) as server:
        url = server.url
    async with ServerClient(url) as client:
        with pytest.raises(IncompleteError, match=f"no server was ready at {url} within 0.2 s") as caught:
            await client.wait_ready(0.2)
    assert caught.value.exit_code == 3


async def test_a_server_without_health_lists_models() -> None:
    """Servers without the endpoint are well when they list their models."""
    handler = endpoints(v1_models={"data": [{"id": "a"}, {"id": "b"}, {}, 3]})
    async with ScriptedServer(handler) as server, ServerClient(server.url) as client:
        assert await client.health()
        assert await client.models() == ("a", "b")
    async with ScriptedServer(endpoints()) as server, ServerClient(server.url) as client:
        assert not await client.health()
        assert await client.models() == ()


async def test_information_is_found_under_its_old_names() -> None:
    """Older servers know only the ``get_`` endpoints; one that knows neither says nothing."""
    new = endpoints(server_info={"a": 1}, model_info={"b": 2})
    old = endpoints(get_server_info={"a": 1}, get_model_info={"b": 2})
    for handler in (new, old):
        async with ScriptedServer(handler) as server, ServerClient(server.url) as client:
            assert await client.server_info() == {"a": 1}
            assert await client.model_info() == {"b": 2}
    async with ScriptedServer(endpoints(server_info=[1])) as server, ServerClient(server.url) as client:
        assert await client.server_info() is None
        assert await client.model_info() is None
