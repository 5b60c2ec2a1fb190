"""Mocks for tests: on the running event loop, or as a process of its own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

from radixbench.mock.server import MockServer, start
from radixbench.mock.settings import MockSettings


@contextlib.asynccontextmanager
async def running_mock(settings: MockSettings | None = None) -> AsyncIterator[MockServer]:
    """A mock on the running event loop, on a free loopback port; ``base_url`` and ``writes`` are its own."""
    server = await start(MockSettings() if settings is None else settings)
    try:
        yield server
    finally:
        await server.close()


@contextlib.contextmanager
def mock_process(*flags: str) -> Iterator[str]:
    """``radixbench mock`` with these flags as a child process that ends with the block; gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "radixbench", "mock", "--port", "0", "--exit-on-stdin-eof", *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("mock ready on "), line
        yield line.split()[-1]
    finally:
        process.kill()
        process.communicate()
