"""The client against real sockets: what goes out, what comes back, and every way it can go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from radixbench.client.answer import Answer, Usage
from radixbench.client.http import ServerClient
from radixbench.clock import MonotonicClock
from radixbench.errors import IncompleteError, UsageError
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well, token, usage

MS = 1_000_000


async def ask(handler: Handler, *, stall_timeout_s: float = 5.0, **options: str) -> Answer:
    """One streamed request against ``handler``."""
    async with (
        ScriptedServer(handler) as server,
        ServerClient(server.url, stall_timeout_s=stall_timeout_s, **options) as client,
    ):
        return await client.stream_completion((1, 2, 3), 4)


def streaming(*events: object, end: Callable[[Out], Awaitable[None]] | None = None) -> Handler:
    """A handler that streams ``events`` and then ends as ``end`` does, properly by default."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        for event in events:
            await out.event(event)
            await asyncio.sleep(0.01)
        await (out.end_stream() if end is None else end(out))

    return handle


async def test_the_request_is_what_a_fair_benchmark_sends() -> None:
    """Exact ids, greedy, ignoring end-of-sequence, asking for ids and usage, uncompressed, with the key."""
    async with (
        ScriptedServer(answer_well) as server,
        ServerClient(server.url + "/v1/", model="m", api_key="k") as client,
    ):
        await client.stream_completion((5, 6), 3)
        (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/completions")
    assert request.json == {
        "prompt": [5, 6],
        "max_tokens": 3,
        "temperature": 0,
        "ignore_eos": True,
        "return_token_ids": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        "model": "m",
    }
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["accept-encoding"] == "identity"


async def test_a_good_answer_is_recorded_whole() -> None:
    """Stamps in order on the host's clock, counts, ids, finish reason and the server's id."""
    before = MonotonicClock().now_ns()
    answer = await ask(answer_well)
    after = MonotonicClock().now_ns()
    assert (answer.status, answer.error, answer.http_status) == ("completed", None, 200)
    assert answer.output_ids == (3, 4, 5, 6)
    assert answer.usage == Usage(prompt_tokens=3, output_tokens=4, cached_tokens=0)
    assert answer.chunk_tokens == (1, 1, 1, 1)
    assert (answer.finish_reason, answer.server_rid) == ("length", "cmpl-7")
    stamps = [before, answer.send_ns, *answer.chunk_ns, answer.end_ns, after]
    assert stamps == sorted(stamps)


async def test_the_first_token_is_stamped_when_it_arrives() -> None:
    """A role-like empty event at once and the token 50 ms later: TTFT is at least the 50 ms."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        await out.event(token([], text=""))
        await asyncio.sleep(0.05)
        await out.event(token([1], finish="length"))
        await out.end_stream()

    answer = await ask(handle)
    assert answer.chunk_ns[0] - answer.send_ns >= 50 * MS
    assert len(answer.chunk_ns) == 1


async def test_connections_are_kept() -> None:
    """Requests one after the other share a connection, streamed or not."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        for _ in range(3):
            assert (await client.stream_completion((1,), 2)).status == "completed"
            assert (await client.generate((1,), 2)).status == "completed"
        assert {request.connection for request in server.requests} == {1}


@pytest.mark.parametrize(
    ("body", "content_type", "error"),
    [
        (
            {"error": {"message": "prompt is too long\nby 5"}},
            "application/json",
            "HTTP 400: prompt is too long by 5",
        ),
        ({"object": "error", "message": "no"}, "application/json", "HTTP 400: no"),
        ({"detail": "not here"}, "application/json", "HTTP 400: not here"),
        (b"<html>Bad\r\nGateway</html>", "text/html", "HTTP 400: <html>Bad Gateway</html>"),
        (b"", "text/plain", "HTTP 400: no reason given"),
        (b"[1]", "application/json", "HTTP 400: [1]"),
        (b"\xff\xfe", "text/plain", "HTTP 400: \ufffd\ufffd"),
    ],
)
async def test_a_refusal_keeps_its_reason(body: object, content_type: str, error: str) -> None:
    """4xx and 5xx bodies of every shape become one line with the message that was in them."""

    async def handle(request: Request, out: Out) -> None:
        await out.whole(400, body, content_type)

    answer = await ask(handle)
    assert (answer.status, answer.http_status, answer.error) == ("failed", 400, error)
    assert answer.usage.output_tokens is None


async def test_an_answer_in_one_piece_is_no_stream() -> None:
    """A server that ignores ``stream`` can't be measured, and says so; an error with status 200 is found."""

    async def whole(request: Request, out: Out) -> None:
        await out.whole(200, {"choices": [{"text": "abc"}]})

    async def error(request: Request, out: Out) -> None:
        await out.whole(200, {"error": {"message": "overloaded"}})

    assert (await ask(whole)).error == "the server answered in one piece instead of a stream"
    assert (await ask(error)).error == "HTTP 200: overloaded"


async def test_a_stream_without_an_end_is_truncated() -> None:
    """Tokens, then a clean end of the body with neither finish reason nor [DONE]: failed, stamps kept."""
    answer = await ask(streaming(token([1]), token([2]), end=lambda out: out.end_stream(done=False)))
    assert (answer.status, answer.chunk_tokens, answer.output_ids) == ("failed", (1, 1), (1, 2))
    assert answer.error == "the stream ended without a finish reason or [DONE]"


async def test_a_missing_end_mark_is_forgiven() -> None:
    """With a finish reason the answer is whole, [DONE] or not."""
    answer = await ask(streaming(token([1], finish="length"), end=lambda out: out.end_stream(done=False)))
    assert (answer.status, answer.error) == ("completed", None)


@pytest.mark.parametrize("break_off", [Out.reset, Out.hang_up])
async def test_a_lost_connection_keeps_what_came(break_off: Callable[[Out], Awaitable[None]]) -> None:
    """A reset or a close in the middle of the stream: failed, one line, the tokens so far kept."""
    answer = await ask(streaming(token([1]), token([2]), end=break_off))
    assert (answer.status, answer.chunk_tokens, answer.refused) == ("failed", (1, 1), False)
    assert answer.error == "the connection broke off after 2 events with tokens"


async def test_a_connection_lost_after_the_end_loses_nothing() -> None:
    """Once the finish reason came, a reset doesn't make the answer incomplete."""
    answer = await ask(streaming(token([1], finish="length"), end=Out.reset))
    assert (answer.status, answer.error) == ("completed", None)


async def test_a_server_that_hangs_up_first_has_not_answered() -> None:
    """Closing without a byte of answer is named as that."""

    async def handle(request: Request, out: Out) -> None:
        await out.hang_up()

    assert (await ask(handle)).error == "the server closed the connection before it answered"


async def test_something_that_is_no_http_server() -> None:
    """Another program on the port is told apart from a broken stream."""

    async def handle(request: Request, out: Out) -> None:
        await out.raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")

    answer = await ask(handle)
    assert answer.status == "failed"
    assert answer.error is not None
    assert answer.error.startswith("not an HTTP answer: ")


async def test_an_error_in_the_middle_of_a_stream() -> None:
    """An error object after tokens is the reason, even when the stream then ends properly."""
    answer = await ask(streaming(token([1]), {"error": {"message": "CUDA out of memory"}}))
    assert (answer.status, answer.error) == ("failed", "the server reported: CUDA out of memory")
    assert answer.chunk_tokens == (1,)


async def test_a_stream_that_is_no_completion() -> None:
    """Events that aren't JSON end the request with what was in them."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        await out.part(b"data: hello\n\n")
        await out.end_stream()

    assert (await ask(handle)).error == "an event isn't JSON: hello"


async def silent(out: Out) -> None:
    await asyncio.sleep(30)


async def pinging(out: Out) -> None:
    while True:
        await out.part(b": ping\n\n")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("stuck", [silent, pinging])
async def test_a_stalled_stream_fails_and_the_run_goes_on(stuck: Callable[[Out], Awaitable[None]]) -> None:
    """Fault 104: a chunk, then silence or nothing but pings: failed as stalled after the limit."""
    answer = await ask(streaming(token([1]), end=stuck), stall_timeout_s=0.3)
    assert (answer.status, answer.error) == ("failed", "stalled: nothing new came for 0.3 s")
    assert answer.chunk_tokens == (1,)


async def test_an_end_mark_is_enough_to_be_done() -> None:
    """A server that keeps the connection open after [DONE] doesn't hold the loop up."""

    async def linger(out: Out) -> None:
        await out.part(b"data: [DONE]\n\n")
        await asyncio.sleep(30)

    answer = await asyncio.wait_for(ask(streaming(token([1], finish="length"), end=linger)), 10)
    assert answer.status == "completed"


async def test_nobody_listens() -> None:
    """A refused connection is marked, so that the loop can stop."""
    async with ScriptedServer(answer_well) as server:
        port = server.port
    async with ServerClient(f"http://127.0.0.1:{port}") as client:
        answer = await client.stream_completion((1,), 1)
        whole = await client.generate((1,), 1)
    assert (answer.status, answer.refused) == ("failed", True)
    assert answer.error == whole.error == f"connection refused by 127.0.0.1:{port}"


async def test_a_request_given_up_keeps_what_came_and_frees_the_server() -> None:
    """Cancelling closes the connection; the flight still tells what it saw."""
    started = asyncio.Event()

    async def hold(out: Out) -> None:
        started.set()
        await asyncio.sleep(30)

    async with (
        ScriptedServer(streaming(token([1]), end=hold)) as server,
        ServerClient(server.url) as client,
    ):
        flight = client.flight((1, 2), 4)
        task = asyncio.create_task(flight.run())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        answer = flight.cancelled("interrupted")
    assert (answer.status, answer.error, answer.chunk_tokens) == ("cancelled", "interrupted", (1,))


async def test_generate_reads_usage_and_ids() -> None:
    """The answer in one piece carries what warm-up and probes need."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        answer = await client.generate((1, 2), 3)
        assert server.requests[0].json["stream"] is False
        assert "stream_options" not in server.requests[0].json
    assert (answer.status, answer.output_ids, answer.text) == ("completed", (2, 3, 4), "xxx")
    assert answer.usage == Usage(2, 3, 0)


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": None}, {}, [1], b"{"])
async def test_generate_of_a_body_without_a_choice_fails(body: object) -> None:
    """A strange 200 is a failed answer, not a crash."""

    async def handle(request: Request, out: Out) -> None:
        await out.whole(200, body)

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        assert (await client.generate((1,), 1)).status == "failed"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:30000", "ftp://x", "", "http://", "http://h:x", "http://[::1", "http://h:99999"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """The address is named before anything is tried."""
    with pytest.raises(UsageError, match="is no server address"):
        ServerClient(url)


async def test_text_is_kept_on_request() -> None:
    """``keep_text`` joins the text of all events."""
    handler = streaming(token([1], text="é"), token([2], text="😀", finish="length"))
    async with ScriptedServer(handler) as server, ServerClient(server.url, keep_text=True) as client:
        assert (await client.stream_completion((1,), 2)).text == "é😀"


async def test_usage_may_come_alone_at_the_end() -> None:
    """The usage-only event with empty choices is read, though the finish reason came before it."""
    handler = streaming(
        token([1]), token([2], finish="length"), {"choices": [], "usage": usage(3, 2, cached=1)}
    )
    assert (await ask(handler)).usage == Usage(3, 2, 1)


async def test_waiting_gives_up_on_a_dead_process() -> None:
    """Fault 106: a server process that ended isn't waited for."""
    async with ScriptedServer(answer_well) as server:
        port = server.port
    async with ServerClient(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(IncompleteError, match="ended before it was ready"):
            await client.wait_ready(60, is_alive=lambda: False)


async def test_another_server_on_the_port_is_not_ours() -> None:
    """Our process died because the port was taken: the one that answers there isn't measured."""
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        with pytest.raises(IncompleteError, match="ended before it was ready"):
            await client.wait_ready(60, is_alive=lambda: False)


async def test_a_whole_answer_stays_whole_when_given_up() -> None:
    """Cancelled while only the end of the connection was awaited: nothing is missing from the answer."""
    whole = asyncio.Event()

    async def linger(out: Out) -> None:
        await out.part(b"data: [DONE]\n\n")
        whole.set()
        await asyncio.sleep(30)

    handler = streaming(token([1], finish="length"), end=linger)
    async with ScriptedServer(handler) as server, ServerClient(server.url) as client:
        flight = client.flight((1,), 1)
        task = asyncio.create_task(flight.run())
        await whole.wait()
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (flight.cancelled("interrupted").status, flight.cancelled("x").error) == ("completed", None)


async def test_slow_but_steady_is_no_stall() -> None:
    """Tokens that come more often than the stall time keep a request alive, however long it takes."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        for number in range(8):
            await asyncio.sleep(0.15)
            await out.event(token([number], finish="length" if number == 7 else None))
        await out.end_stream()

    assert (await ask(handle, stall_timeout_s=0.6)).status == "completed"
