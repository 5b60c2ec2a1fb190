"""A server in this process, on a free port, with scripted tokens behind real HTTP, scheduler and tree."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from radixbench.clock import MonotonicClock, anchor
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine
from radixbench.engine.runner import Runner, StepCost
from radixbench.logs.line import parse_line
from radixbench.records import FinishRecord, StepRecord
from radixbench.server.app import running
from radixbench.server.backend import Backend, build_backend
from radixbench.server.config import ServerConfig
from radixbench.server.listener import open_listener, url_of
from radixbench.server.service import Service
from radixbench.server.steplog import StepLog

FAST = StepCost(prefill_base_ns=0, prefill_token_ns=0, decode_base_ns=0, decode_token_ns=0)
SLOW = StepCost(prefill_base_ns=0, prefill_token_ns=0, decode_base_ns=5_000_000, decode_token_ns=0)


@dataclass(slots=True)
class Front:
    """What a test holds of a running server."""

    service: Service
    session: aiohttp.ClientSession
    output: io.StringIO
    url: str

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        async with self.session.post(path, json=body) as response:
            return response.status, await response.json()

    async def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        async with self.session.get(path) as response:
            return response.status, await response.json()

    async def complete(self, prompt: Any, **fields: Any) -> dict[str, Any]:
        """The body of a completion that must succeed."""
        status, body = await self.post("/v1/completions", {"prompt": prompt, "temperature": 0, **fields})
        assert status == 200, body
        return body

    async def stream(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """All chunks of a stream that must end well."""
        async with self.session.post(path, json={**body, "stream": True}) as response:
            assert response.status == 200, await response.text()
            return read_events(await response.read())

    async def until(self, *, busy: bool) -> None:
        """Wait until requests are, or are no longer, waiting or running."""
        async with asyncio.timeout(10):
            while self.service.is_busy() != busy:  # noqa: ASYNC110 - the state is another thread's
                await asyncio.sleep(0.001)

    async def lines(self) -> list[str]:
        """The log's lines, those of every step whose tokens have arrived included."""
        if self.service.loop.failure is None:
            await self.service.loop.ask(lambda: None)
        return self.output.getvalue().splitlines()

    async def records(self) -> list[StepRecord | FinishRecord]:
        """The records the log holds so far."""
        parsed = [parse_line(line) for line in await self.lines()]
        return [record for record in parsed if record is not None]


def read_events(raw: bytes) -> list[dict[str, Any]]:
    """The JSON chunks of a complete stream."""
    events = raw.split(b"\n\n")
    assert events[-2:] == [b"data: [DONE]", b""], events[-3:]
    return [json.loads(event.removeprefix(b"data: ")) for event in events[:-2]]


@contextlib.asynccontextmanager
async def open_front(
    config: ServerConfig, replace_runner: Callable[[Backend], Runner] | None = None
) -> AsyncIterator[Front]:
    """A running server and a client of it."""
    clock, output = MonotonicClock(), io.StringIO()
    log = StepLog(output, clock, anchor(), decode_log_interval=config.decode_log_interval)
    backend = build_backend(config, clock, log.message)
    if replace_runner is not None:
        engine_config = EngineConfig(backend.identity.max_total_num_tokens, backend.identity.context_length)
        engine = Engine(engine_config, replace_runner(backend), clock)
        backend = Backend(engine, backend.tokenizer, backend.identity)
    with contextlib.closing(open_listener(config.host, config.port)) as listener:
        url = url_of(listener)
        async with (
            running(config, backend, log, clock, listener) as service,
            aiohttp.ClientSession(url, headers=_key(config)) as session,
        ):
            yield Front(service, session, output, url)


def _key(config: ServerConfig) -> dict[str, str]:
    return {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}


def fake(**settings: Any) -> ServerConfig:
    """A fast scripted server on a free port."""
    return ServerConfig(**{"runner": "fake", "port": 0, "fake_cost": FAST, "audit_endpoint": True} | settings)


@pytest.fixture(scope="package")
def live_port() -> Iterator[int]:
    """The port of a fast scripted server on a thread of its own, for tests that are not asynchronous."""
    ready: queue.Queue[int] = queue.Queue()
    leave = threading.Event()

    async def serve() -> None:
        async with open_front(fake(context_len=1000, max_total_tokens=4000)) as front:
            ready.put(int(front.url.rpartition(":")[2]))
            await asyncio.to_thread(leave.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    yield ready.get(timeout=10)
    leave.set()
    thread.join()


@pytest.fixture
async def front() -> AsyncIterator[Front]:
    """A fast scripted server with default settings."""
    async with open_front(fake()) as found:
        yield found
