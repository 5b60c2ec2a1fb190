"""The server under test: one of ours as a process of its own, or one that somebody else runs.

The client never shares the server's interpreter. A bundled server watches its standard input and
leaves when that closes, so it can't outlive this process, however this process ends. It runs in a session
of its own, so that Ctrl-C reaches only us and its answers can still be saved. A server that isn't ours is
never started, stopped or restarted; whether it lives its health endpoint says.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError, UsageError
from radixbench.records import Mode
from radixbench.scenario.model import Engine, Scenario

_STOP_TIMEOUT_S = 10.0
_API_KEY = "OPENAI_API_KEY"


class Target(Protocol):
    """A server to measure. ``engine`` says how it is flushed and salted, ``log_path`` what it writes to.

    ``engine`` of a server that isn't ours is settled once it has said whose it is.

    ``pid`` is known of a server of ours alone. ``api_key`` goes into requests and nowhere else.
    """

    engine: Engine
    log_path: Path | None
    api_key: str | None

    @property
    def base_url(self) -> str: ...

    @property
    def pid(self) -> int | None: ...

    def start(self) -> None:
        """Bring it up; it is ready when ``/health`` says so."""
        ...

    def has_ended(self) -> bool:
        """Whether its process is known to be gone."""
        ...

    async def is_alive(self, client: ServerClient) -> bool:
        """Whether it can still answer. May ask it, so never inside a measured window."""
        ...

    def stop(self) -> None:
        """End it, if it is ours."""
        ...

    def death_error(self) -> UsageError | IncompleteError:
        """Why it is gone, in its own last words where there are any."""
        ...


def free_port() -> int:
    """A loopback port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve_arguments(scenario: Scenario, mode: Mode, port: int, extra: Sequence[str] = ()) -> list[str]:
    """The arguments of ``radixbench serve`` for one arm of a scenario."""
    model, engine = scenario.model, scenario.engine
    options: dict[str, object] = {
        "--model": model.name,
        "--port": port,
        "--device": model.device,
        "--dtype": model.dtype,
        "--threads": engine.threads,
        "--max-total-tokens": engine.max_total_tokens,
        "--chunked-prefill-size": engine.chunked_prefill_size,
        "--page-size": engine.page_size,
        "--schedule-policy": engine.schedule_policy,
        "--decode-log-interval": 1,
    }
    arguments = ["serve", "--exit-on-stdin-eof"]
    for flag, value in options.items():
        if value is not None:
            arguments += [flag, str(value)]
    if model.trust_remote_code:
        arguments.append("--trust-remote-code")
    if mode == "off":
        arguments.append("--disable-radix-cache")
    return [*arguments, *extra]


class BundledServer:
    """One bundled server. ``log_path`` receives all it prints, and stays as evidence."""

    engine: Engine = "bundled"
    api_key: str | None = None

    def __init__(
        self, scenario: Scenario, mode: Mode, log_path: Path, extra_arguments: Sequence[str] = ()
    ) -> None:
        self.mode: Mode = mode
        self.log_path: Path | None = log_path
        self._log = log_path
        self.port = free_port()
        self._arguments = serve_arguments(scenario, mode, self.port, extra_arguments)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process; it is ready when ``/health`` says so."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "radixbench", *self._arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def has_ended(self) -> bool:
        """Whether the process no longer runs."""
        return self._process is None or self._process.poll() is not None

    async def is_alive(self, client: ServerClient) -> bool:
        """Whether the process still runs; nothing is asked."""
        del client
        return not self.has_ended()

    def stop(self) -> None:
        """End the process: by closing its input, then SIGTERM, then SIGKILL."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def death_error(self) -> UsageError | IncompleteError:
        """Why the process ended: the server's own word for bad input, else its last line."""
        code = self._process.poll() if self._process else None
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1] if lines else "it printed nothing"
        if code == UsageError.exit_code and last.startswith("radixbench: "):
            return UsageError(last.removeprefix("radixbench: "))
        return IncompleteError(
            f"the {self.mode} server ended with exit code {code}: {last}",
            remedy=f"its log is {self._log}",
        )


class ExternalServer:
    """A server that runs already at ``base_url``. The key it may want comes from ``OPENAI_API_KEY``."""

    pid: int | None = None

    def __init__(self, base_url: str, engine: Engine, log_path: Path | None = None) -> None:
        self.base_url = base_url
        self.engine: Engine = engine
        self.log_path = log_path
        self.api_key: str | None = os.environ.get(_API_KEY) or None

    def start(self) -> None:
        """Nothing: it runs already."""

    def has_ended(self) -> bool:
        """Never known: its process isn't ours."""
        return False

    async def is_alive(self, client: ServerClient) -> bool:
        """Whether it says that it is well."""
        return await client.health()

    def stop(self) -> None:
        """Nothing: it stays for whoever runs it."""

    def death_error(self) -> IncompleteError:
        """It no longer answers; why, only its own log can tell."""
        return IncompleteError(
            f"the server at {self.base_url} no longer answers", remedy="see its log, and restart it"
        )
