"""The mock as a process: ready line, signals, exit code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable

from radixbench.errors import EXIT_INTERRUPTED, EXIT_OK
from radixbench.mock.server import start
from radixbench.mock.settings import MockSettings

try:
    import uvloop
except ImportError:  # a platform without it
    uvloop = None

_YOUNG_OBJECTS = 50_000


def serve(settings: MockSettings, *, as_json: bool = False, exit_on_stdin_eof: bool = False) -> int:
    """Serve until told to leave; returns the exit code. Prints one line on standard output when ready."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 50, 1000)  # a collection in mid-stream would be somebody's lateness
    with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
        return runner.run(_serve_until_told(settings, as_json=as_json, exit_on_stdin_eof=exit_on_stdin_eof))


async def _serve_until_told(settings: MockSettings, *, as_json: bool, exit_on_stdin_eof: bool) -> int:
    loop = asyncio.get_running_loop()
    leave: asyncio.Future[int] = loop.create_future()

    def settle(code: int) -> None:
        if not leave.done():
            leave.set_result(code)

    for number, code in ((signal.SIGTERM, EXIT_OK), (signal.SIGINT, EXIT_INTERRUPTED)):
        loop.add_signal_handler(number, settle, code)
    if exit_on_stdin_eof:
        _watch_stdin(lambda: loop.call_soon_threadsafe(settle, EXIT_OK))
    server = await start(settings)
    try:
        ready = {"mock": True, "base_url": server.base_url, "pid": os.getpid()}
        sys.stdout.write(json.dumps(ready) + "\n" if as_json else f"mock ready on {server.base_url}\n")
        sys.stdout.flush()
        return await leave
    finally:
        await server.close()


def _watch_stdin(closed: Callable[[], object]) -> None:
    def watch() -> None:
        with contextlib.suppress(OSError):  # no standard input at all counts as closed
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            closed()

    threading.Thread(target=watch, name="stdin", daemon=True).start()
