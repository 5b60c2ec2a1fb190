"""Running the client on a loop of its own, and being interrupted there."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest
import uvloop

from radixbench.client import loop

INTERRUPTED = """
import asyncio, signal
from radixbench.client.loop import run

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it

async def main():
    print("up", flush=True)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        asyncio.current_task().uncancel()
        return "saved"

print(run(main()))
"""


def test_it_runs_on_uvloop() -> None:
    """The fast loop is used, and what the coroutine returns comes back."""

    async def main() -> type[asyncio.AbstractEventLoop]:
        return type(asyncio.get_running_loop())

    assert loop.run(main()) is uvloop.Loop


def test_it_runs_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without uvloop loses speed, nothing else."""
    monkeypatch.setattr(loop, "uvloop", None)

    async def main() -> int:
        await asyncio.sleep(0)
        return 7

    assert loop.run(main()) == 7


def test_ctrl_c_lets_the_coroutine_save() -> None:
    """SIGINT cancels the coroutine, and what it then returns is not lost."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("saved\n", "", 0)
