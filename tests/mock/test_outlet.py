"""The way out of a connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
import uvloop

from radixbench.clock import MonotonicClock
from radixbench.mock.outlet import Outlet

CLOCK = MonotonicClock()


class Gone(asyncio.Protocol):
    """Knows when its connection has ended."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()


@contextlib.asynccontextmanager
async def outlet_and_reader():
    """An outlet and the blocking socket at its other end, which reads nothing by itself."""
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    transport, end = await asyncio.get_running_loop().create_connection(Gone, sock=ours)
    try:
        yield Outlet(transport, CLOCK), theirs
    finally:
        if not end.gone.is_set():
            transport.abort()
        theirs.close()
        await end.gone.wait()


async def nothing_overtakes() -> None:
    """Many writes to a reader that sleeps: some wait, all come, in order."""
    parts = [bytes([number % 251]) * 20_000 for number in range(200)]
    async with outlet_and_reader() as (outlet, reader):
        for part in parts:
            before = CLOCK.now_ns()
            assert before <= outlet.send(part) <= CLOCK.now_ns()
        assert outlet.buffering
        outlet.close()
        reader.setblocking(False)
        got = b""
        while data := await asyncio.get_running_loop().sock_recv(reader, 1 << 20):
            got += data
            if len(got) < 100_000:
                outlet.send(b"too late: it is closing")
        assert got == b"".join(parts)


async def test_nothing_overtakes() -> None:
    """On asyncio's own loop."""
    await nothing_overtakes()


def test_nothing_overtakes_on_uvloop() -> None:
    """On the loop the mock runs on, which buffers more."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(nothing_overtakes())


async def test_a_reader_that_is_gone_raises_nothing() -> None:
    """Bytes for nobody are dropped: that the connection broke is the event loop's to tell."""
    async with outlet_and_reader() as (outlet, reader):
        reader.close()
        for _ in range(3):
            outlet.send(b"x" * 1000)
        assert not outlet.buffering


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_small_writes_aren_t_held_back(factory) -> None:
    """Connections of the mock's server have Nagle's algorithm off, on either loop."""

    async def nodelay() -> int:
        found = asyncio.get_running_loop().create_future()

        class Protocol(asyncio.Protocol):
            def connection_made(self, transport):
                file = transport.get_extra_info("socket").fileno()
                with socket.socket(fileno=file) as twin:
                    found.set_result(twin.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                    twin.detach()

        server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", 0)
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        value = await found
        writer.close()
        server.close()
        await asyncio.sleep(0.01)
        return value

    with asyncio.Runner(loop_factory=factory) as runner:
        assert runner.run(nodelay()) != 0
