"""Health, information and flushing, against servers that hesitate, refuse or don't know the endpoint."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.client.flush import FlushOutcome
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError
from radixbench.scenario.model import Engine
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
    assert (outcome.ok, outcome.status, outcome.body) == (True, 200, "Cache flushed.")
    assert (outcome.attempts, asked) == (3, 3)
    assert outcome.waited_ns > 20_000_000
    assert outcome.tiers == ("device",)


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
    assert (outcome.ok, outcome.status, outcome.attempts, outcome.tiers) == (False, None, 1, ())
    assert outcome.body == f"connection refused by 127.0.0.1:{port}"


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
    """Fault 106: a port that never opens is exit code 3 with the address in the message; each look is told."""
    looks: list[str] = []
    async with ScriptedServer(answer_well) as server:
        url = server.url
    async with ServerClient(url) as client:
        with pytest.raises(
            IncompleteError, match=f"no server was ready at {url} within 0.2 s .last: connection refused by"
        ) as caught:
            await client.wait_ready(0.2, on_wait=looks.append)
    assert caught.value.exit_code == 3
    assert looks
    assert all(look.startswith("connection refused by") for look in looks)


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


def routes(**known: tuple[int, object]) -> Handler:
    """A handler that answers some calls, named ``post_flush_cache``, and 404 elsewhere."""

    async def handle(request: Request, out: Out) -> None:
        path, _, query = request.path.partition("?")
        name = "_".join([request.method.lower(), *path.strip("/").replace("-", "_").split("/")])
        status, body = known.get(f"{name}_{query.partition('=')[0]}" if query else name, (404, {}))
        await out.whole(status, body)

    return handle


async def flush_engine(engine: Engine, handler: Handler) -> tuple[FlushOutcome, list[str]]:
    async with ScriptedServer(handler) as server, ServerClient(server.url, engine=engine) as client:
        outcome = await client.flush(limit_s=1, pause_s=0.01)
        return outcome, [f"{request.method} {request.path}" for request in server.requests]


async def test_sglang_empties_every_tier_it_has() -> None:
    """The storage tier has a call of its own, under one of two names; a server without it answers 404 to both."""
    yes = (200, b"Cache flushed.")
    outcome, _ = await flush_engine("sglang", routes(post_flush_cache=yes))
    assert (outcome.ok, outcome.tiers) == (True, ("device", "host"))
    for name in ("post_hicache_storage_backend_clear", "post_clear_hicache_storage_backend"):
        outcome, _ = await flush_engine("sglang", routes(post_flush_cache=yes, **{name: (200, b"")}))
        assert outcome.tiers == ("device", "host", "storage")


async def test_an_old_sglang_is_flushed_by_get() -> None:
    """Before 0.3.5 the endpoint knew no POST."""
    outcome, asked = await flush_engine(
        "sglang", routes(post_flush_cache=(405, b""), get_flush_cache=(200, b""))
    )
    assert outcome.ok
    assert asked[:2] == ["POST /flush_cache", "GET /flush_cache"]


async def test_vllm_is_asked_for_its_external_tier_apart() -> None:
    """A connector that isn't there refuses; that refusal isn't the flush's."""
    no, yes = (200, {"success": False}), (200, {"success": True})
    bare, full = {"post_reset_prefix_cache": yes}, "post_reset_prefix_cache_reset_external"
    outcome, asked = await flush_engine("vllm", routes(**bare, **{full: no}))
    assert (outcome.ok, outcome.tiers) == (True, ("device",))
    assert asked[-1] == "POST /reset_prefix_cache?reset_external=true"
    outcome, _ = await flush_engine("vllm", routes(**bare, **{full: yes}))
    assert outcome.tiers == ("device", "external")
    outcome, _ = await flush_engine("vllm", routes(post_reset_prefix_cache=(200, b""), **{full: (200, b"")}))
    assert (outcome.ok, outcome.tiers) == (True, ("device",))


async def test_vllm_outside_its_development_mode_says_so() -> None:
    """A 404 is no flush, and the outcome carries it."""
    outcome, asked = await flush_engine("vllm", routes())
    assert (outcome.ok, outcome.status, outcome.tiers, len(asked)) == (False, 404, (), 1)


async def test_llamacpp_is_flushed_slot_by_slot() -> None:
    """Each listed slot is erased; one that refuses makes the whole flush a failed one."""
    slots = (200, [{"id": 0}, {"id": 1}])
    erased = (200, {"n_erased": 5})
    handler = routes(get_slots=slots, post_slots_0_action=erased, post_slots_1_action=erased)
    outcome, asked = await flush_engine("llamacpp", handler)
    assert (outcome.ok, outcome.tiers, outcome.attempts) == (True, ("device",), 2)
    assert asked == ["GET /slots", "POST /slots/0?action=erase", "POST /slots/1?action=erase"]
    broken = routes(get_slots=slots, post_slots_0_action=erased, post_slots_1_action=(500, b"no"))
    outcome, _ = await flush_engine("llamacpp", broken)
    assert (outcome.ok, outcome.status, outcome.body) == (False, 500, "no")
    outcome, _ = await flush_engine("llamacpp", routes(get_slots=(501, b"slots are disabled")))
    assert (outcome.ok, outcome.body) == (False, "slots are disabled")


async def test_an_unknown_engine_is_flushed_by_what_it_knows() -> None:
    """Every way is tried until one exists; none at all is no flush."""
    outcome, _ = await flush_engine("other", routes(post_reset_prefix_cache=(200, {"success": True})))
    assert outcome.ok
    outcome, _ = await flush_engine("other", routes())
    assert (outcome.ok, outcome.status) == (False, 404)


async def test_counters_are_read_as_text() -> None:
    """Prometheus text as it is; a server without counters gives nothing."""
    async with (
        ScriptedServer(routes(get_metrics=(200, b"a 1\n"))) as server,
        ServerClient(server.url) as client,
    ):
        assert await client.metrics_text() == "a 1\n"
    async with ScriptedServer(routes()) as server, ServerClient(server.url) as client:
        assert await client.metrics_text() is None


async def test_a_reused_connection_that_was_dropped_is_no_fault() -> None:
    """A call that changes nothing is sent again when the server had dropped its idle connection."""
    seen: list[int] = []

    async def once_each(request: Request, out: Out) -> None:
        if request.connection in seen:
            await out.hang_up()
            return
        seen.append(request.connection)
        await out.whole(200, {"ok": True})

    async with ScriptedServer(once_each) as server, ServerClient(server.url) as client:
        assert [await client.health() for _ in range(3)] == [True, True, True]
