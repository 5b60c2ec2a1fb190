"""An engine that crashes: everybody is told, and the server says that it is ill."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from radixbench.engine.batch import Batch
from tests.server.conftest import fake, open_front


class _FailingRunner:
    """Computes a few decode steps, then fails."""

    def __init__(self, steps: int) -> None:
        self._steps_left = steps

    def run(self, batch: Batch) -> Sequence[int | None]:
        if not self._steps_left:
            raise RuntimeError("the card fell off")
        self._steps_left -= 1
        return [1 if entry.wants_token else None for entry in batch.entries]


async def test_pending_requests_get_a_server_error() -> None:
    """Running requests get 500 with the reason, later ones too; /health is 503; the log has the traceback."""
    async with open_front(fake(), lambda _backend: _FailingRunner(0)) as front:
        told = asyncio.Event()
        front.service.loop.on_failure = told.set
        replies = await asyncio.gather(
            *(front.post("/v1/completions", {"prompt": [number]}) for number in (1, 2))
        )
        assert [status for status, _ in replies] == [500, 500]
        assert "the card fell off" in replies[0][1]["error"]["message"]
        assert replies[0][1]["error"]["type"] == "server_error"
        async with asyncio.timeout(5):
            await told.wait()
        assert (await front.get("/health"))[0] == 503
        assert (await front.get("/health_generate"))[0] == 500
        assert (await front.post("/flush_cache", {}))[0] == 500
        assert (await front.post("/v1/completions", {"prompt": [1]}))[0] == 500
        assert "RuntimeError: the card fell off" in front.output.getvalue()


async def test_a_stream_ends_with_an_error_event() -> None:
    """A stream under way gets the error as its last event and no [DONE]."""
    async with (
        open_front(fake(), lambda _backend: _FailingRunner(3)) as front,
        front.session.post("/v1/completions", json={"prompt": [1], "stream": True}) as response,
    ):
        raw = await response.read()
    assert response.status == 200
    assert b"the card fell off" in raw.split(b"\n\n")[-2]
    assert b"[DONE]" not in raw
