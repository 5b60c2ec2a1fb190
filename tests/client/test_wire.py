"""Bytes and connections: framings, ends, encryption, reuse, and an answer cut off at every byte."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import ssl
import subprocess
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Self

import pytest
import uvloop

from radixbench.client.answer import Answer
from radixbench.client.http import ServerClient
from radixbench.mock.settings import Faults, MockSettings, Pace
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well, token
from tests.mock.start import running_mock

ANSWER = b'data: {"id": "c", "choices": [{"text": "ab", "token_ids": [7], "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def on_both_loops(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on the standard event loop and on the fast one: transports differ between them."""

    def played(*, fast: bool, **fixtures: Any) -> None:
        (uvloop.run if fast else asyncio.run)(test(**fixtures))

    asked = inspect.signature(test)
    fast = inspect.Parameter("fast", inspect.Parameter.KEYWORD_ONLY)
    played.__signature__ = asked.replace(parameters=[*asked.parameters.values(), fast])
    played.__doc__ = test.__doc__
    return pytest.mark.parametrize("fast", [False, True], ids=["asyncio", "uvloop"])(played)


def raw(*pieces: bytes, end: Callable[[Out], Awaitable[None]] | None = None) -> Handler:
    """A handler that sends these bytes, each in a write of its own."""

    async def handle(request: Request, out: Out) -> None:
        for piece in pieces:
            await out.raw(piece)
            await asyncio.sleep(0.005)
        if end is not None:
            await end(out)

    return handle


class Dropping:
    """A server in a thread of its own that says it keeps connections and closes the last one when told to."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = self.seen = 0
        self._told, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._told.release()
        self._thread.join()
        self._listener.close()

    def drop(self) -> None:
        """Close the connection that was answered last; returns when it is closed."""
        self._told.release()
        assert self._done.acquire(timeout=10)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # the listener was shut down
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    self._answer(connection)
                    self._told.acquire()
                self._done.release()

    def _answer(self, connection: socket.socket) -> None:
        self.connections += 1
        if connection.recv(65536):
            self.seen += 1
            head = STREAM_HEAD + b"Content-Length: %d\r\n\r\n" % len(ANSWER)
            connection.sendall(head + ANSWER)


async def ask(handler: Handler, count: int = 1) -> tuple[Answer, ScriptedServer]:
    async with ScriptedServer(handler) as server, ServerClient(server.url, stall_timeout_s=5) as client:
        for _ in range(count):
            answer = await client.stream_completion((1, 2), 3)
        return answer, server


@on_both_loops
async def test_an_answer_with_a_length_is_read() -> None:
    """No chunks: the length says where it ends, and the connection is used again."""
    head = STREAM_HEAD + b"Content-Length: %d\r\n\r\n" % len(ANSWER)
    answer, server = await ask(raw(head + ANSWER), count=2)
    assert (answer.status, answer.output_ids, server.connections) == ("completed", (7,), 1)


@on_both_loops
async def test_an_answer_that_ends_with_its_connection_is_read() -> None:
    """Neither chunks nor a length: closing is the end, and no fault; a last event may lack its empty line."""
    answer, _ = await ask(raw(STREAM_HEAD + b"\r\n", ANSWER[:-16], end=Out.hang_up))
    assert (answer.status, answer.error, answer.output_ids) == ("completed", None, (7,))


@on_both_loops
async def test_an_answer_that_ends_inside_an_event_is_not_whole() -> None:
    """A connection that closes in the middle of an event lost something."""
    answer, _ = await ask(raw(STREAM_HEAD + b"\r\n", ANSWER[:40], end=Out.hang_up))
    assert answer.status == "failed"
    assert answer.error == "the stream ended in the middle of an event after 0 events with tokens"


@on_both_loops
async def test_interim_responses_are_no_answers() -> None:
    """100 and 103 come before the answer that counts."""
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\n\r\n"
    head = STREAM_HEAD + b"Content-Length: %d\r\n\r\n" % len(ANSWER)
    answer, _ = await ask(raw(early, head, ANSWER))
    assert (answer.status, answer.http_status) == ("completed", 200)


@on_both_loops
async def test_headers_may_be_empty_or_of_any_case() -> None:
    """An empty value shifts nothing, and names are compared without case."""
    head = b"HTTP/1.1 200 OK\r\nX-Empty:\r\nCONTENT-TYPE: Text/Event-Stream\r\ncontent-length: %d\r\n\r\n"
    answer, _ = await ask(raw(head % len(ANSWER) + ANSWER))
    assert answer.status == "completed"


@on_both_loops
async def test_a_compressed_answer_is_refused() -> None:
    """It was asked not to be: reading it would need guessing, and its stamps would lie."""
    answer, _ = await ask(
        raw(STREAM_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", b"\x1f\x8b\x08")
    )
    assert answer.error == "the server compresses its answer (gzip) though asked not to"


@on_both_loops
async def test_a_redirect_is_no_answer() -> None:
    """A prompt isn't sent on to somewhere else; the message says where the server points."""
    answer, _ = await ask(raw(b"HTTP/1.1 307 X\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n"))
    assert answer.error == "HTTP 307: redirected to http://other/"


@on_both_loops
async def test_an_upgrade_is_no_answer() -> None:
    """A server that wants another protocol isn't one to measure."""
    answer, _ = await ask(raw(b"HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"))
    assert answer.status == "failed"


@on_both_loops
async def test_close_is_obeyed() -> None:
    """``Connection: close`` ends the connection; the next request opens another."""
    head = STREAM_HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
    answer, server = await ask(raw(head + ANSWER), count=2)
    assert (answer.status, server.connections) == ("completed", 2)


@on_both_loops
async def test_a_connection_is_given_up_before_the_server_does() -> None:
    """A server that keeps idle connections for no time at all gets a new one for each request."""
    head = STREAM_HEAD + b"Keep-Alive: timeout=0\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
    answer, server = await ask(raw(head + ANSWER), count=2)
    assert (answer.status, server.connections) == ("completed", 2)


@on_both_loops
async def test_parting_words_on_an_idle_connection_are_no_answer() -> None:
    """A server may say 408 and hang up while nothing is asked: the next request doesn't take it for its own."""

    async def handle(request: Request, out: Out) -> None:
        await answer_well(request, out)
        await out.raw(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        for _ in range(2):
            assert (await client.stream_completion((1, 2), 2)).output_ids == (2, 3)
            await asyncio.sleep(0.05)
        assert server.connections == 2


@on_both_loops
async def test_an_end_that_nobody_has_come_to_yet_is_seen() -> None:
    """llama.cpp ends a connection after each stream without saying so: the next request isn't lost by it."""
    with Dropping() as server:
        async with ServerClient(server.url) as client:
            for _ in range(3):
                assert (await client.stream_completion((1, 2), 1)).status == "completed"
                server.drop()  # the loop runs again only when the next request asks for a connection
        assert (server.connections, server.seen) == (3, 3)


@on_both_loops
async def test_a_server_that_ends_what_it_said_to_keep_gets_new_connections() -> None:
    """After the second time nothing is used again, so that no further request meets a closed door."""
    with Dropping() as server:
        async with ServerClient(server.url) as client:
            for count in range(1, 5):
                await client.stream_completion((1, 2), 1)
                await asyncio.sleep(0.02)
                assert bool(client.wire.idle) is (count < 3)
                server.drop()
                await asyncio.sleep(0.02)
        assert (server.connections, server.seen) == (4, 4)


@on_both_loops
async def test_an_end_under_a_request_is_met_once() -> None:
    """The end that comes too late to be seen costs a request; after that one no connection is used again."""

    async def handle(request: Request, out: Out) -> None:
        if len(server.requests) == 2:
            await out.hang_up()
        else:
            await answer_well(request, out)

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        answers = [await client.stream_completion((1, 2), 2) for _ in range(4)]
    assert [answer.status for answer in answers] == ["completed", "failed", "completed", "completed"]
    assert server.connections == 3


@on_both_loops
async def test_a_request_that_was_read_is_sent_once() -> None:
    """A server that hangs up on what it has read fails the request: it may have begun to answer it."""

    async def handle(request: Request, out: Out) -> None:
        if len(server.requests) > 1:
            await out.hang_up()
        else:
            await answer_well(request, out)

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        answers = [await client.stream_completion((1, 2), 2) for _ in range(2)]
        answers.append(await client.generate((1, 2), 2))
    assert [answer.status for answer in answers] == ["completed", "failed", "failed"]
    assert len(server.requests) == 3


@on_both_loops
async def test_a_large_request_goes_out_whole() -> None:
    """More than a socket takes at once: the rest follows, in order."""
    prompt = tuple(range(1_000_000))
    async with ScriptedServer(answer_well) as server, ServerClient(server.url) as client:
        assert (await client.stream_completion(prompt, 1)).status == "completed"
        assert server.requests[0].json["prompt"] == list(prompt)


@pytest.mark.parametrize("kind", ["reset", "close"])
@on_both_loops
async def test_an_answer_cut_off_at_every_byte(kind: str) -> None:
    """Whatever byte was the last: one line that says so, or an answer that had said that it was whole."""
    settings = MockSettings(faults=Faults(cut_after_bytes=0, cut_step=1, cut_kind=kind))
    kinds: set[str | None] = set()
    async with running_mock(settings) as mock, ServerClient(mock.base_url, stall_timeout_s=5) as client:
        while True:
            answer = await client.stream_completion((1, 2, 3), 2)
            kinds.add(answer.error)
            assert (answer.error is None) == (answer.status == "completed")
            assert len(answer.chunk_ns) <= 2
            if answer.status == "completed":
                break
    assert kinds == {
        "the server closed the connection before it answered",
        *(f"the connection broke off after {count} events with tokens" for count in range(2)),
        None,
    }


@on_both_loops
async def test_ipv6_addresses_are_spoken_to() -> None:
    """An address in brackets is connected to, and named so in the Host header."""
    seen: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(connected, "::1", 0)
    except OSError:
        pytest.skip("this machine has no IPv6")
    port = server.sockets[0].getsockname()[1]
    async with server, ServerClient(f"http://[::1]:{port}/gate/v1") as client:
        assert await client.health()
    assert f"Host: [::1]:{port}".encode() in seen[0]
    assert seen[0].startswith(b"GET /gate/health HTTP/1.1\r\n")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of our own for 127.0.0.1, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    command += f" -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {cert}"
    subprocess.run(command.split(), check=True, capture_output=True)
    return cert, key


@on_both_loops
async def test_encrypted_servers_are_spoken_to(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An https address is spoken to with its certificate checked; one that can't be checked is named."""
    cert, key = certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    async with ScriptedServer(answer_well, tls=context) as server:
        url = server.url.replace("http:", "https:")
        async with ServerClient(url) as client:
            answer = await client.stream_completion((1, 2), 2)
            assert str(answer.error).startswith("can't connect to 127.0.0.1:")
            assert "certificate" in str(answer.error).lower()
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        async with ServerClient(url) as client:
            for _ in range(2):
                assert (await client.stream_completion((1, 2), 2)).output_ids == (2, 3)


@on_both_loops
async def test_a_name_that_is_none_is_named() -> None:
    """A host that can't be found is no crash."""
    async with ServerClient("http://no-such-host.invalid:1") as client:
        answer = await client.stream_completion((1,), 1)
    assert str(answer.error).startswith("can't connect to no-such-host.invalid:1: ")
    assert not answer.refused


@on_both_loops
async def test_a_name_and_password_in_the_address_are_sent() -> None:
    """As a browser would; a key given apart wins."""
    async with ScriptedServer(answer_well) as server:
        url = server.url.replace("//", "//me:p%40ss@")
        for key, sent in ((None, "Basic bWU6cEBzcw=="), ("k", "Bearer k")):
            async with ServerClient(url, api_key=key) as client:
                await client.health()
                assert server.requests[-1].headers["authorization"] == sent
                assert "@" not in server.requests[-1].headers["host"]


@on_both_loops
async def test_chunks_that_came_in_one_read_are_counted() -> None:
    """Three events in one write are three chunks of one read: two of them coalesced, all with one stamp."""
    events = b"".join(
        b'data: {"choices": [{"text": "a", "token_ids": [%d], "finish_reason": %b}]}\n\n'
        % (n, b'"stop"' if n == 2 else b"null")
        for n in range(3)
    )
    head = STREAM_HEAD + b"Content-Length: %d\r\n\r\n" % len(events)
    async with ScriptedServer(raw(head, events)) as server, ServerClient(server.url) as client:
        answer = await client.stream_completion((1,), 3)
        traffic = client.traffic
    assert len(set(answer.chunk_ns)) == 1
    assert (traffic.reads, traffic.chunks, traffic.coalesced_chunks) == (1, 3, 2)


@on_both_loops
async def test_reads_of_many_streams_are_stamped_before_any_is_parsed() -> None:
    """A hundred streams write at once: stamps keep the order of chunks, nothing is lost, nothing is mixed up."""
    async with running_mock() as mock, ServerClient(mock.base_url) as client:
        answers = await asyncio.gather(*(client.stream_completion((n, 1, 2), 20) for n in range(100)))
    assert {answer.status for answer in answers} == {"completed"}
    for answer in answers:
        assert len(answer.chunk_ns) == 20
        assert list(answer.chunk_ns) == sorted(answer.chunk_ns)


@on_both_loops
async def test_a_broken_answer_costs_only_its_own_connection() -> None:
    """After a stream that was given up the next request has a fresh connection and its own answer."""
    turns = iter(range(4))

    async def handle(request: Request, out: Out) -> None:
        if next(turns) % 2 == 0:
            await out.start_stream()
            await out.event({"error": {"message": "no"}})
            await out.event(token([99]))
        else:
            await answer_well(request, out)

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        answers = [await client.stream_completion((1, 2), 1) for _ in range(4)]
    assert [answer.status for answer in answers] == ["failed", "completed", "failed", "completed"]
    assert answers[1].output_ids == answers[3].output_ids == (2,)


async def test_a_request_that_is_given_up_ends_its_connection() -> None:
    """The server is told at once by the closed connection, and nothing more of the answer is counted."""
    async with (
        running_mock(MockSettings(pace=Pace(gap_s=0.01))) as mock,
        ServerClient(mock.base_url) as client,
    ):
        asking = asyncio.create_task(client.stream_completion((1, 2, 3), 1000))
        while not client.traffic.chunks:
            client.wire.inbox.catch_up()
            await asyncio.sleep(0.005)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        chunks = client.traffic.chunks
        for _ in range(1000):
            if client.wire.connections:
                await asyncio.sleep(0.005)
        assert not client.wire.connections
        assert client.traffic.chunks == chunks
