"""Servers that aren't ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench.target import ExternalServer
from radixbench.client.http import ServerClient
from radixbench.mock.server import start
from radixbench.mock.settings import MockSettings


async def test_a_foreign_server_is_only_looked_at() -> None:
    """Starting and stopping leave it alone; whether it lives, it says itself."""
    mock = await start(MockSettings())
    async with ServerClient(mock.base_url) as client:
        server = ExternalServer(mock.base_url, "sglang", Path("server.log"))
        server.start()
        assert await server.is_alive(client)
        server.stop()
        assert await server.is_alive(client)
        assert (server.pid, server.has_ended(), server.log_path) == (None, False, Path("server.log"))
        await mock.close()
        assert not await server.is_alive(client)
        assert mock.base_url in server.death_error().message


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is no key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert ExternalServer("http://x", "vllm").api_key == "sk-1"
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert ExternalServer("http://x", "vllm").api_key is None
