"""A mock on the running event loop: started, read, closed."""

from __future__ import annotations

import asyncio
import errno
from typing import IO, Any

from radixbench.clock import Clock, MonotonicClock
from radixbench.errors import OutputError, PortError, UsageError
from radixbench.mock.agenda import Agenda
from radixbench.mock.connection import Connection
from radixbench.mock.service import Service
from radixbench.mock.settings import MockSettings
from radixbench.mock.writes import WriteLog

_BACKLOG = 4096


class MockServer:
    """A mock that serves at ``base_url``; ``close`` it on the loop it was started on."""

    def __init__(self, service: Service, listener: asyncio.Server, file: IO[bytes] | None) -> None:
        self._service = service
        self._listener = listener
        self._file = file
        host, port = listener.sockets[0].getsockname()[:2]
        self.base_url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def settings(self) -> MockSettings:
        """How this mock behaves."""
        return self._service.settings

    @property
    def writes(self) -> dict[str, Any]:
        """What ``GET /mock/writes`` answers."""
        return self._service.log.document()

    async def close(self) -> None:
        """Stop listening, drop every connection, end the log. Raises ``OutputError`` if the log's file is incomplete."""
        self._listener.close()
        await self._service.drop_connections()
        await self._listener.wait_closed()
        self._service.agenda.close()
        if self._file is not None:
            self._file.close()
        if self._service.log.fault is not None:
            raise OutputError(f"{self.settings.write_log}: {self._service.log.fault}")


async def start(settings: MockSettings, clock: Clock | None = None) -> MockServer:
    """Serve on the running event loop. Raises ``PortError``, ``UsageError`` and ``OutputError``."""
    clock = MonotonicClock() if clock is None else clock
    file = _open_log(settings)
    service = Service(settings, WriteLog(settings, file), Agenda(clock), clock)
    loop = asyncio.get_running_loop()
    try:
        listener = await loop.create_server(
            lambda: Connection(service), settings.host, settings.port, backlog=_BACKLOG
        )
    except OSError as error:
        service.agenda.close()
        if file is not None:
            file.close()
        raise _explain(error, settings) from error
    return MockServer(service, listener, file)


def _open_log(settings: MockSettings) -> IO[bytes] | None:
    if settings.write_log is None:
        return None
    try:
        return settings.write_log.open("wb", buffering=0)
    except OSError as error:
        raise OutputError(f"{settings.write_log} can't be written: {error.strerror}") from error


def _explain(error: OSError, settings: MockSettings) -> PortError | UsageError:
    if error.errno == errno.EADDRINUSE:
        return PortError(
            f"port {settings.port} on {settings.host} is taken", remedy="give another --port, or 0 for any"
        )
    if error.errno is None or error.errno < 0:
        return UsageError(f"host {settings.host!r} is unknown", remedy="give --host an address")
    return PortError(f"can't listen on {settings.host} port {settings.port}: {error.strerror}")
