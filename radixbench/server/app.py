"""A running server, from its arguments to its exit code.

The port is taken before the model is loaded, so that a taken one costs nothing; connections made
meanwhile wait. SIGTERM ends the server with 0, SIGINT with 130, at any moment, the loading of the model
included; an engine that crashed ends it with 70 once everybody has been told.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from types import FrameType

from aiohttp import web

from radixbench.clock import Clock, MonotonicClock, anchor
from radixbench.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK
from radixbench.server.arguments import server_args
from radixbench.server.backend import Backend, build_backend
from radixbench.server.config import ServerConfig
from radixbench.server.exposition import Exposition
from radixbench.server.latency import Latencies
from radixbench.server.listener import open_listener, url_of
from radixbench.server.loop import EngineLoop
from radixbench.server.relay import relay_to
from radixbench.server.routes import make_app
from radixbench.server.service import Service
from radixbench.server.steplog import StepLog

try:
    import uvloop
except ImportError:  # a platform without it
    uvloop = None

_LAST_WORDS_S = 1.0


class _LeaveError(BaseException):
    """A signal asked the server to leave while it was still starting."""


def serve(config: ServerConfig) -> int:
    """Serve until told to leave; returns the exit code. The log goes to standard error."""
    clock = MonotonicClock()
    log = StepLog(sys.stderr, clock, anchor(), decode_log_interval=config.decode_log_interval)
    try:
        with _leaving_on_sigterm(), contextlib.closing(open_listener(config.host, config.port)) as listener:
            if config.exit_on_stdin_eof:
                _watch_stdin()
            backend = build_backend(config, clock, log.message)
            with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
                return runner.run(_serve_until_told(config, backend, log, clock, listener))
    except _LeaveError:
        return EXIT_OK


@contextlib.contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _LeaveError

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except Exception:
        signal.signal(signal.SIGTERM, before)
        raise
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the process is ending: being told twice changes nothing


def _watch_stdin() -> None:
    def watch() -> None:
        with contextlib.suppress(OSError):  # no standard input at all counts as closed
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="stdin", daemon=True).start()


async def _serve_until_told(
    config: ServerConfig, backend: Backend, log: StepLog, clock: Clock, listener: socket.socket
) -> int:
    event_loop = asyncio.get_running_loop()
    leave: asyncio.Future[int] = event_loop.create_future()
    for number, code in ((signal.SIGTERM, EXIT_OK), (signal.SIGINT, EXIT_INTERRUPTED)):
        event_loop.add_signal_handler(number, _settle, leave, code)
    async with running(config, backend, log, clock, listener) as service:
        service.loop.on_failure = lambda: _settle(leave, EXIT_INTERNAL)
        _announce(service, listener)
        return await leave


def _settle(leave: asyncio.Future[int], code: int) -> None:
    if not leave.done():
        leave.set_result(code)


@contextlib.asynccontextmanager
async def running(
    config: ServerConfig, backend: Backend, log: StepLog, clock: Clock, listener: socket.socket
) -> AsyncIterator[Service]:
    """A server on the running event loop, for as long as the block lasts; whoever waits at its end is told."""
    latencies = Latencies()
    loop = EngineLoop(backend.engine, log, latencies, asyncio.get_running_loop())
    exposition = Exposition(
        lambda: loop.stats, latencies, model_name=config.model_name, page_size=config.page_size
    )
    service = Service(config, backend.identity, backend.tokenizer, loop, log, exposition, clock, anchor())
    runner = web.AppRunner(
        make_app(service),
        handler_cancellation=True,
        access_log=None,
        logger=relay_to(log),
        shutdown_timeout=_LAST_WORDS_S,
    )
    await runner.setup()
    loop.start()
    try:
        await web.SockSite(runner, listener).start()
        yield service
    finally:
        await loop.stop()
        await runner.cleanup()


def _announce(service: Service, listener: socket.socket) -> None:
    config, identity, log = service.config, service.identity, service.log
    arguments = server_args(config, identity) | {"port": listener.getsockname()[1]}
    log.message(f"server_args={arguments!r}")
    log.message(
        f"max_total_num_tokens={identity.max_total_num_tokens}, "
        f"chunked_prefill_size={arguments['chunked_prefill_size']}, "
        f"max_prefill_tokens={config.max_prefill_tokens}, "
        f"max_running_requests={config.max_running_requests}, context_len={identity.context_length}"
    )
    tree = "RadixCache" if config.radix_cache else "NoCache"
    log.message(
        f"Tree cache initialized: source=default impl={tree} hybrid_swa=False hybrid_ssm=False "
        "hicache_attached=False"
    )
    log.message(f"Listening on {url_of(listener)}")
    log.message("The server is fired up and ready to roll!")
